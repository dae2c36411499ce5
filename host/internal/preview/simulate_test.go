package preview

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/axsched/ax/host/internal/ax"
	"github.com/axsched/ax/host/internal/trigger"
	"github.com/axsched/ax/pluginapi/calendar"
)

func task(name string, s ax.Schedule) ax.Task {
	s.Timezone = "UTC"
	return ax.Task{Name: name, Enabled: true, Schedule: s}
}

// dueTime is a due time of a task.
type dueTime struct {
	at   time.Time
	task string
}

// plainDueTimes lists all due times of a span in order, those of one time in the
// order of the tasks.
func plainDueTimes(t *testing.T, s Simulation) []dueTime {
	t.Helper()
	var all []dueTime
	for _, task := range s.Tasks {
		times, _, err := compile(t, task.Name, task.Schedule).Next(t.Context(), s.From.Add(-1), s.To.Add(-1), 1_000_000)
		if err != nil {
			t.Fatal(err)
		}
		for _, at := range times {
			all = append(all, dueTime{at, task.Name})
		}
	}
	slices.SortStableFunc(all, func(a, b dueTime) int { return a.at.Compare(b.at) })
	return all
}

// grouped counts due times by the unit that start gives.
func grouped(all []dueTime, start func(time.Time) time.Time) []Moment {
	byStart := map[int64]*Moment{}
	for _, f := range all {
		at := start(f.at)
		m := byStart[at.Unix()]
		if m == nil {
			m = &Moment{At: at}
			byStart[at.Unix()] = m
		}
		m.DueTimes++
		i := slices.IndexFunc(m.Tasks, func(c TaskCount) bool { return c.Task == f.task })
		if i < 0 {
			i, m.Tasks = len(m.Tasks), append(m.Tasks, TaskCount{Task: f.task})
		}
		m.Tasks[i].DueTimes++
	}
	list := []Moment{}
	for _, at := range slices.Sorted(maps.Keys(byStart)) {
		list = append(list, *byStart[at])
	}
	return list
}

func together(list []Moment) []Moment {
	return slices.DeleteFunc(slices.Clone(list), func(m Moment) bool { return len(m.Tasks) < 2 })
}

func top(list []Moment) []Moment {
	list = slices.Clone(list)
	slices.SortStableFunc(list, func(a, b Moment) int { return cmp.Compare(b.DueTimes, a.DueTimes) })
	return list[:min(len(list), worst)]
}

func text(list []Moment) string {
	out := ""
	for _, m := range list {
		out += fmt.Sprintln(m.At.UTC(), m.DueTimes, m.Tasks)
	}
	return out
}

