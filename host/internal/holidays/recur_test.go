package holidays

import (
	"strings"
	"testing"

	"github.com/axsched/ax/pluginapi/calendar"
)

func TestRecurring(t *testing.T) {
	t.Parallel()
	// from and to bound what is compared.
	for _, tt := range []struct{ name, event, from, to, want string }{
		{"fourth Thursday of November", "DTSTART:20201126\nRRULE:FREQ=YEARLY;BYMONTH=11;BYDAY=4TH", "2025-01-01", "2027-12-31", "2025-11-27 2026-11-26 2027-11-25"},
		{"last Friday of the month", "DTSTART:20260130\nRRULE:FREQ=MONTHLY;BYDAY=-1FR;COUNT=4", "2026-01-01", "2030-12-31", "2026-01-30 2026-02-27 2026-03-27 2026-04-24"},
		{"last weekday of the month", "DTSTART:20260130\nRRULE:FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-1;UNTIL=20260401T000000Z", "2026-01-01", "2030-12-31", "2026-01-30 2026-02-27 2026-03-31"},
		{"the last day counts", "DTSTART:20260101\nRRULE:FREQ=DAILY;UNTIL=20260103", "2026-01-01", "2026-12-31", "2026-01-01 2026-01-02 2026-01-03"},
		{"29 February", "DTSTART:20240229\nRRULE:FREQ=YEARLY", "2024-01-01", "2036-12-31", "2024-02-29 2028-02-29 2032-02-29 2036-02-29"},
		{"no leap year in 2100", "DTSTART:20960229\nRRULE:FREQ=YEARLY", "2090-01-01", "2107-12-31", "2096-02-29 2104-02-29"},
		{"day after the first Monday", "DTSTART:20241105\nRRULE:FREQ=YEARLY;INTERVAL=4;BYMONTH=11;BYDAY=TU;BYMONTHDAY=2,3,4,5,6,7,8", "2024-01-01", "2033-12-31", "2024-11-05 2028-11-07 2032-11-02"},
		{"every other week", "DTSTART:20260106\nRRULE:FREQ=WEEKLY;INTERVAL=2;BYDAY=TU,SU;WKST=SU", "2026-01-01", "2026-01-31", "2026-01-06 2026-01-18 2026-01-20"},
		{"week 20, Monday", "DTSTART:20260511\nRRULE:FREQ=YEARLY;BYWEEKNO=20;BYDAY=MO", "2026-01-01", "2027-12-31", "2026-05-11 2027-05-17"},
		{"one hundredth day", "DTSTART:20260410\nRRULE:FREQ=YEARLY;BYYEARDAY=100", "2026-01-01", "2028-12-31", "2026-04-10 2027-04-10 2028-04-09"},
		{"begins long ago", "DTSTART:16010101\nRRULE:FREQ=YEARLY;BYMONTH=12;BYMONTHDAY=25", "1900-01-01", "1971-12-31", "1970-12-25 1971-12-25"},
		{"several days each", "DTSTART:20260101\nDTEND:20260103\nRRULE:FREQ=YEARLY;COUNT=2", "2026-01-01", "2030-12-31", "2026-01-01..2026-01-02 2027-01-01..2027-01-02"},
		{"exceptions", "DTSTART;VALUE=DATE:20260101\nRRULE:FREQ=DAILY;COUNT=5\nEXDATE;VALUE=DATE:20260102,20260104\nEXDATE:20260105T000000Z", "2026-01-01", "2026-12-31", "2026-01-01 2026-01-03"},
		{"additions", "DTSTART:20260103\nRRULE:FREQ=DAILY;COUNT=1\nRDATE;VALUE=DATE:20260501,20260103\nRDATE;VALUE=PERIOD:20260601T000000Z/P1D", "2026-01-01", "2026-12-31", "2026-01-03 2026-05-01 2026-06-01"},
		{"additions alone", "DTSTART:20260103\nRDATE:20260501", "2026-01-01", "2026-12-31", "2026-01-03 2026-05-01"},
		{"small letters, semicolon at the end", "DTSTART:20260103\nRRULE:freq=daily;count=2;", "2026-01-01", "2026-12-31", "2026-01-03 2026-01-04"},
		{"times of day do not matter", "DTSTART:20260103\nRRULE:FREQ=DAILY;COUNT=2;BYHOUR=1,2,3;BYMINUTE=5", "2026-01-01", "2026-12-31", "2026-01-03 2026-01-04"},
		{"over before it begins", "DTSTART:20260103\nRRULE:FREQ=DAILY;UNTIL=20251231", "2026-01-01", "2026-12-31", ""},
		{"begins after all that is followed", "DTSTART:22000101\nRRULE:FREQ=YEARLY", "2026-01-01", "2300-12-31", ""},
		{"never", "DTSTART:20260103\nRRULE:FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30", "1970-01-01", "2199-12-31", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			list, err := ICS{}.Parse(ics(tt.event))
			if err != nil {
				t.Fatal(err)
			}
			var within []calendar.Rule
			for _, r := range list.Closed {
				if !r.From.Before(date(t, tt.from)) && !r.To.After(date(t, tt.to)) {
					within = append(within, r)
				}
			}
			if got := days(within); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}

// TestMovedOccurrences: an event that stands for one occurrence of another one
// takes its place, also before it in the file, and if it is cancelled.
func TestMovedOccurrences(t *testing.T) {
	t.Parallel()
	list, err := ICS{}.Parse(ics(
		"UID:a\nRECURRENCE-ID;VALUE=DATE:20270101\nDTSTART:20270104\nSUMMARY:moved",
		"UID:a\nDTSTART:20260101\nRRULE:FREQ=YEARLY;COUNT=4\nSUMMARY:yearly",
		"UID:a\nRECURRENCE-ID:20280101T000000Z\nDTSTART:20280101\nSTATUS:CANCELLED",
		"UID:b\nRECURRENCE-ID;VALUE=DATE:20290101\nDTSTART:20290105",
		"RECURRENCE-ID;VALUE=DATE:20260101\nDTSTART:20260106", // of nothing
	))
	if err != nil {
		t.Fatal(err)
	}
	if got, want := days(list.Closed), "2027-01-04 2026-01-01 2029-01-01 2029-01-05 2026-01-06"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// TestHostile: what is made to cost much is refused, or does not cost much.
func TestHostile(t *testing.T) {
	t.Parallel()
	repeat := func(n int, event string) []byte {
		events := make([]string, n)
		for i := range events {
			events[i] = event
		}
		return ics(events...)
	}
	nested := strings.Repeat("BEGIN:VEVENT\n", 20_000)
	yeardays := "1" + strings.Repeat(",1", 63)
	for _, tt := range []struct {
		name string
		data []byte
		want string
	}{
		{"large", make([]byte, maxBytes+1), "the file is larger than 1048576 bytes"},
		{"long line", ics("DTSTART;X=" + strings.Repeat("a", maxLineBytes) + ":20260101"), "line 4: DTSTART has more than 4096 bytes"},
		{"many events", repeat(maxEvents+1, "DTSTART:20260101"), "line 30003: more than 10000 events"},
		{"components within one another", []byte("BEGIN:VCALENDAR\n" + nested), "line 9: more than 8 components within one another"},
		{"many recurring events", repeat(maxRecurring+1, "DTSTART:20260101\nRRULE:FREQ=DAILY;COUNT=1"), "line 1203: more than 300 recurring events"},
		{"days without end", ics("DTSTART:20000101\nRRULE:FREQ=DAILY"), "line 5: RRULE: the rule has more than 50000 days: write weekly: in the configuration"},
		{"many days in all", repeat(300, "DTSTART:20260101\nRRULE:FREQ=YEARLY"), "line 1151: the events up to here have more than 50000 days"},
		{"many numbers", ics("DTSTART:20260101\nRRULE:FREQ=YEARLY;BYYEARDAY=" + yeardays + ",1"), "line 5: RRULE: more than 64 numbers"},
		{"huge interval", ics("DTSTART:20260101\nRRULE:FREQ=MONTHLY;INTERVAL=9223372036854775807"), "line 5: RRULE: expected an INTERVAL of at most 10000, got 9223372036854775807"},
		{"negative count", ics("DTSTART:20260101\nRRULE:FREQ=DAILY;COUNT=-1"), "line 5: RRULE: expected a COUNT of at least 1, got -1"},
		{"Monday 53 of a month", ics("DTSTART:20260101\nRRULE:FREQ=MONTHLY;BYDAY=53MO"), "line 5: RRULE: the rule cannot be followed"},
		{"long event", ics("DTSTART:00010101\nDTEND:99991231"), "line 5: DTEND: an event of more than 3660 days: write it as closed: in the configuration"},
		{"long duration", ics("DTSTART:20260101\nDURATION:P999W"), "line 5: DURATION: an event of more than 3660 days: write it as closed: in the configuration"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, err := ICS{Source: "x"}.Parse(tt.data)
			if got := strings.TrimPrefix(errorText(err), "reading holidays from x: "); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// BenchmarkHostile measures files that cost as much as the limits allow.
func BenchmarkHostile(b *testing.B) {
	event := "DTSTART:19700101\nRRULE:FREQ=DAILY;BYMONTH=2;BYMONTHDAY=30,31;BYYEARDAY=1" + strings.Repeat(",1", 60)
	impossible := make([]string, maxRecurring)
	for i := range impossible {
		impossible[i] = event
	}
	line := "DTSTART;X=" + strings.Repeat("a", maxLineBytes-30) + ":20260101"
	wide := make([]string, maxBytes/(maxLineBytes+30))
	for i := range wide {
		wide[i] = line
	}
	for name, data := range map[string][]byte{"impossible rules": ics(impossible...), "long lines": ics(wide...)} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if _, err := (ICS{}).Parse(data); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
