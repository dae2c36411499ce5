package config

import (
	"bufio"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/axsched/ax/host/internal/trigger"
	"github.com/axsched/ax/pluginapi/calendar"
)

func date(t *testing.T, text string) calendar.Date {
	t.Helper()
	d, err := calendar.ParseDate(text)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// TestPublishedFiles: three real calendar files give the days of the published
// list, and so does the source that is built in.
func TestPublishedFiles(t *testing.T) {
	t.Parallel()
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	root := filepath.ToSlash(filepath.Join(here, "../../.."))
	c := load(t, map[string]string{"config.yaml": strings.ReplaceAll(`app: a
calendars:
  csv: {weekly: MON-FRI, files: ROOT/calendars/cn-2024-2026.csv}
  ics:
    weekly: MON-FRI
    files:
      - ROOT/host/internal/holidays/testdata/holiday-cn-2024.ics
      - {file: ROOT/host/internal/holidays/testdata/holiday-cn-2025.ics, work_prefix: 上班}
      - {file: ROOT/host/internal/holidays/testdata/holiday-cn-2026.ics, work_prefix: [上班], timed: close}
  source: {source: china}
`, "ROOT", root)})
	if len(c.Warnings) > 0 {
		t.Errorf("warnings %v", c.Warnings)
	}
	for d := date(t, "2024-01-01"); d.Year < 2027; d = d.AddDays(1) {
		want := c.Calendars["csv"].IsOpen(d)
		if c.Calendars["ics"].IsOpen(d) != want || c.Calendars["source"].IsOpen(d) != want {
			t.Errorf("%s: open = %v by the list, %v by the files, %v by the source", d, want, c.Calendars["ics"].IsOpen(d), c.Calendars["source"].IsOpen(d))
		}
	}
}

// TestSourceIsTheLowestLayer: whatever else a calendar says wins over it.
func TestSourceIsTheLowestLayer(t *testing.T) {
	t.Parallel()
	c := load(t, map[string]string{"config.yaml": `app: a
calendars:
  plain: {source: china}
  six-days: {source: china, weekly: MON-SAT}
  open: {source: china, open: [2026-10-01]}
  company: {closed: [{days: 2026-10-09, name: Outing}], weekly: MON-THU}
  both: {source: china, extends: company}
  twice: {extends: [open, plain]}
  us: {source: us}
`})
	for _, day := range []struct {
		calendar, date string
		open           bool
		layer          string
	}{
		{"plain", "2026-10-01", false, "china"},
		{"plain", "2026-10-10", true, "china"},  // a Saturday to make up for
		{"plain", "2026-10-17", false, "china"}, // another one
		{"six-days", "2026-10-17", true, "six-days"},
		{"six-days", "2026-10-01", false, "china"},
		{"open", "2026-10-01", true, "open"},
		{"both", "2026-10-09", false, "company"},
		{"both", "2026-10-01", false, "china"},
		{"both", "2026-10-16", false, "company"}, // a Friday
		{"twice", "2026-10-01", true, "open"},    // china is a layer of both and comes first
		{"us", "2026-07-03", false, "us"},
	} {
		got := c.Calendars[day.calendar].Explain(date(t, day.date))
		if got.Open != day.open || got.Layer != day.layer {
			t.Errorf("%s on %s: open %t by %s, want %t by %s", day.calendar, day.date, got.Open, got.Layer, day.open, day.layer)
		}
	}
	if got := c.Calendars["both"].Explain(date(t, "2027-02-08")).Source; !strings.Contains(got, "lunar-go v1.4.7 alone") {
		t.Errorf("source %q", got)
	}
}

func TestICSFaultsAndWarnings(t *testing.T) {
	t.Parallel()
	config := "app: a\ncalendars: {c: {files: [days.ics]}}\n"
	broken := "BEGIN:VCALENDAR\nBEGIN:VEVENT\nUID:a\nDTSTART:tomorrow\nEND:VEVENT\nEND:VCALENDAR\n"
	got := faultLines(t, map[string]string{"config.yaml": config, "days.ics": broken}, Options{})
	want := []string{`days.ics:4:1: reading holidays from days.ics: line 4: DTSTART: expected a date such as 20261231, got "tomorrow"`}
	if !slices.Equal(got, want) {
		t.Errorf("faults %q, want %q", got, want)
	}
	c := load(t, map[string]string{"config.yaml": config, "days.ics": strings.ReplaceAll(broken, "tomorrow", "20260501T100000")})
	if len(c.Warnings) != 1 || c.Warnings[0].Line != 2 || filepath.Base(c.Warnings[0].File) != "days.ics" {
		t.Errorf("warnings %v", c.Warnings)
	}
	if !slices.ContainsFunc(c.Files, func(f string) bool { return filepath.Base(f) == "days.ics" }) {
		t.Errorf("the file is not among those to watch: %v", c.Files)
	}
}

// TestVersionFollowsSources: other days are another plan.
func TestVersionFollowsSources(t *testing.T) {
	t.Parallel()
	version := func(keys, events string) string {
		return load(t, map[string]string{
			"config.yaml": "app: a\ncalendars: {c: {" + keys + "}}\ntasks:\n  - {name: t, job: {use: exec}, every: 1h, calendar: c}\n",
			"days.ics":    "BEGIN:VCALENDAR\n" + events + "END:VCALENDAR\n",
		}).Tasks[0].Schedule.Version
	}
	event := "BEGIN:VEVENT\nDTSTART:20260501\nSUMMARY:Work\nEND:VEVENT\n"
	seen := map[string]string{}
	for name, v := range map[string]string{
		"nothing":       version("", ""),
		"source":        version("source: china", ""),
		"other source":  version("source: us", ""),
		"file":          version("files: days.ics", event),
		"other file":    version("files: days.ics", strings.ReplaceAll(event, "0501", "0502")),
		"other options": version("files: [{file: days.ics, work_prefix: Work}]", event),
	} {
		if other, found := seen[v]; found {
			t.Errorf("%s and %s have the same version", name, other)
		}
		seen[v] = name
	}
	if version("source: china", "") != version("source: china", "") {
		t.Error("the version of the same source differs")
	}
}

// icsVector is a line of testdata/ics.jsonl.
type icsVector struct {
	ID, Expr, Zone string
	After          time.Time
	Next           []time.Time
	Config         struct {
		WorkPrefix *string `json:"work_prefix"`
		ICS        string
	}
}

// TestICSVectors goes the whole way from a file to due times.
func TestICSVectors(t *testing.T) {
	t.Parallel()
	file, err := os.Open("testdata/ics.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	count := 0
	for lines := bufio.NewScanner(file); lines.Scan(); count++ {
		var v icsVector
		if err := json.Unmarshal(lines.Bytes(), &v); err != nil {
			t.Fatal(err)
		}
		t.Run(v.ID, func(t *testing.T) {
			t.Parallel()
			v.run(t)
		})
	}
	if count != 4 {
		t.Errorf("%d vectors, want 4", count)
	}
}

func (v icsVector) run(t *testing.T) {
	t.Helper()
	more := ""
	if v.Config.WorkPrefix != nil {
		more = ", work_prefix: " + *v.Config.WorkPrefix
	}
	c := load(t, map[string]string{
		"config.yaml": "app: a\ncalendars: {c: {files: [{file: days.ics" + more + "}]}}\ntasks:\n" +
			"  - {name: t, job: {use: exec}, cron: \"" + v.Expr + "\", timezone: " + v.Zone + ", calendar: c}\n",
		"days.ics": v.Config.ICS,
	})
	trig, err := trigger.Compile(trigger.Spec{Schedule: c.Tasks[0].Schedule, Task: "t", Calendars: c.Calendars})
	if err != nil {
		t.Fatal(err)
	}
	got, _, err := trig.Next(t.Context(), v.After, time.Time{}, len(v.Next))
	if err != nil {
		t.Fatal(err)
	}
	if !slices.EqualFunc(got, v.Next, time.Time.Equal) {
		t.Errorf("got  %v\nwant %v", got, v.Next)
	}
}

// TestHostileFileIsRefused: it must not hold up the host.
func TestHostileFileIsRefused(t *testing.T) {
	t.Parallel()
	path := write(t, map[string]string{
		"config.yaml": "app: a\ncalendars: {c: {files: days.ics}}\n",
		"days.ics":    "BEGIN:VCALENDAR\nBEGIN:VEVENT\nDTSTART:20260501\nRRULE:FREQ=SECONDLY\nEND:VEVENT\nEND:VCALENDAR\n",
	})
	_, err := Load(path, Options{})
	faults, ok := errors.AsType[Faults](err)
	if !ok || len(faults) != 1 || faults[0].Line != 4 {
		t.Errorf("error %v", err)
	}
}

// TestSameNoticeOfManyFiles: a calendar has a file for each year, all of them made
// alike.
func TestSameNoticeOfManyFiles(t *testing.T) {
	t.Parallel()
	event := func(year string) string {
		return "BEGIN:VCALENDAR\nBEGIN:VEVENT\nUID:1\nSUMMARY:Party\nDTSTART:" + year + "0501T100000\nEND:VEVENT\nEND:VCALENDAR\n"
	}
	c := load(t, map[string]string{
		"config.yaml": "app: a\ncalendars: {c: {files: [a.ics, b.ics, c.ics]}, d: {files: a.ics}}\n",
		"a.ics":       event("2026"), "b.ics": event("2027"), "c.ics": event("2028"),
	})
	var got []string
	for _, w := range c.Warnings {
		got = append(got, filepath.Base(w.String()))
	}
	want := []string{
		"a.ics:2:1: events with a time of day are left out (1, this is the first): write timed: close if they close their days, timed: ignore if not (the same in other files of the calendar: 2)",
		"a.ics:2:1: events with a time of day are left out (1, this is the first): write timed: close if they close their days, timed: ignore if not",
	}
	if !slices.Equal(got, want) {
		t.Errorf("warnings\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}