// TestSimulateAgainstPlainList compares all counts with those of a sorted list
// of all due times.
func TestSimulateAgainstPlainList(t *testing.T) {
	t.Parallel()
	zone, err := time.LoadLocation("Asia/Kathmandu") // hours begin at UTC's quarters
	if err != nil {
		t.Fatal(err)
	}
	s := Simulation{
		Tasks: []ax.Task{
			task("hourly", ax.Schedule{Cron: "0 0 * * * ?"}),
			task("quarters", ax.Schedule{Every: 15 * time.Minute}),
			task("work", ax.Schedule{Cron: "0 0 9,10 * * ?", Calendar: "work", OnClosed: ax.ClosedNext}),
			task("often", ax.Schedule{Every: 700 * time.Millisecond, From: monday.Add(3 * time.Hour), Until: monday.Add(3*time.Hour + 10*time.Minute)}),
			task("spread", ax.Schedule{Cron: "0 0 * * * ?", Jitter: 2 * time.Minute}),
			task("never", ax.Schedule{At: monday.Add(-time.Hour)}),
		},
		Calendars: map[string]*calendar.Calendar{"work": workdays(t)},
		From:      monday, To: monday.AddDate(0, 0, 7), Zone: zone,
	}
	all := plainDueTimes(t, s)
	seconds := grouped(all, func(at time.Time) time.Time { return at.Truncate(time.Second) })
	minutes := grouped(all, func(at time.Time) time.Time { return at.Truncate(time.Minute) })
	starts := map[Unit]func(time.Time) time.Time{
		PerMinute: func(at time.Time) time.Time { return at.Truncate(time.Minute) },
		PerHour: func(at time.Time) time.Time {
			return at.Add(-15 * time.Minute).Truncate(time.Hour).Add(15 * time.Minute)
		},
		PerDay: func(at time.Time) time.Time {
			year, month, day := at.In(zone).Date()
			return time.Date(year, month, day, 0, 0, 0, 0, zone)
		},
	}
	for s.Unit = range starts {
		r, err := Simulate(t.Context(), s)
		if err != nil {
			t.Fatal(err)
		}
		if int(r.DueTimes) != len(all) || len(r.Never) != 1 || r.Never[0] != "never" || r.Tasks != 6 {
			t.Errorf("%d due times of %d tasks, want %d; never: %v", r.DueTimes, r.Tasks, len(all), r.Never)
		}
		if got := r.Collisions; int(got.Seconds) != len(together(seconds)) || int(got.Minutes) != len(together(minutes)) {
			t.Errorf("collisions in %d seconds and %d minutes, want %d and %d", got.Seconds, got.Minutes, len(together(seconds)), len(together(minutes)))
		}
		if got, want := text(r.Collisions.Worst), text(top(together(seconds))); got != want {
			t.Errorf("worst seconds: got\n%swant\n%s", got, want)
		}
		if got, want := text(r.Busiest), text(top(minutes)); got != want {
			t.Errorf("busiest minutes: got\n%swant\n%s", got, want)
		}
		var buckets []Bucket
		for _, m := range grouped(all, starts[s.Unit]) {
			buckets = append(buckets, Bucket{Start: m.At, DueTimes: m.DueTimes, Tasks: len(m.Tasks)})
		}
		if !slices.EqualFunc(r.Buckets, buckets, func(a, b Bucket) bool {
			return a.Start.Equal(b.Start) && a.DueTimes == b.DueTimes && a.Tasks == b.Tasks
		}) {
			t.Errorf("per %s: got\n%v\nwant\n%v", s.Unit, r.Buckets, buckets)
		}
	}
}

