package ax

import (
	"slices"
	"testing"
	"time"
)

func TestEveryStatusLeadsToAnEnd(t *testing.T) {
	t.Parallel()
	for _, s := range Statuses() {
		seen := map[Status]bool{}
		var reach func(Status) bool
		reach = func(s Status) bool {
			if s.Final() {
				return true
			}
			seen[s] = true
			return slices.ContainsFunc(moves[s], func(n Status) bool { return !seen[n] && reach(n) })
		}
		if !reach(s) {
			t.Errorf("no way leads from %s to a final state", s)
		}
	}
}

func TestFinalStatesStay(t *testing.T) {
	t.Parallel()
	for _, s := range []Status{StatusSuccess, StatusFailed, StatusTimeout, StatusLost, StatusMissed, StatusSkipped, StatusCanceled} {
		if !s.Final() {
			t.Errorf("%s is not final", s)
		}
		for _, to := range Statuses() {
			if CanMove(s, to) {
				t.Errorf("%s may move to %s", s, to)
			}
		}
	}
}

func TestRetryDelays(t *testing.T) {
	t.Parallel()
	failed := Outcome{Status: StatusFailed}
	exponential := Retry{Count: 5, Delays: []time.Duration{time.Second}, Factor: 3, Max: 10 * time.Second, On: []Status{StatusFailed}}
	tests := []struct {
		name    string
		retry   Retry
		outcome Outcome
		want    []time.Duration // until the policy says no
	}{
		{"default: 1 min, then 5 min", DefaultRetry(), failed, []time.Duration{time.Minute, 5 * time.Minute}},
		{"exponential with a limit", exponential, failed, []time.Duration{time.Second, 3 * time.Second, 9 * time.Second, 10 * time.Second, 10 * time.Second}},
		{"fixed", Retry{Count: 3, Delays: []time.Duration{time.Second}, On: []Status{StatusFailed}}, failed, []time.Duration{time.Second, time.Second, time.Second}},
		{"at once", Retry{Count: 1, On: []Status{StatusFailed}}, failed, []time.Duration{0}},
		{"permanent", DefaultRetry(), Outcome{Status: StatusFailed, Permanent: true}, nil},
		{"canceled is not retried", DefaultRetry(), Outcome{Status: StatusCanceled}, nil},
		{"only what is listed", exponential, Outcome{Status: StatusTimeout}, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var got []time.Duration
			for attempt := 1; ; attempt++ {
				d, again := tt.retry.Next(attempt, tt.outcome)
				if !again {
					break
				}
				got = append(got, d)
			}
			if !slices.Equal(got, tt.want) {
				t.Errorf("got %v, want %v", got, tt.want)
			}
		})
	}
}

func TestIDsRiseAndDiffer(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	a, b := NewIDs(1), NewIDs(2)
	seen := map[int64]bool{}
	last := int64(0)
	for i := range 20_000 {
		at := now.Add(time.Duration(i%7-3) * time.Millisecond) // a clock that jumps about
		id := a.Next(at)
		if id <= last {
			t.Fatalf("id %d after %d", id, last)
		}
		last = id
		if other := b.Next(at); seen[id] || seen[other] || id == other {
			t.Fatalf("id given twice: %d or %d", id, other)
		}
		seen[id] = true
	}
	if last <= 0 {
		t.Fatalf("id %d is not positive", last)
	}
}

func TestFirstIDSplitsByTime(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	first := FirstID(at)
	if id := NewIDs(0).Next(at); id != first {
		t.Errorf("the first id of node 0 is %d, want %d", id, first)
	}
	before := NewIDs(1<<nodeBits - 1)
	for range 1 << seqBits {
		if id := before.Next(at.Add(-time.Millisecond)); id >= first {
			t.Fatalf("an id of the millisecond before is %d, not below %d", id, first)
		}
	}
	if id := FirstID(time.Time{}); id != 0 {
		t.Errorf("before all ids comes %d, want 0", id)
	}
}

func TestTaskIDsDependOnAppAndName(t *testing.T) {
	t.Parallel()
	first, again := NewTaskID("a", "b"), NewTaskID("a", "b")
	if NewTaskID("a", "bc") == NewTaskID("ab", "c") || first != again || first < 0 {
		t.Error("task ids must depend on app and name, be stable and positive")
	}
}
