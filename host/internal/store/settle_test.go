package store_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/axsched/ax/host/internal/ax"
	"github.com/axsched/ax/host/internal/store"
	"github.com/axsched/ax/host/internal/store/mysqltest"
	"github.com/axsched/ax/host/internal/store/storetest"
)

// lossy is a store whose connections can be cut.
type lossy struct {
	*store.Store
	*testing.T
	proxy *mysqltest.Proxy
	ids   *ax.IDs
	task  ax.TaskRow
	steps int // of the plan of task
}

var lossyStart = time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC)

func newLossy(t *testing.T, o store.Options) *lossy {
	dsn := mysqltest.DSN(t)
	storetest.OpenWith(t, store.Options{DSN: dsn, PartitionDays: 1})
	l := &lossy{T: t, ids: ax.NewIDs(1), task: storetest.Task("a", "t", lossyStart)}
	l.proxy, o.DSN = mysqltest.NewProxy(t, dsn)
	o.DSN += "?io_timeout=500ms"
	l.Store = storetest.OpenWith(t, o)
	err := l.ApplyTasks(t.Context(), store.ApplyParams{App: "a", Now: lossyStart, Upsert: []ax.TaskRow{l.task}})
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func (l *lossy) due(step int) time.Time { return lossyStart.Add(time.Duration(step) * time.Second) }

// step is a compare-and-set of the plan: done twice, the second one is refused.
func (l *lossy) step() *ax.Plan {
	p := &ax.Plan{Task: l.task.ID, From: l.due(l.steps), To: l.due(l.steps + 1), Prev: l.due(l.steps)}
	l.steps++
	return p
}

func (l *lossy) instance() ax.Instance {
	now := time.Now()
	return ax.Instance{
		ID: ax.InstanceID(l.ids.Next(now)), App: "a", TaskID: l.task.ID, TaskName: "t", ScheduledAt: l.due(l.steps),
		Kind: ax.KindScheduled, Status: ax.StatusRunning, Fence: 1, CreatedAt: now, StartedAt: now,
	}
}

// send submits a change, and waits until it is answered.
func (l *lossy) send(c ax.Change) (applied bool, err error) {
	done := make(chan struct{})
	c.Done = func(a bool, e error) { applied, err = a, e; close(done) }
	l.Submit(c)
	<-done
	return applied, err
}

// shapes are changes that leave different things behind by which they can be
// known again.
var shapes = map[string]func(*lossy) ax.Change{
	"plan, instance and event": func(l *lossy) ax.Change {
		i := l.instance()
		e := ax.Event{ID: l.ids.Next(time.Now()), InstanceID: i.ID, At: time.Now(), Stage: ax.StageClaimed}
		return ax.Change{Plan: l.step(), Insert: []ax.Instance{i}, Events: []ax.Event{e}}
	},
	"plan and instance": func(l *lossy) ax.Change {
		i := l.instance()
		return ax.Change{Plan: l.step(), Insert: []ax.Instance{i}}
	},
	"plan alone": func(l *lossy) ax.Change { return ax.Change{Plan: l.step()} },
	"alert alone": func(l *lossy) ax.Change {
		return ax.Change{Alerts: []ax.AlertEvent{{ID: l.ids.Next(time.Now()), App: "a", TaskID: l.task.ID, Subject: "t", Event: "failed", Count: 1, At: time.Now()}}}
	},
	"move alone": func(l *lossy) ax.Change {
		i := l.instance()
		i.ScheduledAt = i.ScheduledAt.Add(time.Duration(l.ids.Next(time.Now()) % 1_000_000_000_000))
		if applied, err := l.send(ax.Change{Insert: []ax.Instance{i}}); !applied || err != nil {
			l.Errorf("insert: %v, %v", applied, err)
		}
		m := ax.Move{From: i.Status, Fence: i.Fence, New: i}
		m.New.Status = ax.StatusSuccess
		return ax.Change{Move: &m}
	},
}

// TestLostCommit: a COMMIT whose answer is lost is told from one that was not
// done, whatever was in it, and nothing is written twice.
func TestLostCommit(t *testing.T) {
	t.Parallel()
	for name, fate := range map[string]mysqltest.Fate{
		"cut before": mysqltest.CutBefore, "cut after": mysqltest.CutAfter,
		"cut in the middle": mysqltest.CutDuring, "no answer": mysqltest.NoAnswer,
	} {
		for shape, change := range shapes {
			t.Run(name+", "+shape, func(t *testing.T) {
				t.Parallel()
				l := newLossy(t, store.Options{})
				c := change(l)
				l.proxy.Commits(fate)
				if applied, err := l.send(c); !applied || err != nil {
					t.Errorf("%v, %v; want it applied", applied, err)
				}
				if c.Alerts != nil {
					return // nothing in it is conditional
				}
				if applied, err := l.send(c); applied || err != nil {
					t.Errorf("the same again: %v, %v; want it refused", applied, err)
				}
				l.check()
			})
		}
	}
}

// check compares the database with what was answered.
func (l *lossy) check() {
	l.Helper()
	if l.proxy.Left() > 0 {
		l.Errorf("%d commits were not seen by the proxy", l.proxy.Left())
	}
	row, err := l.Task("a", "t")
	if err != nil {
		l.Fatal(err)
	}
	if !row.NextAt.Equal(l.due(l.steps)) {
		l.Errorf("the plan is at %s after %d steps", row.NextAt, l.steps)
	}
}

func (l *lossy) Task(app, name string) (ax.TaskRow, error) {
	return l.Store.Task(l.Context(), app, name)
}

// TestLostCommits cuts at random, with many changes under way, and one store
// after the other.
func TestLostCommits(t *testing.T) {
	t.Parallel()
	l := newLossy(t, store.Options{MaxBatch: 8})
	random := rand.New(rand.NewPCG(1, 2))
	names := []string{"plan, instance and event", "plan and instance", "plan alone"}
	const n = 400
	type answer struct {
		n       int
		applied bool
		err     error
	}
	answers := make(chan answer, n)
	for k := range n {
		if k%4 == 0 {
			l.proxy.Commits(mysqltest.Fate(random.IntN(int(mysqltest.CutDuring)+1)), mysqltest.Pass)
		}
		c := shapes[names[random.IntN(len(names))]](l)
		c.Done = func(applied bool, err error) { answers <- answer{k, applied, err} }
		l.Submit(c)
	}
	for range n {
		if a := <-answers; !a.applied || a.err != nil {
			t.Errorf("change %d: %v, %v", a.n, a.applied, a.err)
		}
	}
	row, err := l.Task("a", "t")
	if err != nil || !row.NextAt.Equal(l.due(n)) {
		t.Errorf("the plan is at %s, want %s (%v)", row.NextAt, l.due(n), err)
	}
	if st := l.Stats(); st.Applied != n || st.Refused != 0 || st.Failed != 0 || st.Retries == 0 {
		t.Errorf("%+v", st)
	}
}

// TestCommitHangs: the server does not learn that the connection is gone and
// keeps the transaction open. Nobody can say what will become of it until it
// ends; then it was not done, and is done again.
func TestCommitHangs(t *testing.T) {
	t.Parallel()
	l := newLossy(t, store.Options{})
	l.proxy.Commits(mysqltest.Hold)
	answered := make(chan error, 1)
	c := shapes["plan, instance and event"](l)
	c.Done = func(applied bool, err error) {
		if err == nil && !applied {
			err = errors.New("refused")
		}
		answered <- err
	}
	l.Submit(c)
	select {
	case err := <-answered:
		t.Errorf("answered while the transaction was open: %v", err)
	case <-time.After(time.Second): // that it does not answer shows only with time
	}
	l.proxy.Release()
	if err := <-answered; err != nil {
		t.Error(err)
	}
	l.check()
}

// TestGoneClientLetsGo: a machine that is gone cannot tell the server so. Its
// open transaction does not keep others away for longer than it takes to give
// its host up for dead.
func TestGoneClientLetsGo(t *testing.T) {
	t.Parallel()
	l := newLossy(t, store.Options{})
	l.proxy.Commits(mysqltest.Hold)
	begun := time.Now()
	applied, err := l.send(shapes["plan, instance and event"](l))
	if took := time.Since(begun); !applied || err != nil || took > 20*time.Second {
		t.Errorf("after %s: %v, %v", took, applied, err)
	}
	l.check()
}

// TestCommitUncertain: the database stays away after a lost answer. What was
// told says that nobody knows.
func TestCommitUncertain(t *testing.T) {
	t.Parallel()
	l := newLossy(t, store.Options{RetryFor: 300 * time.Millisecond})
	l.proxy.Commits(mysqltest.HoldAway)
	_, err := l.send(shapes["plan and instance"](l))
	if !errors.Is(err, store.ErrUnavailable) || !errors.Is(err, store.ErrUncertain) {
		t.Errorf("got %v, want ErrUnavailable and ErrUncertain", err)
	}
	l.proxy.Away(false)
	l.proxy.Release()
	l.steps-- // it was not committed
	if applied, err := l.send(shapes["plan alone"](l)); !applied || err != nil {
		t.Errorf("afterwards: %v, %v", applied, err)
	}
	l.check()
}

// TestConnectionLost: the database goes away in the middle and comes back.
func TestConnectionLost(t *testing.T) {
	t.Parallel()
	troubled := make(lines, 100)
	l := newLossy(t, store.Options{Log: hclog.New(&hclog.LoggerOptions{Output: troubled, Level: hclog.Warn})})
	if applied, err := l.send(shapes["plan alone"](l)); !applied || err != nil {
		t.Fatal(applied, err)
	}
	l.proxy.Away(true)
	_, err := l.Tasks(t.Context(), "a")
	if !errors.Is(err, store.ErrUnavailable) || !strings.Contains(err.Error(), "does not answer") {
		t.Errorf("reading while it is away: %v", err)
	}
	answered := make(chan string, 1)
	c := shapes["plan and instance"](l)
	c.Done = func(applied bool, err error) { answered <- fmt.Sprint(applied, err) }
	l.Submit(c)
	<-troubled // refused at least once
	l.proxy.Away(false)
	if got := <-answered; got != "true <nil>" {
		t.Error(got)
	}
	l.check()
}