func TestSimulateTellsOfDays(t *testing.T) {
	t.Parallel()
	broken := errors.New("the plugin is gone")
	s := Simulation{
		Tasks: []ax.Task{
			task("skips", ax.Schedule{Cron: "0 0 9,10 * * ?", Calendar: "work"}),
			task("moves", ax.Schedule{Cron: "0 0 9 * * ?", Calendar: "work", OnClosed: ax.ClosedPrevious, Blackouts: []ax.Blackout{{To: 24 * time.Hour, Weekdays: []time.Weekday{time.Tuesday}}}}),
			task("plugged", ax.Schedule{Trigger: &ax.Use{Name: "x"}}),
			{Name: "off", Schedule: ax.Schedule{Every: time.Hour, Timezone: "UTC"}},
			task("faulty", ax.Schedule{Cron: "x"}),
		},
		Calendars: map[string]*calendar.Calendar{"work": workdays(t)},
		Plugins:   brokenPlugins{broken},
		From:      time.Date(2026, time.December, 28, 0, 0, 0, 0, time.UTC), To: time.Date(2027, time.January, 4, 0, 0, 0, 0, time.UTC),
		Zone: time.UTC, Unit: PerDay,
	}
	var told []time.Time
	s.Progress = func(at time.Time) { told = append(told, at) }
	r, err := Simulate(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	if r.Disabled != 1 || len(r.PerTask) != 4 || len(told) < 4 {
		t.Errorf("disabled %d, tasks %d, progress told %d times", r.Disabled, len(r.PerTask), len(told))
	}
	newYear := time.Date(2027, time.January, 1, 9, 0, 0, 0, time.UTC)
	skips, moves := r.PerTask[0], r.PerTask[1]
	if skips.DueTimes != 10 || skips.Closed != 4 || skips.Beyond != 2 || !skips.BeyondFrom.Equal(newYear) {
		t.Errorf("%+v", skips)
	}
	if moves.DueTimes != 4 || moves.Blackout != 1 || moves.Closed != 0 || moves.Moved != 0 {
		t.Errorf("%+v", moves)
	}
	if r.PerTask[2].Error != broken.Error() || r.PerTask[3].Error == "" || len(r.Never) != 0 {
		t.Errorf("%+v, never %v", r.PerTask[2:], r.Never)
	}
	want := []ClosedDay{
		{Date: "2027-01-02", Reason: "work: weekly pattern: Saturday is closed", LeftOut: 3, Tasks: 2},
		{Date: "2027-01-03", Reason: "work: weekly pattern: Sunday is closed", LeftOut: 3, Tasks: 2},
	}
	if !slices.Equal(r.ClosedDays, want) {
		t.Errorf("closed days: got\n%+v\nwant\n%+v", r.ClosedDays, want)
	}
}

// brokenPlugins offers triggers that fail.
type brokenPlugins struct{ err error }

func (b brokenPlugins) Trigger(ax.Use, *time.Location, uint64, []*calendar.Calendar) trigger.Trigger {
	return b
}

func (b brokenPlugins) Next(context.Context, time.Time, time.Time, int) ([]time.Time, bool, error) {
	return nil, false, b.err
}

func TestSimulateStops(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	s := Simulation{
		Tasks: []ax.Task{task("t", ax.Schedule{Every: time.Second})},
		From:  monday, To: monday.AddDate(100, 0, 0), Zone: time.UTC, Unit: PerDay,
		Progress: func(time.Time) { cancel() },
	}
	if _, err := Simulate(ctx, s); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// manyTasks is a mix as a large service has it: every task of a thousand on a
// working calendar or none, from every five minutes to once a month.
func manyTasks(n int) []ax.Task {
	kinds := []ax.Schedule{
		{Every: 5 * time.Minute},
		{Cron: "0 0/15 * * * ?", Jitter: time.Minute},
		{Cron: "0 0 * * * ?"},
		{Cron: "0 30 8-18 ? * MON-FRI", Calendar: "work"},
		{Cron: "0 0 2 * * ?"},
		{Cron: "0 0 9 * * ?", Calendar: "work", OnClosed: ax.ClosedNext},
		{Cron: "0 0 23 * * ?", Blackouts: []ax.Blackout{{From: 22 * time.Hour, To: 6 * time.Hour}}, OnBlackout: ax.BlackoutAfter},
		{Cron: "0 15 3 ? * SAT"},
		{Cron: "0 0 2 ? * 6L"},
		{Cron: "0 0 7 1W * ?", Calendar: "work", OnClosed: ax.ClosedPrevious},
	}
	var tasks []ax.Task
	for i := range n {
		tasks = append(tasks, task(fmt.Sprintf("task-%04d", i), kinds[i%len(kinds)]))
	}
	return tasks
}

// BenchmarkSimulate replays a year of a thousand tasks.
func BenchmarkSimulate(b *testing.B) {
	s := Simulation{
		Tasks: manyTasks(1000), Calendars: map[string]*calendar.Calendar{"work": workdays(b)},
		From: monday, To: monday.AddDate(1, 0, 0), Zone: time.UTC, Unit: PerDay,
	}
	var times int64
	for b.Loop() {
		r, err := Simulate(b.Context(), s)
		if err != nil {
			b.Fatal(err)
		}
		times = r.DueTimes
	}
	b.ReportMetric(float64(times), "due_times")
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(times), "ns/due_time")
}
