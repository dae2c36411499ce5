package engine_test

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/axsched/ax/host/internal/ax"
	"github.com/axsched/ax/host/internal/dispatch"
	"github.com/axsched/ax/host/internal/engine"
	"github.com/axsched/ax/host/internal/executor"
	"github.com/axsched/ax/host/internal/rescue"
	"github.com/axsched/ax/host/internal/store"
	"github.com/axsched/ax/host/internal/trigger"
)

// start is when the stories begin: a Sunday.
var start = time.Date(2026, 3, 1, 10, 0, 0, 0, time.UTC)

// jobFunc is a job in the test process.
type jobFunc func(ctx context.Context, req ax.RunRequest, sink func(ax.Output)) ax.Outcome

func (f jobFunc) Run(ctx context.Context, req ax.RunRequest, sink func(ax.Output)) ax.Outcome {
	return f(ctx, req, sink)
}

// takes is a job that works for a while, or until it is told to stop.
func takes(d time.Duration) jobFunc {
	return func(ctx context.Context, _ ax.RunRequest, _ func(ax.Output)) ax.Outcome {
		select {
		case <-time.After(d):
			return ax.Outcome{Status: ax.StatusSuccess}
		case <-ctx.Done():
			return ax.Outcome{Status: ax.StatusCanceled, Error: context.Cause(ctx).Error()}
		}
	}
}

// world is one host's engine with a real store, an executor and jobs that are
// functions.
type world struct {
	t        *testing.T
	path     string
	workers  int
	slow     time.Duration // how long a pause takes to be written
	store    *store.Store
	engine   *engine.Engine
	nodes    int               // 0 = 1
	members  []dispatch.Member // n1 and so on
	dispatch *dispatch.Dispatcher
	drain    []func(context.Context)
	triggers map[string]engine.Trigger // remote triggers by task
	local    map[string]engine.Trigger // others that package trigger does not make
	ready    func(task string) error

	mu     sync.Mutex
	jobs   map[string]jobFunc
	seen   []ax.Happening
	most   map[string]int // the most runs at once, by task
	now    map[string]int
	starts map[string][]time.Time
}

// story runs a test in a bubble of fake time that begins at start.
func story(t *testing.T, f func(t *testing.T, w *world)) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "ax.db")
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(time.Until(start))
		w := &world{
			t: t, path: path, workers: 4, triggers: map[string]engine.Trigger{}, local: map[string]engine.Trigger{},
			jobs: map[string]jobFunc{}, most: map[string]int{}, now: map[string]int{}, starts: map[string][]time.Time{},
		}
		f(t, w)
		if w.store != nil {
			w.stop()
		}
	})
}

// task returns a task that runs every minute, changed by the given functions.
func (w *world) task(name string, job jobFunc, change ...func(*ax.Task)) ax.Task {
	w.jobs[name] = job
	task := ax.Task{
		ID: ax.NewTaskID("test", name), App: "test", Name: name, Enabled: true,
		Schedule: ax.Schedule{Every: time.Minute, Timezone: "UTC"},
		Job:      ax.Use{Name: "lane-" + name}, Concurrency: 1, Overlap: ax.OverlapSkip,
		Retry:   ax.Retry{},
		Misfire: ax.Misfire{Policy: ax.MisfireSkip, Threshold: time.Minute},
	}
	for _, c := range change {
		c(&task)
	}
	task.Schedule.Version = fmt.Sprintf("%v", task.Schedule)
	return task
}

