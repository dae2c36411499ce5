package holidays

import (
	"slices"
	"strings"
	"testing"

	"github.com/axsched/ax/pluginapi/calendar"
)

func TestParse(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name    string
		data    []byte
		options ICS
		closed  string
		open    string
	}{
		{name: "one day", data: ics("DTSTART;VALUE=DATE:20260501\nDTEND;VALUE=DATE:20260502"), closed: "2026-05-01"},
		{name: "several days, the end excluded", data: ics("DTSTART;VALUE=DATE:20161031\nDTEND;VALUE=DATE:20161105"), closed: "2016-10-31..2016-11-04"},
		{name: "end equal to the beginning", data: ics("DTSTART;VALUE=DATE:20260501\nDTEND;VALUE=DATE:20260501"), closed: "2026-05-01"},
		{name: "no end", data: ics("DTSTART;VALUE=DATE:20260501"), closed: "2026-05-01"},
		{name: "duration", data: ics("DTSTART;VALUE=DATE:20260502\nDURATION:P3D"), closed: "2026-05-02..2026-05-04"},
		{name: "duration of weeks", data: ics("DTSTART;VALUE=DATE:20260502\nDURATION:P1W"), closed: "2026-05-02..2026-05-08"},
		{name: "duration of hours", data: ics("DTSTART;VALUE=DATE:20260502\nDURATION:PT36H"), closed: "2026-05-02..2026-05-03"},
		{name: "duration of nothing", data: ics("DTSTART;VALUE=DATE:20260502\nDURATION:PT0S"), closed: "2026-05-02"},
		{name: "no value type", data: ics("DTSTART:20260501"), closed: "2026-05-01"},
		{name: "over New Year", data: ics("DTSTART;VALUE=DATE:20261224\nDTEND;VALUE=DATE:20270104"), closed: "2026-12-24..2026-12-31 2027-01-01..2027-01-03"},
		{name: "small letters", data: []byte("begin:vcalendar\r\nbegin:vevent\r\ndtstart;value=date:20260501\r\nend:vevent\r\nend:vcalendar\r\n"), closed: "2026-05-01"},
		{name: "folded within a date, CRLF", data: []byte("BEGIN:VCALENDAR\r\nBEGIN:VEVENT\r\nDTSTART;VALUE=DATE:2026050\r\n 2\r\nDURATION\r\n\t:P3D\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n"), closed: "2026-05-02..2026-05-04"},
		{name: "mark, blank lines, blanks at the end", data: []byte("\ufeffBEGIN:VCALENDAR\n\nBEGIN:VEVENT \nDTSTART:20260501\n\n\nEND:VEVENT\t\nEND:VCALENDAR\n\n"), closed: "2026-05-01"},
		{name: "no line end at the end", data: []byte("BEGIN:VCALENDAR\nBEGIN:VEVENT\nDTSTART:20260501\nEND:VEVENT\nEND:VCALENDAR"), closed: "2026-05-01"},
		{name: "two calendars in a file", data: slices.Concat(ics("DTSTART:20260501"), ics("DTSTART:20260601")), closed: "2026-05-01 2026-06-01"},
		{name: "an empty calendar", data: ics()},
		{name: "other components", data: []byte("BEGIN:VCALENDAR\nBEGIN:VTODO\nDTSTART:20260501\nEND:VTODO\nBEGIN:VTIMEZONE\nBEGIN:STANDARD\nDTSTART:19700101T000000\nRRULE:FREQ=NONSENSE\nEND:STANDARD\nEND:VTIMEZONE\nEND:VCALENDAR\n")},
		{name: "an alarm within an event", data: ics("DTSTART:20260501\nBEGIN:VALARM\nDURATION:P9D\nTRIGGER:-PT15M\nEND:VALARM"), closed: "2026-05-01"},
		{name: "what bears on no day may be broken", data: ics("DTSTART:20260501\nDESCRIPTION;X=\"\nX-ODD\nATTACH;FMTTYPE=a\"b:"), closed: "2026-05-01"},
		{name: "cancelled", data: ics("DTSTART:20260501\nSTATUS:CANCELLED", "DTSTART:20260502\nSTATUS:TENTATIVE"), closed: "2026-05-02"},

		{name: "workday by its mark in front", data: ics("DTSTART:20260104\nSUMMARY:上班(补元旦假期)"), open: "2026-01-04"},
		{name: "workday by a mark in brackets", data: ics("DTSTART:20260104\nSUMMARY:元旦（班）", "DTSTART:20260101\nSUMMARY:元旦（休）"), closed: "2026-01-01", open: "2026-01-04"},
		{name: "workday with office hours", data: ics("DTSTART:20240204T090000\nDTEND:20240204T180000\nSUMMARY:春节 补班 第1天/共2天\nSTATUS:TENTATIVE"), open: "2024-02-04"},
		{name: "no workday although it has 班", data: ics("DTSTART:20260104\nSUMMARY:班会"), closed: "2026-01-04"},
		{name: "workday by a prefix", options: ICS{WorkPrefixes: []string{"Work:", "Open"}}, data: ics("DTSTART:20260104\nSUMMARY:Open on Sunday", "DTSTART:20260105\nSUMMARY:上班"), closed: "2026-01-05", open: "2026-01-04"},
		{name: "no workdays at all", options: ICS{WorkPrefixes: []string{}}, data: ics("DTSTART:20260104\nSUMMARY:上班"), closed: "2026-01-04"},
		{name: "marks of days beside the summary", data: ics("DTSTART:20260101\nSUMMARY:New Year\nX-APPLE-SPECIAL-DAY:WORK-HOLIDAY", "DTSTART:20260104\nX-APPLE-SPECIAL-DAY:ALTERNATE-WORKDAY", "DTSTART:20260303\nSUMMARY:Lantern Festival"), closed: "2026-01-01", open: "2026-01-04"},

		{name: "appointments", data: ics("DTSTART:20260501T090000Z\nDTEND:20260501T100000Z")},
		{name: "appointments that close", options: ICS{Timed: TimedClose}, data: ics("DTSTART;TZID=Europe/Berlin:20260501T220000\nDTEND;TZID=Europe/Berlin:20260502T020000"), closed: "2026-05-01..2026-05-02"},
		{name: "days from midnight to midnight", options: ICS{Timed: TimedClose}, data: ics("DTSTART;TZID=China Standard Time:20260501T000000\nDTEND;TZID=China Standard Time:20260504T000000"), closed: "2026-05-01..2026-05-03"},
		{name: "a duration over midnight", options: ICS{Timed: TimedClose}, data: ics("DTSTART:20260501T220000\nDURATION:PT4H"), closed: "2026-05-01..2026-05-02"},
		{name: "a duration up to midnight", options: ICS{Timed: TimedClose}, data: ics("DTSTART:20260501T220000\nDURATION:PT2H"), closed: "2026-05-01"},
		{name: "a moment", options: ICS{Timed: TimedClose}, data: ics("DTSTART:20260501T000000\nDTEND:20260501T000000"), closed: "2026-05-01"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			list, err := tt.options.Parse(tt.data)
			if err != nil {
				t.Fatal(err)
			}
			if got := days(list.Closed); got != tt.closed {
				t.Errorf("closed %q, want %q", got, tt.closed)
			}
			if got := days(list.Open); got != tt.open {
				t.Errorf("open %q, want %q", got, tt.open)
			}
		})
	}
}

