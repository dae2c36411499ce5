package holidays

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/axsched/ax/pluginapi/calendar"
)

// closedWeekdays returns the days from Monday to Friday on which a calendar is
// closed within a year.
func closedWeekdays(c *calendar.Calendar, year int) string {
	var closed []string
	for d := (calendar.Date{Year: year, Month: 1, Day: 1}); d.Year == year; d = d.AddDays(1) {
		if slices.Contains(mondayToFriday(), d.Weekday()) && !c.IsOpen(d) {
			closed = append(closed, d.String()[5:])
		}
	}
	return strings.Join(closed, " ")
}

// TestCountries holds the library against what the authorities published for
// 2026 and 2027.
func TestCountries(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		source string
		year   int
		want   string
	}{
		{"us", 2026, "01-01 01-19 02-16 05-25 06-19 07-03 09-07 10-12 11-11 11-26 12-25"},
		{"us", 2027, "01-01 01-18 02-15 05-31 06-18 07-05 09-06 10-11 11-11 11-25 12-24 12-31"},
		{"gb", 2026, "01-01 04-03 04-06 05-04 05-25 08-31 12-25 12-28"},
		{"gb", 2027, "01-01 03-26 03-29 05-03 05-31 08-30 12-27 12-28"},
		{"de", 2026, "01-01 04-03 04-06 05-01 05-14 05-25 12-25"},
		{"de-by", 2026, "01-01 01-06 04-03 04-06 05-01 05-14 05-25 06-04 12-25"},
		{"fr", 2026, "01-01 04-06 05-01 05-08 05-14 05-25 07-14 11-11 12-25"},
		{"jp", 2026, "01-01 01-12 02-11 02-23 03-20 04-29 05-04 05-05 05-06 07-20 08-11 09-21 09-22 09-23 10-12 11-03 11-23"},
	} {
		c, err := Source(tt.source)
		if err != nil {
			t.Fatal(err)
		}
		newYear := calendar.Day{Date: date(t, "2026-01-01"), Known: true, ByRule: true, Source: countrySource, Layer: tt.source}
		newYear.Reason = c.Explain(newYear.Date).Reason // in the country's language
		if got := c.Explain(newYear.Date); got != newYear {
			t.Errorf("got %+v, want %+v", got, newYear)
		}
		if got := closedWeekdays(c, tt.year); got != tt.want {
			t.Errorf("%s in %d\ngot  %s\nwant %s", tt.source, tt.year, got, tt.want)
		}
	}
}

func TestSources(t *testing.T) {
	t.Parallel()
	names := Sources()
	if len(names) != 31 || !slices.Contains(names, "china") || !slices.Contains(names, "de-th") {
		t.Errorf("sources %v", names)
	}
	for _, name := range names {
		c, err := Source(name)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if c.Name() != name {
			t.Errorf("%s is called %s", name, c.Name())
		}
		if first, last, _ := c.Coverage(); name != China && (first != countryFrom || last != countryTo) {
			t.Errorf("%s covers %d to %d", name, first, last)
		}
		if c.IsOpen(date(t, "2026-01-01")) || c.IsOpen(date(t, "2026-06-06")) || !c.IsOpen(date(t, "2026-06-10")) {
			t.Errorf("%s: New Year, a Saturday and a Wednesday are not as they should be", name)
		}
	}
}

func TestUnknownSource(t *testing.T) {
	t.Parallel()
	for name, meant := range map[string]string{"Germany": "de", "DE-BY": "de-by", "CN": "china", "China": "china", "中国": "china", "Bayern": "de-by", "atlantis": "", "": ""} {
		_, err := Source(name)
		unknown, ok := errors.AsType[*UnknownSourceError](err)
		if !ok || unknown.Name != name || unknown.Meant != meant {
			t.Errorf("%q: error %v, want one that means %q", name, err, meant)
		}
	}
	if _, err := Source("Germany"); err.Error() != `there is no source "Germany", did you mean "de"?` {
		t.Error(err)
	}
}