// open starts a host with the tasks given, on the database that is there.
func (w *world) open(tasks ...ax.Task) {
	w.t.Helper()
	ctx := context.Background()
	var err error
	w.store, err = store.Open(ctx, store.Options{DSN: "sqlite:" + w.path, Log: hclog.NewNullLogger(), RetryFor: time.Second})
	w.must(err)
	_, err = w.store.Migrate(ctx)
	w.must(err)
	ids := ax.NewIDs(1)
	w.members, w.drain = nil, nil
	for i := range max(w.nodes, 1) {
		name, incarnation := fmt.Sprintf("n%d", i+1), ax.NewTraceID()
		pool := executor.New(executor.Config{
			App: "test", Node: name, Incarnation: incarnation, Workers: w.workers, Queue: 2,
			Writer: w.store, Jobs: w, IDs: ids, Log: hclog.NewNullLogger(),
			Freed:    func() { w.engine.Freed() },
			Ended:    func(end ax.Ended) { w.engine.Ended(end) },
			Returned: func(inst ax.Instance) { w.engine.Returned(inst) },
			Observe:  w.observe,
		})
		w.members = append(w.members, dispatch.Member{Name: name, Incarnation: incarnation, Node: pool})
		w.drain = append(w.drain, pool.Drain)
	}
	w.dispatch = dispatch.New(w.members[0], w.members[1:]...)
	w.engine = engine.New(engine.Config{
		App: "test", Node: "n1", Log: hclog.NewNullLogger(), IDs: ids, Writer: w.store, Plans: plans{w.store, w.slow},
		Dispatch: w.dispatch,
		Observe:  w.observe,
	})
	entries := w.entries(tasks)
	left, err := rescue.Run(rescue.Config{
		Writer: w.store, IDs: ids, Log: hclog.NewNullLogger(),
		Task: func(id ax.TaskID) *ax.Task {
			if i := slices.IndexFunc(tasks, func(t ax.Task) bool { return t.ID == id }); i >= 0 {
				return &tasks[i]
			}
			return nil
		},
		Dead:  func(string) bool { return true },
		Ended: func(ax.Ended) {},
	}, w.store.Unfinished(ctx, "test"), time.Now())
	w.must(err)
	w.engine.Start(entries, all, left)
}

// entries writes the tasks as a host does and returns what the engine needs.
func (w *world) entries(tasks []ax.Task) []engine.Entry {
	w.t.Helper()
	known := map[string]ax.TaskRow{}
	rows, err := w.store.Tasks(context.Background(), "test")
	w.must(err)
	for _, r := range rows {
		known[r.Name] = r
	}
	var entries []engine.Entry
	var upsert []ax.TaskRow
	for _, task := range tasks {
		row := known[task.Name]
		row.Task = task
		remote := w.triggers[task.Name]
		e := engine.Entry{Trigger: remote, Remote: remote != nil, Params: bound, Lane: task.Job.Name, Ready: func() error {
			if w.ready == nil {
				return nil
			}
			return w.ready(task.Name)
		}}
		if row.PlanVersion != task.Schedule.Version {
			row.AnchorAt = time.Now()
		}
		if !e.Remote {
			if e.Trigger = w.local[task.Name]; e.Trigger == nil {
				e.Trigger, err = trigger.Compile(trigger.Spec{Schedule: task.Schedule, Task: task.Name, AnchorAt: row.AnchorAt})
				w.must(err)
			}
			if row.PlanVersion != task.Schedule.Version {
				w.must(engine.Plan(&row, e.Trigger, time.Now()))
			}
		}
		e.Row = row
		entries = append(entries, e)
		upsert = append(upsert, row)
	}
	w.must(w.store.ApplyTasks(context.Background(), store.ApplyParams{App: "test", Actor: "test", Now: time.Now(), Upsert: upsert}))
	return entries
}

func all(*ax.Task) bool { return true }

func bound(*ax.Instance) ([]byte, bool) { return nil, true }

// stop ends the host in good order.
func (w *world) stop() {
	w.engine.StopFiring()
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	for _, drain := range w.drain {
		drain(ctx)
	}
	w.engine.Stop()
	w.must(w.store.Close())
	w.store = nil
}

func (w *world) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

// at lets time pass until so long after start, and everything settle.
func (w *world) at(after time.Duration) {
	time.Sleep(time.Until(start.Add(after)))
	synctest.Wait()
}

