package host

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/axsched/ax/host/internal/ax"
	"github.com/axsched/ax/host/internal/trigger"
)

// TestUpTo compares the last due time up to an instant with the due times one by
// one.
func TestUpTo(t *testing.T) {
	t.Parallel()
	start := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	draw := rand.New(rand.NewPCG(1, 2))
	for name, s := range map[string]ax.Schedule{
		"seconds in office hours": {Cron: "* * 9-16 ? * MON-FRI"},
		"with jitter":             {Cron: "0 */5 * * * ?", Jitter: 3 * time.Minute},
		"days":                    {Cron: "0 0 2 * * ?"},
		"leap days":               {Cron: "0 0 2 29 2 ?"},
		"short":                   {Every: 250 * time.Millisecond},
		"once":                    {At: start.Add(time.Hour)},
		"bounded":                 {Every: time.Hour, From: start.AddDate(0, 0, 1), Until: start.AddDate(0, 0, 2)},
	} {
		s.Timezone = "Europe/Berlin"
		table, err := trigger.Compile(trigger.Spec{Schedule: s, Task: name})
		if err != nil {
			t.Fatal(err)
		}
		g := &gatherer{table: table}
		for range 30 {
			at := start.Add(time.Duration(draw.Int64N(int64(4 * 24 * time.Hour)))).Truncate(time.Microsecond)
			got, err := g.upTo(t.Context(), at)
			if err != nil {
				t.Fatal(err)
			}
			if got.IsZero() {
				if first, _ := g.after(t.Context(), start.AddDate(-10, 0, 0)); !first.IsZero() && !first.After(at) {
					t.Errorf("%s: none up to %s, but %s is", name, at, first)
				}
				continue
			}
			onTime, err := g.after(t.Context(), got.Add(-time.Nanosecond))
			if err != nil || !onTime.Equal(got) {
				t.Errorf("%s: %s is no due time", name, got)
			}
			if next, err := g.after(t.Context(), got); err != nil || got.After(at) || !next.IsZero() && !next.After(at) {
				t.Errorf("%s: up to %s it is %s, but %s follows", name, at, got, next)
			}
		}
	}
}

func TestMeant(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 3, 1, 2, 0, 0, 0, time.UTC)
	for _, tc := range []struct {
		name  string
		steps []trigger.Step
		want  time.Duration
	}{
		{"nothing", nil, 0},
		{"the instant itself", []trigger.Step{{At: at.Add(-time.Minute), Due: at.Add(time.Millisecond)}, {At: at, Due: at}}, 0},
		{"within the second", []trigger.Step{{At: at.Add(-time.Minute), Due: at.Add(300 * time.Millisecond), Verdict: trigger.VerdictDue}}, 300 * time.Millisecond},
		{"put off by jitter", []trigger.Step{{At: at, Due: at.Add(17 * time.Second), Verdict: trigger.VerdictDue}}, 17 * time.Second},
		{"moved to another day", []trigger.Step{{At: at, Due: at.Add(24 * time.Hour), Verdict: trigger.VerdictMoved}}, 0},
	} {
		if got := meant(at, tc.steps); !got.Equal(at.Add(tc.want)) {
			t.Errorf("%s: %s", tc.name, got)
		}
	}
}
