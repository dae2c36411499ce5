package holidays

import (
	"testing"

	"github.com/axsched/ax/pluginapi/calendar"
)

// listed is a calendar with lists for some years.
func listed(t *testing.T, name string, extends []*calendar.Calendar, years ...int) *calendar.Calendar {
	t.Helper()
	spec := calendar.Spec{Name: name, Extends: extends}
	for _, year := range years {
		rule := calendar.OnDate(calendar.Date{Year: year, Month: 5, Day: 1})
		rule.Covers = year
		spec.Closed = append(spec.Closed, rule)
	}
	return build(t, spec)
}

func TestNextGap(t *testing.T) {
	t.Parallel()
	base := listed(t, "base", nil, 2024, 2025, 2026)
	for _, tt := range []struct {
		name     string
		calendar *calendar.Calendar
		today    string
		want     string
	}{
		{"61 days ahead", base, "2026-11-01", ""},
		{"60 days ahead", base, "2026-11-02", `calendar "base" has lists of holidays for 2024 to 2026 only: add the list for 2027; without it the weekly pattern decides, from 2027-01-01 on (days until then: 60)`},
		{"the last day", base, "2026-12-31", `calendar "base" has lists of holidays for 2024 to 2026 only: add the list for 2027; without it the weekly pattern decides, from 2027-01-01 on (days until then: 1)`},
		{"begun", base, "2027-01-01", `calendar "base" has lists of holidays for 2024 to 2026 only: add the list for 2027; without it the weekly pattern decides, now`},
		{"long ago", base, "2031-07-01", `calendar "base" has lists of holidays for 2024 to 2026 only: add the list for 2031; without it the weekly pattern decides, now`},
		{"before the first year", base, "2023-06-01", `calendar "base" has lists of holidays for 2024 to 2026 only: add the list for 2023; without it the weekly pattern decides, now`},
		{"no lists", build(t, calendar.Spec{Name: "none"}), "2026-12-31", ""},
		{"a year missing between", listed(t, "holes", nil, 2024, 2026), "2024-12-01", `calendar "holes" has lists of holidays for 2024 to 2026 only: add the list for 2025; without it the weekly pattern decides, from 2025-01-01 on (days until then: 31)`},
		{"a single year", listed(t, "one", nil, 2026), "2026-12-01", `calendar "one" has lists of holidays for 2026 only: add the list for 2027; without it the weekly pattern decides, from 2027-01-01 on (days until then: 31)`},
		{"a layer that ends sooner", listed(t, "team", []*calendar.Calendar{base}, 2026, 2027), "2026-12-01", `calendar "team" has lists of holidays for 2026 only: add the list for 2027; without it the weekly pattern decides, from 2027-01-01 on (days until then: 31)`},
		{"no year in common", listed(t, "team", []*calendar.Calendar{base}, 2030), "2026-05-01", `calendar "team" has lists of holidays for no year that all of its layers know: add the list for 2026; without it the weekly pattern decides, now`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			gap, found := NextGap(tt.calendar, date(t, tt.today))
			if !found {
				if tt.want != "" {
					t.Errorf("found no gap, want %s", tt.want)
				}
				return
			}
			if got := gap.String(); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
			if gap.Open() != (gap.From == date(t, tt.today)) {
				t.Errorf("open = %v, from %s", gap.Open(), gap.From)
			}
		})
	}
}