// rows returns what stands in the database of a task, by rising due time, in
// short: "10:01:00 SUCCESS".
func (w *world) rows(task string) []string {
	w.t.Helper()
	list, err := w.store.Instances(context.Background(), ax.InstanceFilter{App: "test", Task: task, Limit: 10_000})
	w.must(err)
	slices.SortFunc(list, func(a, b ax.Instance) int { return a.ScheduledAt.Compare(b.ScheduledAt) })
	var rows []string
	for _, i := range list {
		text := i.ScheduledAt.UTC().Format("15:04:05 ") + string(i.Status)
		if i.Attempt > 1 {
			text += fmt.Sprintf(" #%d", i.Attempt)
		}
		if i.Missed > 1 {
			text += fmt.Sprintf(" x%d", i.Missed)
		}
		rows = append(rows, text)
	}
	return rows
}

func (w *world) wantRows(task string, want ...string) {
	w.t.Helper()
	if got := w.rows(task); !slices.Equal(got, want) {
		w.t.Errorf("%s: rows\n got %q\nwant %q", task, got, want)
	}
}

func (w *world) started(task string) []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	var at []string
	for _, s := range w.starts[task] {
		at = append(at, s.Format("15:04:05"))
	}
	return at
}

func (w *world) happened(what ax.HappeningKind) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	n := 0
	for _, h := range w.seen {
		if h.What == what {
			n++
		}
	}
	return n
}

func (w *world) observe(h ax.Happening) {
	w.mu.Lock()
	w.seen = append(w.seen, h)
	w.mu.Unlock()
}

// Job, BindParams, Before and Lane make world the executor's Jobs.
func (w *world) Job(task *ax.Task) executor.Job {
	w.mu.Lock()
	job := w.jobs[task.Name]
	w.mu.Unlock()
	return jobFunc(func(ctx context.Context, req ax.RunRequest, sink func(ax.Output)) ax.Outcome {
		w.mu.Lock()
		w.starts[task.Name] = append(w.starts[task.Name], time.Now())
		w.now[task.Name]++
		w.most[task.Name] = max(w.most[task.Name], w.now[task.Name])
		w.mu.Unlock()
		defer func() { w.mu.Lock(); w.now[task.Name]--; w.mu.Unlock() }()
		return job(ctx, req, sink)
	})
}

func (w *world) BindParams(_ context.Context, _ *ax.Task, _ ax.RunRequest, over json.RawMessage) (json.RawMessage, bool, error) {
	return over, true, nil
}
func (w *world) Before(context.Context, *ax.Task, ax.RunRequest) {}
func (w *world) Lane(task *ax.Task) string                       { return task.Job.Name }

// plans gives the engine what it wants of the store.
type plans struct {
	*store.Store
	slow time.Duration // how long a pause takes to be written
}

func (p plans) LoadState(ctx context.Context, task *ax.Task) (engine.Taken, error) {
	row, err := p.Task(ctx, "test", task.Name)
	if err != nil {
		return engine.Taken{}, err
	}
	unfinished, err := p.Instances(ctx, ax.InstanceFilter{App: "test", Task: task.Name, Statuses: ax.Unfinished(), Limit: 100_000})
	if err != nil {
		return engine.Taken{}, err
	}
	taken := engine.Taken{Task: row.ID, State: row.TaskState, Unfinished: unfinished}
	trail, err := p.AuditTrail(ctx, ax.AuditFilter{
		App: "test", Object: task.Name, Actions: []string{store.ActionPause, store.ActionResume}, Limit: 1,
	})
	if len(trail) > 0 {
		taken.PauseAt = trail[0].At
	}
	return taken, err
}

func (p plans) SetPaused(ctx context.Context, c engine.PauseChange) error {
	time.Sleep(p.slow)
	return p.Store.SetPaused(ctx, store.PauseParams{Task: c.Task, Paused: c.Paused, Until: c.Until, Actor: c.By, Now: c.At})
}

func (p plans) SetParked(ctx context.Context, id ax.TaskID, reason string) error {
	return p.Store.SetParked(ctx, store.ParkParams{Task: id, Reason: reason, Now: time.Now()})
}

// remote is a plugin's trigger under a test's control.
type remote func(after time.Time, n int) ([]time.Time, bool, error)

func (f remote) Next(_ context.Context, after, _ time.Time, n int) ([]time.Time, bool, error) {
	return f(after, n)
}
