package cron

import (
	"math/rand/v2"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"
	_ "time/tzdata" // all zones, whatever the machine has
	"weak"
)

// TestZoneTables compares the tables of all zones with the time package, at
// random times and on both sides of every jump.
func TestZoneTables(t *testing.T) {
	t.Parallel()
	names, err := os.ReadFile("testdata/zones.txt")
	if err != nil {
		t.Fatal(err)
	}
	for name := range strings.FieldsSeq(string(names)) {
		loc, err := time.LoadLocation(name)
		if err != nil {
			t.Fatal(err)
		}
		z := *newZone(loc)
		var times []int64
		for _, p := range z[1:] {
			times = append(times, p.from-1, p.from)
		}
		for range 500 {
			times = append(times, -11_000_000_000+rand.Int64N(18_258_000_000)) // 1621 to 2199
		}
		for _, at := range times {
			_, want := time.Unix(at, 0).In(loc).Zone()
			if got := z[z.at(at)].shift - unixEpochDay*secondsPerDay; got != int64(want) {
				t.Fatalf("%s at %d: offset %d, want %d", name, at, got, want)
			}
		}
		for i := 1; i < len(z); i++ {
			if z[i].shift == z[i-1].shift || z[i].high < z[i-1].high {
				t.Errorf("%s: period %d does not follow from the one before", name, i)
			}
		}
	}
}

// TestNoReadingIsLeaptThenShown secures that the rule of the package comment
// leaves no question open: no zone has a jump back into readings that the
// clock had leapt over before.
func TestNoReadingIsLeaptThenShown(t *testing.T) {
	t.Parallel()
	names, err := os.ReadFile("testdata/zones.txt")
	if err != nil {
		t.Fatal(err)
	}
	for name := range strings.FieldsSeq(string(names)) {
		loc, err := time.LoadLocation(name)
		if err != nil {
			t.Fatal(err)
		}
		z := *newZone(loc)
		leapt := int64(-never) // end of the last gap
		for i := 1; i < len(z); i++ {
			start := z[i].from + z[i].shift
			if start < leapt {
				t.Errorf("%s shows readings again that it leapt over, at %s", name, time.Unix(z[i].from, 0).UTC())
			}
			if start > z[i].high {
				leapt = start
			}
		}
	}
}

func TestZoneIsShared(t *testing.T) {
	t.Parallel()
	const zone = "Asia/Kathmandu"
	a, errA := Parse("CRON_TZ="+zone+" 0 9 * * *", Options{})
	b, errB := Parse("TZ="+zone+" 0 10 * * *", Options{})
	if errA != nil || errB != nil {
		t.Fatal(errA, errB)
	}
	if a.loc != b.loc || a.zone != b.zone {
		t.Error("two schedules of one zone have two tables")
	}
	if a.loc.String() != zone {
		t.Errorf("location is %s, want %s", a.loc, zone)
	}
}

// TestZoneIsReleased secures that the memo keeps no location alive and
// forgets those that are gone. Cleanups run some time after a collection.
func TestZoneIsReleased(t *testing.T) {
	t.Parallel()
	key := func() weak.Pointer[time.Location] {
		loc, err := time.LoadLocation("Pacific/Chatham")
		if err != nil {
			t.Fatal(err)
		}
		zoneOf(loc)
		return weak.Make(loc)
	}()
	for deadline := time.Now().Add(10 * time.Second); time.Now().Before(deadline); runtime.Gosched() {
		runtime.GC()
		if _, known := zones.Load(key); !known {
			return
		}
	}
	t.Error("the memo still knows a location that nobody uses")
}

func TestYearSet(t *testing.T) {
	t.Parallel()
	for member := firstNamedYear; member <= lastYear; member++ {
		var s yearSet
		s.add(member)
		for year := firstNamedYear - 2; year <= lastYear+2; year++ {
			next, prev := noYear, noYear
			if member >= year {
				next = member
			}
			if member <= year {
				prev = member
			}
			if s.next(year) != next || s.prev(year) != prev {
				t.Fatalf("of %d: next(%d) = %d, prev %d; want %d, %d", member, year, s.next(year), s.prev(year), next, prev)
			}
		}
	}
}

func TestDateIsInverseOfDayNumber(t *testing.T) {
	t.Parallel()
	want := time.Date(1601, 1, 1, 0, 0, 0, 0, time.UTC)
	for day := firstDay; day <= lastDay+1; day++ {
		y, m, d := date(day)
		if y != want.Year() || m != int(want.Month()) || d != want.Day() || weekday(day) != int(want.Weekday()) {
			t.Fatalf("day %d is %d-%d-%d, weekday %d; want %s", day, y, m, d, weekday(day), want)
		}
		if got := dayNumber(y, m, d); got != day {
			t.Fatalf("dayNumber(%d, %d, %d) = %d, want %d", y, m, d, got, day)
		}
		want = want.AddDate(0, 0, 1)
		if want.Day() == 1 && monthLength(y, m) != d {
			t.Fatalf("monthLength(%d, %d) = %d, want %d", y, m, monthLength(y, m), d)
		}
	}
}