func TestParseNames(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("年", 300) // 900 bytes
	list, err := ICS{Source: "x.ics"}.Parse(ics(
		"DTSTART:20260101\nSUMMARY;LANGUAGE=en: New Year\\, first day\\; off ",
		"DTSTART:20260102\nSUMMARY:a, b \\x",
		"DTSTART:20260103\nSUMMARY:中\xe5\n \x9b\xbd", // folded within a character
		"DTSTART:20260104\nSUMMARY:"+long,
		"DTSTART:20260105",
	))
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"New Year, first day; off", `a, b \x`, "中国", long[:510], ""}
	for i, r := range list.Closed {
		if r.Name != want[i] || r.Source != "x.ics" {
			t.Errorf("name %q of %q, want %q", r.Name, r.Source, want[i])
		}
	}
	build(t, calendar.Spec{Name: "c", Closed: list.Closed}) // takes them all
}

func TestParseCovers(t *testing.T) {
	t.Parallel()
	list, err := ICS{}.Parse(ics(
		"DTSTART:20251231", // tells of the next New Year only
		"DTSTART:20261224\nDTEND:20270102",
		"DTSTART:20200101\nRRULE:FREQ=YEARLY;COUNT=2",
		"UID:a\nDTSTART:20500101\nRRULE:FREQ=YEARLY",
		"UID:a\nDTSTART:20510102\nRECURRENCE-ID:20510101",
	))
	if err != nil {
		t.Fatal(err)
	}
	var covers []int
	for _, r := range list.Closed[:5] {
		covers = append(covers, r.Covers)
	}
	if want := []int{0, 2026, 2027, 2020, 2021}; !slices.Equal(covers, want) {
		t.Errorf("covers %v, want %v", covers, want)
	}
	for _, r := range list.Closed[5:] {
		if r.Covers != 0 {
			t.Errorf("%s covers %d: a rule without an end lists no year", r, r.Covers)
		}
	}
	if last := list.Closed[len(list.Closed)-2]; len(list.Closed) != 5+150 || last.To != date(t, "2199-01-01") {
		t.Errorf("%d rules, the last one %s", len(list.Closed), last)
	}
}

