package alert_test

import (
	"bytes"
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/axsched/ax/host/internal/alert"
	"github.com/axsched/ax/host/internal/ax"
	"github.com/axsched/ax/host/internal/store"
	"github.com/axsched/ax/pluginapi"
)

// start is when the stories begin.
var start = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// window is the default one.
const window = 10 * time.Minute

// world is a Manager with a real store and notifiers that are functions.
type world struct {
	runsOn   string // on which runs are, empty for n1
	t        *testing.T
	node     string
	path     string
	store    *flakyStore
	manager  *alert.Manager
	settings alert.Settings
	tasks    map[string]*ax.Task
	next     map[string]time.Time // due times that nobody has recorded
	run      ax.InstanceID        // the newest one
	ids      *ax.IDs
	// incarnations are those of the newest Manager of each host.
	incarnations map[string]string
	nested       atomic.Bool // something happens while the Manager works
	log          syncBuffer

	mu      sync.Mutex
	got     []delivery       // what notifiers have taken
	overdue []ax.OverdueTask // what hosts were asked to take over
	receipt string           // what notifiers return
	nodes   []ax.Node
	// answer is what the notifiers say; nil means yes.
	answer func(ctx context.Context, d delivery) error
}

// delivery is a message handed to a notifier.
type delivery struct {
	at       time.Time
	host     string // that delivers it
	notifier string
	msg      pluginapi.Message
}

func (d delivery) String() string {
	return fmt.Sprintf("%s %s: %s %s x%d", d.at.Sub(start), d.notifier, d.msg.Task, d.msg.Event, d.msg.Count)
}

// flakyStore is a real store that can refuse alerts, or let something happen
// while they are written.
type flakyStore struct {
	*store.Store
	down   atomic.Bool
	during func()
}

func (s *flakyStore) WriteAlerts(ctx context.Context, b ax.AlertBatch) error {
	if s.down.Load() {
		return errors.New("the disk is full")
	}
	if s.during != nil {
		s.during()
	}
	return s.Store.WriteAlerts(ctx, b)
}

type syncBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *syncBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *syncBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

// story runs a test in a bubble of fake time that begins at start.
func story(t *testing.T, f func(w *world)) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "ax.db")
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(time.Until(start))
		w := newWorld(t, path)
		f(w)
		if w.manager != nil {
			w.stop()
		}
	})
}

func newWorld(t *testing.T, path string) *world {
	return &world{
		t: t, node: "n1", path: path, tasks: map[string]*ax.Task{}, run: 1000, ids: ax.NewIDs(1), incarnations: map[string]string{},
		settings: alert.Settings{
			Window: window, Expire: 48 * time.Hour, To: []string{"ops"},
			Receivers: map[string]*alert.Receiver{"ops": {}, "dev": {}, "hangs": {}},
		},
	}
}

// task makes a task that tells ops of everything, changed by the functions.
func (w *world) task(name string, change ...func(*ax.Task)) *ax.Task {
	task := &ax.Task{
		ID: ax.NewTaskID("shop", name), App: "shop", Name: name, Enabled: true,
		Schedule: ax.Schedule{Every: time.Minute, Timezone: "UTC", Version: "1"},
		Job:      ax.Use{Name: "exec"}, Concurrency: 1, Overlap: ax.OverlapSkip,
		Misfire: ax.Misfire{Policy: ax.MisfireSkip, Threshold: time.Minute},
		Notify: ax.Notify{
			To: []string{"ops"}, After: 1,
			On: []string{"failed", "timeout", "lost", "missed", "skipped", "slow", "late", "overdue", "parked", "recovered"},
		},
	}
	for _, c := range change {
		c(task)
	}
	w.tasks[name] = task
	return task
}

func after(n int) func(*ax.Task)        { return func(t *ax.Task) { t.Notify.After = n } }
func to(names ...string) func(*ax.Task) { return func(t *ax.Task) { t.Notify.To = names } }
func on(names ...string) func(*ax.Task) { return func(t *ax.Task) { t.Notify.On = names } }

// open starts a Manager on the database that is there.
func (w *world) open() {
	w.t.Helper()
	ctx := context.Background()
	s, err := store.Open(ctx, store.Options{DSN: "sqlite:" + w.path, Log: hclog.NewNullLogger(), RetryFor: time.Second})
	w.must(err)
	_, err = s.Migrate(ctx)
	w.must(err)
	w.store = &flakyStore{Store: s}
	var rows []ax.TaskRow
	for _, task := range w.tasks {
		rows = append(rows, ax.TaskRow{Task: *task, TaskState: ax.TaskState{PlanVersion: "1", NextAt: w.next[task.Name]}})
	}
	w.must(s.ApplyTasks(ctx, store.ApplyParams{App: "shop", Actor: "test", Now: time.Now(), Upsert: rows}))
	w.manager = w.newManager(w.node, true)
	w.must(w.manager.Start(ctx))
}

// newManager returns a Manager on the database, which has it for itself if sole.
func (w *world) newManager(node string, sole bool) *alert.Manager {
	incarnation := node + "-" + time.Now().Format(time.RFC3339Nano)
	w.incarnations[node] = incarnation
	return alert.New(alert.Config{
		App: "shop", Node: node, Incarnation: incarnation, Sole: sole, IDs: w.ids, Store: w.store,
		Log:      hclog.New(&hclog.LoggerOptions{Output: &w.log, Level: hclog.Debug}),
		Settings: func() *alert.Settings { return &w.settings },
		Task:     func(name string) *ax.Task { return w.tasks[name] },
		Notify: func(ctx context.Context, notifier string, msg pluginapi.Message) (string, error) {
			return w.notify(ctx, delivery{at: time.Now(), host: node, notifier: notifier, msg: msg})
		},
		Redact: func(text string) string { return strings.ReplaceAll(text, "hunter2", "[secret]") },
		Overdue: func(_ context.Context, tasks []ax.OverdueTask) {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.overdue = append(w.overdue, tasks...)
		},
		Nodes: func(context.Context) ([]ax.Node, error) {
			w.mu.Lock()
			defer w.mu.Unlock()
			return slices.Clone(w.nodes), nil
		},
	})
}

