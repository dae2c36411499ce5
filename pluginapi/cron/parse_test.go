package cron

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"
)

// refused lists expressions with what their errors must say.
var refused = []struct{ expr, field, text, hint string }{
	{"", "expression", "", "5 fields"},
	{"  ", "expression", "", "5 fields"},
	{"* * * *", "expression", "", "5 fields"},
	{"0 0 0 1 1 ? 2026 2027", "expression", "", "6 to 7"},
	{"TZ=UTC", "expression", "", "5 fields"},
	{"CRON_TZ= 0 10 * * *", "zone", "", "CRON_TZ=Asia/Shanghai"},
	{"CRON_TZ=Mars/Olympus 0 10 * * *", "zone", "Mars/Olympus", "tz database"},
	{"CRON_TZ=Local 0 10 * * *", "zone", "Local", "tz database"},
	{"@fortnightly", "expression", "@fortnightly", "@weekly"},
	{"@every 5m", "expression", "@every", "interval"},
	{"@daily 10", "expression", "@daily", "remove"},
	{"@every", "expression", "@every", "interval"},
	{"@reboot", "expression", "@reboot", "point in time"},

	{"60 * * * * ?", "second", "60", "the full minute is 0"},
	{"0 60 * * * ?", "minute", "60", "the full hour is 0"},
	{"0 0 24 * * ?", "hour", "24", "midnight is hour 0"},
	{"9 30 * * *", "hour", "30", "start with the minute"},
	{"0 0 0 0 * ?", "day of month", "0", ""},
	{"0 0 0 32 * ?", "day of month", "32", ""},
	{"0 0 0 1 13 ?", "month", "13", ""},
	{"0 0 0 ? * 0", "day of week", "0", "1 is Sunday"},
	{"0 0 0 ? * 8", "day of week", "8", ""},
	{"0 0 * * 8", "day of week", "8", ""},
	{"0 0 0 1 1 ? 1969", "year", "1969", ""},
	{"0 0 0 1 1 ? 2200", "year", "2200", ""},
	{"0 0 10 * * 2026", "day of week", "2026", "last of 7 fields"},
	{"0 9 * 2026 ? *", "day of month", "2026", "last of 7 fields"},
	{"0 0 10 ? * 99999999999999999999", "day of week", "99999999999999999999", ""},

	{"0 0 0 ? * ?", "day of week", "?", "write *"},
	{"0 0 0 13 * FRI", "day of week", "FRI", "put ? in the one that does not matter"},
	{"0 0 0 * * *", "day of week", "*", "? instead of * in the day of week"},
	{"0 0 0 * * MON", "day of week", "MON", "? instead of * in the day of month"},
	{"0 0 0 ?,1 * MON", "day of month", "", "write * for every"},
	{"0 ? 0 1 * ?", "minute", "?", "second minute hour"},
	{"0 10 ? * MON-FRI 2026", "hour", "?", "second minute hour"},

	{"15/0 * * * * ?", "second", "15/0", "from 1 to 59"},
	{"0 0/60 * * * ?", "minute", "0/60", "next field or an interval"},
	{"0 0 */24 * * ?", "hour", "*/24", "interval"},
	{"0 0 0 1/32 * ?", "day of month", "1/32", "interval"},
	{"0 0 0 1 1/13 ?", "month", "1/13", "interval"},
	{"0 */x * * * ?", "minute", "*/x", "*/5"},
	{"0 */ * * * ?", "minute", "*/", "*/5"},
	{"0 */ 5 * * * ?", "minute", "*/5", "without spaces"},
	{"0 1/2/3 * * * ?", "minute", "1/2/3", "*/5"},
	{"0 0 0 1-2-3 * ?", "day of month", "1-2-3", "numbers from 1 to 31"},
	{"0 -5 * * * ?", "minute", "-5", "first-last"},
	{"0 *5 * * * ?", "minute", "*5", "*/5"},
	{"0 *-5 * * * ?", "minute", "*-5", "*/5"},
	{"0 5x * * * ?", "minute", "5x", "numbers from 0 to 59"},
	{"0 0 0 1,,15 * ?", "day of month", "", "stray separator"},
	{"0 0 0 ? * MON,,FRI", "day of week", "", "stray separator"},
	{"0 0 0 1 1 ? 2030-2026", "year", "2030-2026", "earlier year first"},

	{"0 0 0 1, 15 * ?", "day of month", "1,15", "write 1,15 without spaces"},
	{"0 0 9 ? * MON , FRI", "day of week", "MON,FRI", "without spaces"},
	{"0 9 * * MON - FRI", "day of week", "MON-FRI", "without spaces"},
	{"0 0 10 ？ * MON-FRI", "day of month", "？", `the plain '?'`},
	{"0 0 10 ? ＊ MON-FRI", "month", "＊", `the plain '*'`},
	{"0 0 10 ? * MON，FRI", "day of week", "MON，FRI", `the plain ','`},
	{"0 0 10 ? * MON、FRI", "day of week", "MON、FRI", `the plain ','`},
	{"0 0 10 ? * MON–FRI", "day of week", "MON–FRI", `the plain '-'`},
	{"0 0 １０ ? * MON", "hour", "１０", `the plain '1'`},
	{"0 0 10 ? * 周一", "day of week", "周一", "ASCII"},
	{"0　0　10 ? * MON", "expression", "", "plain spaces"},
	{"0 0 10 ? * \xff", "day of week", "\xff", "ASCII"},

	{"0 0 12 ? * 6#6", "day of week", "6#6", "6L for the last"},
	{"0 0 12 ? * FRI#0", "day of week", "FRI#0", "FRI#1"},
	{"0 0 12 ? * #2", "day of week", "#2", "write the value"},
	{"0 0 12 ? * FUNL", "day of week", "FUNL", "names SUN to SAT"},
	{"0 0 12 32W * ?", "day of month", "32W", ""},
	{"0 0 12 W * ?", "day of month", "W", "15W"},
	{"0 0 12 1-5W * ?", "day of month", "1-5W", "15W"},
	{"0 0 12 L-31 * ?", "day of month", "L-31", "L-30"},
	{"0 0 12 L3 * ?", "day of month", "L3", "L-3"},
	{"0 0 * * L", "day of week", "L", "5L or FRIL"},
	{"0 0 12 ? L *", "month", "L", "names JAN to DEC"},
	{"0 0 12 ? * MONDAY", "day of week", "MONDAY", "write MON"},
	{"0 0 12 ? MARCH *", "month", "MARCH", "write MAR"},
	{"0 0 12 MON * ?", "day of month", "MON", "second minute hour"},
	{"0 9 MON * *", "day of month", "MON", "minute hour day-of-month"},
	{"0 0 12 ? * JAN", "day of week", "JAN", "second minute hour"},
	{"0 0 12 ? * H#1", "day of week", "H#1", ""},
	{"0 0 12 1 1 ? H", "year", "H", "write the years"},
	{"H(5) * * * *", "minute", "H(5)", "H(0-59)"},
	{"H(0-5 * * * *", "minute", "H(0-5", "H(0-59)"},
	{"H(0-60) * * * *", "minute", "H(0-60)", ""},
	{"H/0 * * * *", "minute", "H/0", "from 1 to 59"},
}