func TestNotices(t *testing.T) {
	t.Parallel()
	timed := ics("DTSTART:20260501", "DTSTART:20260502T100000", "DTSTART;TZID=\"China Standard Time\":20260503T100000", "DTSTART;TZID=China Standard Time:20260504T100000", "DTSTART:20260505T100000Z", "DTSTART:20260506T100000Z")
	for _, tt := range []struct {
		name    string
		options ICS
		data    []byte
		want    []Notice
	}{
		{"nothing said about times", ICS{}, timed, []Notice{{6, "events with a time of day are left out (5, this is the first): write timed: close if they close their days, timed: ignore if not"}}},
		{"times do not matter", ICS{Timed: TimedIgnore}, timed, nil},
		{"zones of Windows, and UTC", ICS{Timed: TimedClose}, timed, []Notice{
			{9, `the zone "China Standard Time" is none of the IANA database, perhaps a name that Windows uses: dates are taken as they are written`},
			{15, "the times of this event are written in UTC: its dates are taken as they stand there"},
		}},
		{"zone of a workday", ICS{}, ics("DTSTART;TZID=W. Europe Standard Time:20260503T100000\nSUMMARY:补班"), []Notice{
			{3, `the zone "W. Europe Standard Time" is none of the IANA database, perhaps a name that Windows uses: dates are taken as they are written`},
		}},
		{"days without marks", ICS{}, ics("DTSTART:20260101", "DTSTART:20260102\nX-APPLE-SPECIAL-DAY:WORK-HOLIDAY"), []Notice{
			{3, "events that are not marked as days off by X-APPLE-SPECIAL-DAY, as others of the file are, are left out (1, this is the first)"},
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			list, err := tt.options.Parse(tt.data)
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(list.Notices, tt.want) {
				t.Errorf("got  %v\nwant %v", list.Notices, tt.want)
			}
		})
	}
}

