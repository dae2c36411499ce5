package holidays

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/axsched/ax/pluginapi/calendar"
)

var withLine = regexp.MustCompile(`^reading holidays from x: (line [0-9]+: |the file is larger)`)

// FuzzParse: whatever a file holds, reading it ends, with an error that names a
// line or with rules that a calendar takes.
func FuzzParse(f *testing.F) {
	paths, err := filepath.Glob("testdata/*.ics")
	if err != nil || len(paths) == 0 {
		f.Fatalf("files %v: %v", paths, err)
	}
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(data))
	}
	for _, event := range []string{
		"UID:a\nRECURRENCE-ID;VALUE=DATE:20270101\nDTSTART:20270104\nDURATION:PT36H",
		"UID:a\nDTSTART;TZID=\"China Standard Time\":20260101T100000Z\nRRULE:FREQ=MONTHLY;BYDAY=-1FR,2MO;BYSETPOS=-1;UNTIL=20300101\nEXDATE:20260130,20260227\nRDATE:20260501",
		"DTSTART:16010101\nDTEND:16010103\nRRULE:FREQ=YEARLY;BYWEEKNO=1,-1;WKST=SU;BYMONTH=1;BYYEARDAY=-1;COUNT=9",
		"DTSTART;VALUE=DATE\nX-APPLE-SPECIAL-DAY:WORK-HOLIDAY\nSUMMARY:a\\,b\n c",
	} {
		f.Add(string(ics(event)))
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, o := range []ICS{{Source: "x"}, {Source: "x", Timed: TimedClose, WorkPrefixes: []string{"a"}}} {
			list, err := o.Parse([]byte(text))
			if err != nil {
				if !withLine.MatchString(err.Error()) {
					t.Errorf("error without a line: %v", err)
				}
				continue
			}
			if _, err := calendar.New(calendar.Spec{Name: "c", Closed: list.Closed, Open: list.Open}); err != nil {
				t.Errorf("the calendar does not take the rules: %v", err)
			}
			for _, n := range list.Notices {
				if n.Line < 1 || n.Line > strings.Count(text, "\n")+1 || n.Text == "" {
					t.Errorf("notice %+v", n)
				}
			}
		}
	})
}