func TestParseRefuses(t *testing.T) {
	t.Parallel()
	for _, c := range refused {
		_, err := Parse(c.expr, Options{})
		e, ok := errors.AsType[*Error](err)
		if !ok {
			t.Errorf("Parse(%q) = %v, want an *Error", c.expr, err)
			continue
		}
		if e.Field != c.field || !strings.Contains(e.Text, c.text) || !strings.Contains(e.Hint, c.hint) || e.Expr != c.expr {
			t.Errorf("Parse(%q) = %#v\nwant field %q, text %q, hint with %q", c.expr, e, c.field, c.text, c.hint)
		}
		if e.Problem == "" || !strings.Contains(e.Error(), e.Field) || !strings.Contains(e.Error(), e.Problem) {
			t.Errorf("Parse(%q): unclear message %q", c.expr, e)
		}
	}
}

func TestErrorMessage(t *testing.T) {
	t.Parallel()
	for expr, want := range map[string]string{
		"0 0 24 * * ?": `cron: hour "24": must be from 0 to 23; midnight is hour 0 (in "0 0 24 * * ?")`,
		"0 0 0 13 * FRI": `cron: day of week "FRI": the day of month "13" is set too, and with 6 or 7 fields exactly one of the two must be ?; ` +
			`put ? in the one that does not matter; for both, use two schedules (in "0 0 0 13 * FRI")`,
		"0 0 10 ？ * MON-FRI": `cron: day of month "？": has the character '？' (U+FF1F); type the plain '?' (in "0 0 10 ？ * MON-FRI")`,
		"TZ=UTC": `cron: expression: has a zone and no fields; write 5 fields (minute hour day-of-month month day-of-week) ` +
			`or 6 to 7 (second minute hour day-of-month month day-of-week [year]) (in "TZ=UTC")`,
	} {
		if _, err := Parse(expr, Options{}); err == nil || err.Error() != want {
			t.Errorf("got  %v\nwant %s", err, want)
		}
	}
}

