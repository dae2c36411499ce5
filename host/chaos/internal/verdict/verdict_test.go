package verdict

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/axsched/ax/host/internal/ax"
)

var zero = time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)

// at returns a time so many seconds after the first due time.
func at(seconds float64) time.Time {
	return zero.Add(time.Duration(seconds * float64(time.Second)))
}

// sound are facts without a fault: ten due times of a task, one a second, of which
// the third failed once and 5 to 7 were missed.
func sound() Facts {
	f := Facts{From: zero, Until: at(10)}
	f.Tasks = []Task{{
		Name: "t", Probe: true,
		Next: func(after time.Time) time.Time { return after.Truncate(time.Second).Add(time.Second) },
	}}
	for i := range 10 {
		r := Row{ID: ax.InstanceID(100 + i), Task: "t", Due: at(float64(i)), Kind: ax.KindScheduled, Status: ax.StatusSuccess, Scheduler: "a"}
		switch i {
		case 5:
			r.Status, r.Missed, r.MissedUntil = ax.StatusMissed, 3, at(7)
		case 6, 7:
			continue
		case 3:
			f.attempt(&r, "failed")
			f.attempt(&r, "end")
		default:
			f.attempt(&r, "end")
		}
		f.Rows = append(f.Rows, r)
	}
	return f
}

// attempt adds an attempt to a row, which ended as the journal says.
func (f *Facts) attempt(r *Row, what string) {
	r.Attempt++
	r.Ends = append(r.Ends, End{r.Attempt, ax.StageOutcome})
	begin := Line{What: "begin", Task: r.Task, Instance: r.ID, Attempt: r.Attempt, Fence: int64(r.Attempt), Node: "a", At: r.Due.Add(time.Duration(r.Attempt) * 10 * time.Millisecond)}
	end := begin
	end.What, end.At = what, begin.At.Add(5*time.Millisecond)
	f.Lines = append(f.Lines, begin, end)
}

// row returns that of the due time i seconds after the first.
func (f *Facts) row(i int) *Row {
	return &f.Rows[slices.IndexFunc(f.Rows, func(r Row) bool { return r.ID == ax.InstanceID(100+i) })]
}

func TestNothingToFind(t *testing.T) {
	t.Parallel()
	v := Judge(sound())
	if len(v.Findings) > 0 || v.Due != 10 || v.Instances != 8 || v.Runs != 8 || v.Overlaps != 0 || v.WorstStart != 10*time.Millisecond {
		t.Errorf("got %+v", v)
	}
}

