package holidays

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/axsched/ax/pluginapi/calendar"
)

// sameDays compares two calendars day by day over whole years.
func sameDays(t *testing.T, got, want *calendar.Calendar, from, to int) {
	t.Helper()
	compared := 0
	for d := (calendar.Date{Year: from, Month: 1, Day: 1}); d.Year <= to; d = d.AddDays(1) {
		compared++
		if got.IsOpen(d) != want.IsOpen(d) {
			t.Errorf("%s: open = %v (%s), want %v (%s)", d, got.IsOpen(d), got.Explain(d).Reason, want.IsOpen(d), want.Explain(d).Reason)
		}
	}
	if compared < 365*(to-from+1) {
		t.Errorf("compared %d days", compared)
	}
}

// TestPublishedFiles: the real files say exactly what the list says, which was
// made from other sources.
func TestPublishedFiles(t *testing.T) {
	t.Parallel()
	paths, err := filepath.Glob("testdata/holiday-cn-*.ics")
	if err != nil || len(paths) != 3 {
		t.Fatalf("files %v: %v", paths, err)
	}
	spec := calendar.Spec{Name: "ics", Weekly: mondayToFriday()}
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		list, err := ICS{Source: path}.Parse(data)
		if err != nil {
			t.Fatal(err)
		}
		if len(list.Notices) > 0 {
			t.Errorf("%s: notices %v", path, list.Notices)
		}
		spec.Closed, spec.Open = append(spec.Closed, list.Closed...), append(spec.Open, list.Open...)
	}
	got, want := build(t, spec), published(t)
	sameDays(t, got, want, 2024, 2026)
	// Not only the same days by chance of the weekday: the same ones by rule.
	for d := date(t, "2024-01-01"); d.Year < 2027; d = d.AddDays(1) {
		if g, w := got.Explain(d), want.Explain(d); g.ByRule != w.ByRule || g.Known != w.Known {
			t.Errorf("%s: got %+v, want %+v", d, g, w)
		}
	}
	if first, last, _ := got.Coverage(); first != 2024 || last != 2026 {
		t.Errorf("covers %d to %d", first, last)
	}
}

func TestChina(t *testing.T) {
	t.Parallel()
	got, err := Source(China)
	if err != nil {
		t.Fatal(err)
	}
	sameDays(t, got, published(t), firstCompared, lastCompared)
	first, last, bounded := got.Coverage()
	if first != 2002 || last != 2027 || !bounded {
		t.Errorf("covers %d to %d", first, last)
	}
	for year := first; year <= last; year++ {
		if !got.Explain(calendar.Date{Year: year, Month: 7, Day: 1}).Known {
			t.Errorf("%d is not known", year)
		}
	}
}

// TestChinaTellsWhereFrom: a day says whether anything but the library speaks
// for it.
func TestChinaTellsWhereFrom(t *testing.T) {
	t.Parallel()
	c, err := Source(China)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []calendar.Day{
		{Date: date(t, "2026-02-14"), Open: true, Known: true, ByRule: true, Reason: "春节", Source: "6tail/lunar-go v1.4.7", Layer: "china"},
		{Date: date(t, "2027-02-08"), Known: true, ByRule: true, Reason: "春节", Source: "6tail/lunar-go v1.4.7 alone, no second list was compared", Layer: "china"},
		{Date: date(t, "2027-02-14"), Open: true, Known: true, ByRule: true, Reason: "春节", Source: "6tail/lunar-go v1.4.7 alone, no second list was compared", Layer: "china"},
		{Date: date(t, "2028-01-26"), Open: true, Reason: "weekly pattern: Wednesday is open", Layer: "china"},
	} {
		if got := c.Explain(want.Date); got != want {
			t.Errorf("got  %+v\nwant %+v", got, want)
		}
	}
}

// TestSourcesNameTheirVersion: what days say about their source is what is
// built in.
func TestSourcesNameTheirVersion(t *testing.T) {
	t.Parallel()
	mod, err := os.ReadFile("../../../go.mod")
	if err != nil {
		t.Fatal(err)
	}
	for source, module := range map[string]string{chinaSource: "github.com/6tail/lunar-go ", countrySource: "github.com/rickar/cal/v2 "} {
		version := strings.TrimSuffix(strings.Fields(source)[1], ",")
		if !strings.Contains(string(mod), module+version+"\n") && !strings.Contains(string(mod), module+version+" ") {
			t.Errorf("%q is not the version of %sin go.mod", source, module)
		}
	}
}