// TestSameMeaning pairs ways to write the same schedule.
func TestSameMeaning(t *testing.T) {
	t.Parallel()
	for _, c := range [][2]string{
		{"0 10 * * *", "0 0 10 * * ?"},
		{"0 10 * * 1-5", "0 0 10 ? * 2-6"},
		{"0 10 * * 0", "0 10 * * 7"},
		{"0 10 * * 0-7", "0 10 * * *"},
		{"0 10 * * 7-2", "0 10 * * SUN-TUE"},
		{"0 10 * * 7-7", "0 10 * * SUN"},
		{"0 10 * * 5-7", "0 10 * * FRI-SUN"},
		{"0 10 * * 6-0", "0 10 * * SAT,SUN"},
		{"0 10 * * mon-sun", "0 10 * * *"},
		{"0 10 * * 7/2", "0 10 * * 0,2,4,6"},
		{"0 10 * * 5L", "0 0 10 ? * FRIL"},
		{"0 10 * * 7L", "0 0 10 ? * SUNL"},
		{"0 10 * * 0#2", "0 0 10 ? * 1#2"},
		{"0 10 ? * ?", "0 10 * * *"},
		{"0 10 ? * FRI", "0 10 * * FRI"},
		{"0 0 10 ? * L", "0 0 10 ? * SAT"},
		{"0 0 10 L-0 * ?", "0 0 10 L * ?"},
		{"0 0 10 lw * ?", "0 0 10 LW * ?"},
		{"0 0 22-2 * * ?", "0 0 22,23,0,1,2 * * ?"},
		{"0 0 20-4/3 * * ?", "0 0 20,23,2 * * ?"},
		{"0 0 10 30-2 * ?", "0 0 10 30,31,1,2 * ?"},
		{"0 0 10 1 nov-FEB ?", "0 0 10 1 11,12,1,2 ?"},
		{"0 0 10 ? * Fri-mon", "0 0 10 ? * 6,7,1,2"},
		{"/5 * * * * ?", "*/5 * * * * ?"},
		{"0 5/15 * * * ?", "0 5,20,35,50 * * * ?"},
		{"0 08 * * * ?", "0 8 * * * ?"},
		{"0 0 10 1,1,1-1 * ?", "0 0 10 1 * ?"},
		{"0 0 10 * * ? *", "0 0 10 * * ?"},
		{"0 0 10 * * ? 2026/50", "0 0 10 * * ? 2026,2076,2126,2176"},
		{"\t0  0 10\t* * ?  ", "0 0 10 * * ?"},
		{"@yearly", "0 0 1 1 *"},
		{"@Annually", "0 0 1 1 *"},
		{"@monthly", "0 0 1 * *"},
		{"@weekly", "0 0 * * SUN"},
		{"@daily", "0 0 * * *"},
		{"@midnight", "0 0 * * *"},
		{"@hourly", "0 * * * *"},
	} {
		a, errA := Parse(c[0], Options{})
		b, errB := Parse(c[1], Options{})
		if errA != nil || errB != nil {
			t.Error(errA, errB)
			continue
		}
		if a.rules != b.rules || a.elapsed != b.elapsed {
			t.Errorf("%q and %q differ:\n%+v\n%+v", c[0], c[1], a.rules, b.rules)
		}
	}
}