// Each promise is seen to be broken, and no other one is blamed for it.
func TestBrokenPromises(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		spoil   func(f *Facts)
		promise Promise
		count   int
		text    string
	}{
		{"two rows of one due time", func(f *Facts) {
			twin := *f.row(2)
			twin.ID, twin.Status, twin.Attempt, twin.Ends = 900, ax.StatusSkipped, 0, nil
			f.Rows = slices.Insert(f.Rows, 3, twin)
		}, Doubled, 1, "12:00:02.000 of t has two rows: SUCCESS and SKIPPED"},
		{"a row within a missed span", func(f *Facts) {
			f.Rows = slices.Insert(f.Rows, 6, Row{ID: 900, Task: "t", Due: at(6), Kind: ax.KindScheduled, Status: ax.StatusSkipped})
		}, Doubled, 1, "12:00:06.000 of t has two rows: MISSED and SKIPPED"},
		{"an attempt begins twice", func(f *Facts) {
			again := f.Lines[0]
			again.Node, again.Fence = "b", 2
			f.Lines = slices.Insert(f.Lines, 1, again)
		}, DoubledClaim, 1, "began 2 times: on a with fence 1 at 12:00:00.010, on b with fence 2"},
		{"due times without a row", func(f *Facts) { f.Rows = slices.Delete(f.Rows, 5, 6) }, Missing, 3, "t: 3 due times have no row, from 12:00:05.000 to 12:00:07.000"},
		{"the first without a row", func(f *Facts) { f.drop(0) }, Missing, 1, "from 12:00:00.000 to 12:00:00.000"},
		{"the last without a row", func(f *Facts) { f.drop(9) }, Missing, 1, "from 12:00:09.000 to 12:00:09.000"},
		{"a row too late", func(f *Facts) {
			f.Rows = append(f.Rows, Row{ID: 900, Task: "t", Due: at(10), Status: ax.StatusSkipped})
		}, Stray, 1, "a row for 12:00:10.000, which is not one"},
		{"a row between two due times", func(f *Facts) {
			f.Rows = slices.Insert(f.Rows, 1, Row{ID: 900, Task: "t", Due: at(0.5), Status: ax.StatusSkipped})
		}, Stray, 1, "a row for 12:00:00.500, which is not one"},
		{"a row of another task", func(f *Facts) {
			f.Rows = append(f.Rows, Row{ID: 900, Task: "u", Due: at(1), Status: ax.StatusSkipped})
		}, Stray, 1, "there is no task u"},
		{"a wrong number of missed", func(f *Facts) { f.row(5).Missed = 4 }, Stray, 1, "says 4 due times and stands for 3"},
		{"nobody claims", func(f *Facts) {
			f.Rows = slices.Insert(f.Rows[:7:7], 7, Row{ID: 900, Task: "t", Due: at(9), Status: ax.StatusDispatched})
			f.Lines = f.Lines[:len(f.Lines)-2]
		}, Unclaimed, 1, "12:00:09.000 of t is DISPATCHED"},
		{"never ends", func(f *Facts) { f.row(9).Status, f.row(9).Ends = ax.StatusRunning, nil }, Stuck, 1, "12:00:09.000 of t is RUNNING, attempt 1"},
		{"never tried again", func(f *Facts) { f.row(9).Status = ax.StatusRetrying }, Stuck, 1, "RETRYING"},
		{"two outcomes", func(f *Facts) {
			f.row(3).Ends[1].Attempt = 1
			f.row(3).Ends = append(f.row(3).Ends, End{2, ax.StageOutcome})
		}, DoubleOutcome, 1, "attempt 1 of 12:00:03.000 of t ended 2 times"},
		{"no outcome", func(f *Facts) { f.row(3).Ends = f.row(3).Ends[1:] }, NoOutcome, 1, "attempt 1 of 12:00:03.000 of t has no end"},
		{"an outcome is lost", func(f *Facts) { f.row(3).Ends[0].Stage = ax.StageLost }, LostOutcome, 1, `said "failed" at 12:00:03.015 on a`},
		{"a good end is not enough", func(f *Facts) {
			f.Lines[slices.IndexFunc(f.Lines, func(l Line) bool { return l.What == "failed" })].What = "end"
			f.Faults = []Fault{{Kind: Stop, Node: "b", Begin: at(1), End: at(9)}, {Kind: KillDB, Begin: at(1), End: at(9)}}
		}, Rerun, 1, "attempt 1 of 12:00:03.000 of t ended well at 12:00:03.015 on a, and attempt 2 began at 12:00:03.020"},
		{"an instance without a row ran", func(f *Facts) {
			f.Lines = append(f.Lines, Line{What: "begin", Task: "t", Instance: 900, Attempt: 1, At: at(3)})
		}, Unfounded, 1, "no row ran"},
		{"success without a run", func(f *Facts) { f.Lines = f.Lines[2:] }, Unfounded, 1, "12:00:00.000 of t is SUCCESS, and its job did not end well"},
		{"success of a failure", func(f *Facts) { f.Lines[1].What = "failed" }, Unfounded, 1, "did not end well"},
		{"too early", func(f *Facts) { f.Lines[0].At = at(-2) }, Early, 1, "began at 11:59:58.000"},
	} {
		f := sound()
		c.spoil(&f)
		v := Judge(f)
		for _, p := range Promises() {
			want := 0
			if p == c.promise {
				want = c.count
			}
			if n := v.Count(p); n != want {
				t.Errorf("%s: %d times %s, want %d: %+v", c.name, n, p, want, v.Findings)
			}
		}
		if len(v.Findings) > 0 && !strings.Contains(v.Findings[0].Text, c.text) {
			t.Errorf("%s: said %q, want %q in it", c.name, v.Findings[0].Text, c.text)
		}
	}
}

// drop takes a due time away, with its run.
func (f *Facts) drop(i int) {
	id := f.row(i).ID
	f.Rows = slices.DeleteFunc(f.Rows, func(r Row) bool { return r.ID == id })
	f.Lines = slices.DeleteFunc(f.Lines, func(l Line) bool { return l.Instance == id })
}