func (w *world) notify(ctx context.Context, d delivery) (string, error) {
	w.mu.Lock()
	answer := w.answer
	w.mu.Unlock()
	if answer != nil {
		if err := answer(ctx, d); err != nil {
			return w.receipt, err
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.got = append(w.got, d)
	return w.receipt, nil
}

func (w *world) answers(f func(ctx context.Context, d delivery) error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.answer = f
}

// stop ends the host in good order.
func (w *world) stop() {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	w.manager.Stop(ctx)
	w.close()
}

// kill ends the host as kill -9 would.
func (w *world) kill() {
	w.manager.Kill()
	w.close()
}

func (w *world) close() {
	w.must(w.store.Close())
	w.manager = nil
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

// ends reports the end of a run of the task.
func (w *world) ends(task *ax.Task, status ax.Status, text string) {
	w.attempt(task, status, text, false)
}

func (w *world) attempt(task *ax.Task, status ax.Status, text string, again bool) {
	w.run++
	now := time.Now()
	running := ax.Instance{
		ID: w.run, TaskID: task.ID, TaskName: task.Name, App: task.App, Kind: ax.KindManual, Status: ax.StatusRunning,
		ScheduledAt: now.Add(time.Duration(w.run%1_000_000) * time.Microsecond), CreatedAt: now, StartedAt: now, Attempt: 1, Node: cmp.Or(w.runsOn, "n1"),
	}
	ended := running
	ended.Status, ended.Error, ended.EndedAt = status, text, now
	if again {
		ended.Status, ended.RetryAt = ax.StatusRetrying, now.Add(time.Minute)
	}
	w.submit(ax.Change{Insert: []ax.Instance{running}})
	w.submit(ax.Change{Move: &ax.Move{From: ax.StatusRunning, New: ended}})
}

// submit writes a change on the way that changes take, and waits for it.
func (w *world) submit(c ax.Change) {
	w.t.Helper()
	done := make(chan error, 1)
	c.Done = func(applied bool, err error) {
		if err == nil && !applied {
			err = errors.New("a change was not applied")
		}
		done <- err
	}
	w.store.Submit(w.manager.Journal(c))
	w.must(<-done)
	if !w.nested.Load() {
		synctest.Wait() // it is gathered, unless there was a round just before
	}
}

// drops records a due time that does not run.
func (w *world) drops(task *ax.Task, status ax.Status, reason string) {
	w.run++
	now := time.Now()
	w.submit(ax.Change{Insert: []ax.Instance{{
		ID: w.run, TaskID: task.ID, TaskName: task.Name, App: task.App, Kind: ax.KindScheduled, Status: status,
		ScheduledAt: now.Add(time.Duration(w.run%1_000_000) * time.Microsecond), CreatedAt: now, EndedAt: now, Reason: reason,
	}}})
}

func (w *world) fails(task *ax.Task, text string) { w.ends(task, ax.StatusFailed, text) }
func (w *world) succeeds(task *ax.Task)           { w.ends(task, ax.StatusSuccess, "") }

// happens reports something that is no end of a run.
func (w *world) happens(task *ax.Task, what ax.HappeningKind, text string) {
	w.manager.Observe(ax.Happening{What: what, At: time.Now(), Task: task, Text: text})
}

// sql changes the database while no host runs.
func (w *world) sql(text string, args ...any) {
	w.t.Helper()
	db, err := sql.Open("sqlite", w.path)
	w.must(err)
	defer db.Close()
	_, err = db.Exec(text, args...)
	w.must(err)
}

// taken returns what notifiers have taken so far.
func (w *world) taken() []delivery {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.got)
}

// wantTaken checks all that was taken so far, as delivery.String has it.
func (w *world) wantTaken(want ...string) {
	w.t.Helper()
	var got []string
	for _, d := range w.taken() {
		got = append(got, d.String())
	}
	if !slices.Equal(got, want) {
		w.t.Errorf("messages\n got %q\nwant %q", got, want)
	}
}

// last returns the newest message taken.
func (w *world) last() pluginapi.Message {
	w.t.Helper()
	got := w.taken()
	if len(got) == 0 {
		w.t.Fatal("no message was taken")
	}
	return got[len(got)-1].msg
}

// tallies returns the events that a message tells of, by their names.
func (w *world) tallies(r ax.AlertRow) map[string]int {
	w.t.Helper()
	var payload struct {
		Facts struct {
			Tallies []struct {
				Event string
				Count int
			}
		}
	}
	w.must(json.Unmarshal(r.Payload, &payload))
	counts := map[string]int{}
	for _, tally := range payload.Facts.Tallies {
		counts[tally.Event] += tally.Count
	}
	return counts
}

// rows returns the rows of ax_alert, oldest first.
func (w *world) rows() []ax.AlertRow {
	w.t.Helper()
	rows, err := w.store.Alerts(context.Background(), ax.AlertFilter{App: "shop", Limit: 100_000})
	w.must(err)
	slices.Reverse(rows)
	return rows
}