func TestString(t *testing.T) {
	t.Parallel()
	for expr, want := range map[string]string{
		" 0 0  10 ? * mon-Fri ":        "0 0 10 ? * MON-FRI",
		"/5 * * * * ?":                 "*/5 * * * * ?",
		"0 1,/5 * * * ?":               "0 1,*/5 * * * ?",
		"@Daily":                       "@daily",
		"tz=Asia/Shanghai 0 10 * * *":  "CRON_TZ=Asia/Shanghai 0 10 * * *",
		"CRON_TZ=Europe/Paris @hourly": "CRON_TZ=Europe/Paris @hourly",
		"h h(0-5) * * *":               "H H(0-5) * * *",
	} {
		s, err := Parse(expr, Options{})
		if err != nil {
			t.Error(err)
			continue
		}
		if s.String() != want {
			t.Errorf("%q is %q, want %q", expr, s, want)
		}
		again, err := Parse(s.String(), Options{})
		if err != nil || again.rules != s.rules || again.loc != s.loc {
			t.Errorf("%q does not come back from its String: %v", expr, err)
		}
	}
}

func TestLocation(t *testing.T) {
	t.Parallel()
	fixed := time.FixedZone("east", 5*3600+1800)
	for _, c := range []struct {
		expr string
		loc  *time.Location
		want string
	}{
		{"0 10 * * *", nil, "UTC"},
		{"0 10 * * *", fixed, "east"},
		{"CRON_TZ=Asia/Tokyo 0 10 * * *", fixed, "Asia/Tokyo"},
	} {
		s, err := Parse(c.expr, Options{Location: c.loc})
		if err != nil {
			t.Error(err)
			continue
		}
		if got := s.Location().String(); got != c.want {
			t.Errorf("%q with %v: location %s, want %s", c.expr, c.loc, got, c.want)
		}
		if got := s.Next(time.Unix(0, 0)); got.Hour() != 10 || got.Location() != s.Location() {
			t.Errorf("%q with %v: Next is %s", c.expr, c.loc, got)
		}
	}
}

// TestHash pins values: schedules in use rest on them.
func TestHash(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ expr, seed, want string }{
		{"H H * * *", "nightly-backup", "at 09:22 every day"},
		{"H H(0-5) * * *", "nightly-backup", "at 03:22 every day"},
		{"H/15 * * * *", "nightly-backup", "every 15 minutes from minute 7 on"},
		{"0 H(0-20)/10 3 H * ?", "report", "at 03:02 and 03:12 on the 22nd of every month"},
		{"H H(22-2) ? * H", "x", "at 23:57 on Friday"},
	} {
		s, err := Parse(c.expr, Options{Hash: c.seed})
		if err != nil {
			t.Error(err)
			continue
		}
		if got := s.Describe("en"); got != c.want {
			t.Errorf("%q of %q fires %s, want %s", c.expr, c.seed, got, c.want)
		}
	}
}

// TestHashSpreads gives every minute its share of many names.
func TestHashSpreads(t *testing.T) {
	t.Parallel()
	const names = 60_000
	var minutes [60]int
	for i := range names {
		p := parser{seed: fmt.Sprintf("task-%d", i)}
		minutes[p.pick("minute", 60)]++
	}
	for m, n := range minutes {
		if n < names/60*8/10 || n > names/60*12/10 {
			t.Errorf("minute %d has %d of %d names", m, n, names)
		}
	}
}

func TestHashStaysInItsRange(t *testing.T) {
	t.Parallel()
	for i := range 500 {
		seed := fmt.Sprintf("task-%d", i)
		s, err := Parse("H(50-59) H(22-2) H * H#1", Options{Hash: seed})
		if err == nil {
			t.Fatalf("H#1 was taken: %s", s)
		}
		s, err = Parse("H(50-59) H(22-2) H * ?", Options{Hash: seed})
		if err != nil {
			t.Fatal(err)
		}
		hours, dates := members(uint64(s.rules.hours)), members(uint64(s.rules.days.dates))
		if len(hours) != 1 || hours[0] > 2 && hours[0] < 22 {
			t.Errorf("%s picks the hours %v", seed, hours)
		}
		if len(dates) != 1 || dates[0] > 28 {
			t.Errorf("%s picks the days %v", seed, dates)
		}
		if s.rules.minutes>>50 == 0 {
			t.Errorf("%s picks a minute before 50", seed)
		}
		if s.elapsed {
			t.Errorf("%s: H is no star", seed)
		}
	}
}