// What nobody can know or help is not held against the hosts.
func TestExcused(t *testing.T) {
	t.Parallel()
	for name, excuse := range map[string]func(f *Facts){
		"its host was killed in that moment": func(f *Facts) {
			f.row(3).Ends[0].Stage = ax.StageLost
			f.Faults = []Fault{{Kind: Kill, Node: "a", Begin: at(3.02), End: at(6)}}
		},
		"its host was stopped, and ran again elsewhere": func(f *Facts) {
			f.Lines[slices.IndexFunc(f.Lines, func(l Line) bool { return l.What == "failed" })].What = "end"
			f.Faults = []Fault{{Kind: Stop, Node: "a", Begin: at(1), End: at(9)}}
		},
		"a late result was recorded": func(f *Facts) {
			f.row(3).Ends[0].Stage = ax.StageLost
			f.row(3).Ends = append(f.row(3).Ends, End{1, ax.StageLateResult})
		},
	} {
		f := sound()
		excuse(&f)
		if v := Judge(f); len(v.Findings) > 0 {
			t.Errorf("%s: found %+v", name, v.Findings)
		}
	}
	f := sound()
	f.row(3).Ends[0].Stage = ax.StageLost
	f.Faults = []Fault{{Kind: Kill, Node: "b", Begin: at(3.02), End: at(6)}, {Kind: Kill, Node: "a", Begin: at(9), End: at(12)}}
	if v := Judge(f); v.Count(LostOutcome) != 1 {
		t.Errorf("the death of another host, or a later one, excuses a lost outcome: %+v", v.Findings)
	}
}

func TestOverlapsAreCounted(t *testing.T) {
	t.Parallel()
	f := sound()
	i := slices.IndexFunc(f.Lines, func(l Line) bool { return l.What == "failed" })
	f.Lines[i].At = at(3.5)
	if v := Judge(f); v.Overlaps != 1 || len(v.Findings) > 0 {
		t.Errorf("%d overlaps, want 1: %+v", v.Overlaps, v.Findings)
	}
}

func TestTakeOver(t *testing.T) {
	t.Parallel()
	kill := Fault{Kind: Kill, Node: "a", Begin: at(1.5), End: at(8), Alone: true}
	late := func(f *Facts) { // the due time at 2 s starts at 4.2 s
		for i := range f.Lines {
			if f.Lines[i].Instance == 102 {
				f.Lines[i].At = at(4.2)
			}
		}
	}
	for name, c := range map[string]struct {
		change func(f *Facts)
		fault  func(f *Fault)
		want   time.Duration // 0: nothing is measured
		late   bool
	}{
		"killed":                         {late, func(*Fault) {}, 2200 * time.Millisecond, false},
		"drained":                        {late, func(f *Fault) { f.Kind = Drain }, 2200 * time.Millisecond, true},
		"other faults beside it":         {late, func(f *Fault) { f.Alone = false }, 0, false},
		"another host":                   {late, func(f *Fault) { f.Node = "b" }, 0, false},
		"a fault that moves no tasks":    {late, func(f *Fault) { f.Kind = SlowDB }, 0, false},
		"before the fault":               {late, func(f *Fault) { f.Begin = at(3.5) }, 10 * time.Millisecond, false},
		"no probe":                       {func(f *Facts) { f.Tasks[0].Probe = false }, func(*Fault) {}, 0, false},
		"lost, and run again much later": {func(f *Facts) { f.Lines[4].Attempt, f.Lines[4].At = 2, at(9) }, func(*Fault) {}, 10 * time.Millisecond, false},
	} {
		f, fault := sound(), kill
		c.change(&f)
		c.fault(&fault)
		f.Faults = []Fault{fault}
		v := Judge(f)
		switch {
		case c.want == 0 && len(v.TakeOvers) > 0:
			t.Errorf("%s: measured %+v", name, v.TakeOvers)
		case c.want > 0 && (len(v.TakeOvers) != 1 || v.TakeOvers[0].Took != c.want || v.TakeOvers[0].Late() != c.late):
			t.Errorf("%s: got %+v, want %s", name, v.TakeOvers, c.want)
		}
	}
}

func TestReadJournal(t *testing.T) {
	t.Parallel()
	const whole = "begin t 7 1 2 a 99 1700000000000001\nend t 7 1 2 a 99 1700000000000002\n"
	lines, err := ReadJournal(strings.NewReader(whole + "begin t 8"))
	want := Line{"end", "t", 7, 1, 2, "a", 99, time.UnixMicro(1_700_000_000_000_002)}
	if err != nil || len(lines) != 2 || lines[1] != want {
		t.Errorf("got %+v, %v", lines, err)
	}
	if _, err := ReadJournal(strings.NewReader(whole + "begin t\n")); err == nil || !strings.Contains(err.Error(), "line 3") {
		t.Errorf("a broken line: %v", err)
	}
}
