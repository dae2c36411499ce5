package cron_test

import (
	"bufio"
	"encoding/json"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"
	"time"
	_ "time/tzdata" // the tests do not depend on the machine's zones

	"github.com/axsched/ax/pluginapi/cron"
)

// vector is a line of testdata/vectors.jsonl.
type vector struct {
	ID, Kind, Expr, Dialect, Zone string
	After                         time.Time
	Next                          []time.Time
	End                           bool // the schedule ends with the last of Next
}

func TestVectors(t *testing.T) {
	t.Parallel()
	for line := range lines(t, "testdata/vectors.jsonl") {
		var v vector
		if err := json.Unmarshal([]byte(line), &v); err != nil {
			t.Fatal(err)
		}
		t.Run(v.ID, func(t *testing.T) {
			t.Parallel()
			s, err := cron.Parse(v.Expr, cron.Options{Location: location(t, v.Zone)})
			if v.Kind == "cron-error" {
				if _, ok := errors.AsType[*cron.Error](err); !ok {
					t.Fatalf("Parse(%q) = %v, %v; want an *Error", v.Expr, s, err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			want := v.Next
			if v.End || v.Kind == "cron-never" {
				want = append(want, time.Time{})
			}
			checkSequence(t, s, v.After, want)
		})
	}
}

func TestQuartzVectors(t *testing.T) {
	t.Parallel()
	type question struct{ expr, zone, after string }
	decisions := map[question]string{}
	for row := range rows(t, "testdata/decisions.tsv") {
		decisions[question{row[0], row[1], row[2]}] = row[3]
	}
	seen, decided := map[string]int{}, 0
	for row := range rows(t, "testdata/quartz.tsv") {
		expr, zone, after, next, class := row[0], row[1], row[2], row[3], row[5]
		seen[class]++
		if d, ok := decisions[question{expr, zone, after}]; ok && class != "firm" {
			next = d
			decided++
		}
		s, err := cron.Parse(expr, cron.Options{Location: location(t, zone)})
		if err != nil {
			t.Error(err)
			continue
		}
		var want []time.Time
		for text := range strings.SplitSeq(next, ",") {
			want = append(want, instant(t, text))
		}
		checkSequence(t, s, instant(t, after), want)
	}
	if seen["firm"] != 1445 || decided != len(decisions) {
		t.Errorf("checked %d firm rows and %d of %d decisions", seen["firm"], decided, len(decisions))
	}
}

// checkSequence compares Next, and on the way back Prev, with known times.
func checkSequence(t *testing.T, s *cron.Schedule, after time.Time, want []time.Time) {
	t.Helper()
	var got []time.Time
	for at, i := after, 0; i < len(want); i++ {
		at = s.Next(at)
		got = append(got, at)
		if at.IsZero() {
			break
		}
		if at.Location() != s.Location() {
			t.Errorf("%s: Next is in %s, want %s", s, at.Location(), s.Location())
		}
	}
	if !slices.EqualFunc(got, want, time.Time.Equal) {
		t.Errorf("%s in %s after %s:\ngot  %s\nwant %s", s, s.Location(), after, got, want)
		return
	}
	for i := len(want) - 1; i > 0; i-- {
		before := want[i]
		if before.IsZero() {
			before = want[i-1].Add(time.Hour)
		}
		if got := s.Prev(before); !want[i].IsZero() && !got.Equal(want[i-1]) {
			t.Errorf("%s in %s before %s: got %s, want %s", s, s.Location(), before, got, want[i-1])
		}
	}
}

func location(t testing.TB, name string) *time.Location {
	t.Helper()
	loc, err := time.LoadLocation(name)
	if err != nil {
		t.Fatal(err)
	}
	return loc
}

// instant reads RFC 3339; "none" is the zero time.
func instant(t *testing.T, text string) time.Time {
	t.Helper()
	if text == "none" {
		return time.Time{}
	}
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		t.Fatal(err)
	}
	return at
}

// rows yields the columns of a file's lines that are no comments.
func rows(t *testing.T, name string) func(yield func([]string) bool) {
	t.Helper()
	all := lines(t, name)
	return func(yield func([]string) bool) {
		for line := range all {
			if !strings.HasPrefix(line, "#") && !yield(strings.Split(line, "\t")) {
				return
			}
		}
	}
}

// lines yields the lines of a file.
func lines(t *testing.T, name string) func(yield func(string) bool) {
	t.Helper()
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	return func(yield func(string) bool) {
		in := bufio.NewScanner(f)
		for in.Scan() {
			if !yield(in.Text()) {
				return
			}
		}
		if err := in.Err(); err != nil {
			t.Error(err)
		}
	}
}