func TestParseErrors(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, data, want string }{
		{"empty", "", "line 1: expected BEGIN:VCALENDAR: this is no iCalendar file"},
		{"another format", "<html>\n<body style='a:b'>\n", "line 1: expected BEGIN:VCALENDAR: this is no iCalendar file"},
		{"UTF-16", "\xff\xfeB\x00", "line 1: the file is UTF-16: save it as UTF-8"},
		{"an event alone", "BEGIN:VEVENT\nEND:VEVENT\n", "line 1: expected BEGIN:VCALENDAR, got BEGIN:VEVENT"},
		{"lines outside", "BEGIN:VCALENDAR\nEND:VCALENDAR\nUID:1\n", "line 3: expected BEGIN:VCALENDAR, got UID:1"},
		{"cut off", "BEGIN:VCALENDAR\nBEGIN:VEVENT\nDTSTART:20260101\n", "line 2: the VEVENT that begins here has no end: the file is cut off"},
		{"crossed", "BEGIN:VCALENDAR\nBEGIN:VEVENT\nEND:VCALENDAR\n", "line 3: END:VCALENDAR, but what began last is the VEVENT of line 2"},
		{"no beginning", string(ics("SUMMARY:x")), "line 3: the event has no DTSTART"},
		{"no date", string(ics("UID:1\nDTSTART:2026-01-01")), `line 5: DTSTART: expected a date such as 20261231, got "2026-01-01"`},
		{"30 February", string(ics("DTSTART:20260230")), `line 4: DTSTART: expected a date such as 20261231, got "20260230"`},
		{"year 0", string(ics("DTSTART:00000101")), `line 4: DTSTART: expected a date such as 20261231, got "00000101"`},
		{"no time", string(ics("DTSTART:20260101T25")), `line 4: DTSTART: expected a date such as 20261231, got "20260101T25"`},
		{"end before the beginning", string(ics("DTSTART:20260102\nDTEND:20260101")), "line 5: DTEND: the event ends on 2026-01-01, before it begins"},
		{"end that is no date", string(ics("DTSTART:20260102\nDTEND:soon")), `line 5: DTEND: expected a date such as 20261231, got "soon"`},
		{"negative duration", string(ics("DTSTART:20260102\nDURATION:-P1D")), `line 5: DURATION: expected a duration such as P3D, got "-P1D"`},
		{"duration that overflows", string(ics("DTSTART:20260102\nDURATION:P213504D")), `line 5: DURATION: expected a duration such as P3D, got "P213504D"`},
		{"folded lines count", "BEGIN:VCALENDAR\r\nBEGIN:VEVENT\r\nUID:a\r\n b\r\n c\r\nDTSTART\r\n :x\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n", `line 6: DTSTART: expected a date such as 20261231, got "x"`},
		{"no colon", string(ics("UID:1\nDTSTART;VALUE=DATE\nSTATUS:x")), "line 5: malformed line"},
		{"no colon in the last line", "BEGIN:VCALENDAR\nEND;X=1", "line 2: END:, but what began last is the VCALENDAR of line 1"},
		{"broken parameter", string(ics("DTSTART;VALUE=\"DATE:20260101\nSTATUS:x")), "line 4: malformed param value: unterminated quoted string"},
		{"text after quotes", string(ics("DTSTART;TZID=\"a\"b:20260101")), "line 4: malformed line"},
		{"not UTF-8", string(ics("DTSTART:20260101\nSUMMARY:\xb4\xba\xbd\xda")), "line 5: SUMMARY is not UTF-8: save the file as UTF-8"},
		{"two rules", string(ics("DTSTART:20260101\nRRULE:FREQ=YEARLY\nRRULE:FREQ=DAILY")), "line 6: RRULE: an event can have one rule only"},
		{"rule of exceptions", string(ics("DTSTART:20260101\nRRULE:FREQ=YEARLY\nEXRULE:FREQ=DAILY")), "line 6: EXRULE: this is not supported any more: write EXDATE"},
		{"this and the future", string(ics("UID:1\nDTSTART:20260101\nRECURRENCE-ID;RANGE=THISANDFUTURE:20260101")), "line 6: RECURRENCE-ID: RANGE is not supported: end the event with UNTIL and add another one"},
		{"moved from no date", string(ics("UID:1\nDTSTART:20260101\nRECURRENCE-ID:x")), `line 6: RECURRENCE-ID: expected a date such as 20261231, got "x"`},
		{"exception that is no date", string(ics("DTSTART:20260101\nEXDATE:20260101,x")), `line 5: EXDATE: expected a date such as 20261231, got "x"`},
		{"addition that is no date", string(ics("DTSTART:20260101\nRDATE:")), `line 5: RDATE: expected a date such as 20261231, got ""`},
		{"rule without a frequency", string(ics("DTSTART:20260101\nRRULE:COUNT=3")), "line 5: RRULE: RRULE property FREQ is required"},
		{"rule of seconds", string(ics("DTSTART:20260101\nRRULE:FREQ=SECONDLY")), "line 5: RRULE: expected a rule of whole days: FREQ=DAILY, WEEKLY, MONTHLY or YEARLY, got SECONDLY"},
		{"month 13", string(ics("DTSTART:20260101\nRRULE:FREQ=YEARLY;BYMONTH=13")), "line 5: RRULE: bymonth must be between 1 and 12"},
		{"Easter", string(ics("DTSTART:20260101\nRRULE:FREQ=YEARLY;BYEASTER=0")), "line 5: RRULE: BYEASTER is not part of the standard"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, err := ICS{Source: "x.ics"}.Parse([]byte(tt.data))
			if want := "reading holidays from x.ics: " + tt.want; err == nil || err.Error() != want {
				t.Errorf("got  %v\nwant %s", err, want)
			}
		})
	}
}
