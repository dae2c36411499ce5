package dispatch

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/axsched/ax/host/internal/ax"
)

var (
	errFull = errors.New("full")
	errGone = errors.New("gone")
)

// far is another host as its sender sees it.
type far struct {
	mu       sync.Mutex
	err      error // what Dispatch answers
	hangs    bool
	received []ax.Attempt
	canceled []string
}

func (f *far) Dispatch(ctx context.Context, a ax.Attempt) error {
	f.mu.Lock()
	hangs, err := f.hangs, f.err
	f.mu.Unlock()
	if hangs {
		<-ctx.Done()
		return ctx.Err()
	}
	if err == nil {
		f.mu.Lock()
		f.received = append(f.received, a)
		f.mu.Unlock()
	}
	return err
}

func (f *far) Cancel(_ context.Context, id ax.InstanceID, fence int64, cause error) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.canceled = append(f.canceled, fmt.Sprintf("%d fence %d: %v", id, fence, cause))
	return f.err
}

// rows is a table of instances that a writer changes by compare-and-set.
type rows struct {
	mu     sync.Mutex
	all    map[ax.InstanceID]ax.Instance
	events []ax.Event
	errs   int // writes that will fail
}

func (w *rows) Submit(c ax.Change) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.errs > 0 {
		w.errs--
		go c.Done(false, ax.ErrUnavailable)
		return
	}
	row, ok := w.all[c.Move.New.ID]
	applied := ok && row.Status == c.Move.From && row.Fence == c.Move.Fence
	if applied {
		w.all[c.Move.New.ID] = c.Move.New
		w.events = append(w.events, c.Events...)
	}
	go c.Done(applied, nil)
}

// cluster is this host a, with others as Remotes.
type cluster struct {
	*Dispatcher
	again   *Again
	rows    *rows
	far     map[string]*far
	remotes map[string]*Remote
	freed   chan struct{}
}

func newCluster(local *node, others ...string) *cluster {
	c := &cluster{
		rows: &rows{all: map[ax.InstanceID]ax.Instance{}}, far: map[string]*far{},
		remotes: map[string]*Remote{}, freed: make(chan struct{}, 100),
	}
	local.runs = map[ax.InstanceID]bool{}
	here := Member{Name: "a", Incarnation: "i-a", Workers: 1, Node: local}
	c.Dispatcher = New(here)
	c.again = NewAgain(AgainConfig{Dispatcher: c.Dispatcher, Writer: c.rows, IDs: ax.NewIDs(1), Log: hclog.NewNullLogger(), Node: "a"})
	var members []Member
	for _, name := range others {
		c.far[name] = &far{}
		c.remotes[name] = NewRemote(RemoteConfig{
			Sender: c.far[name], Full: func(err error) bool { return errors.Is(err, errFull) },
			Undelivered: c.again.Undelivered, CancelFailed: func(ax.InstanceID, error) {},
			Freed: func() { c.freed <- struct{}{} }, Now: time.Now, Settle: local.Settle,
		}, ax.Node{Name: name, NodeFigures: ax.NodeFigures{Workers: 2, Queue: 2}})
		members = append(members, Member{Name: name, Incarnation: "i-" + name, Workers: 2, Node: c.remotes[name]})
	}
	c.Update(here, members...)
	return c
}

func (c *cluster) stop() {
	for _, r := range c.remotes {
		r.Stop()
	}
	c.again.Stop()
}

// start dispatches an instance as the engine does.
func (c *cluster) start(t *testing.T, id ax.InstanceID, task *ax.Task, wish Wish) string {
	t.Helper()
	place := c.ReserveFor(task, time.Time{}, wish)
	if place.Room == ax.RoomNone {
		return ""
	}
	inst := ax.Instance{ID: id, Status: ax.StatusPending}.Dispatch(place.Node, place.Incarnation)
	c.rows.mu.Lock()
	c.rows.all[id] = inst
	c.rows.mu.Unlock()
	c.Start(ax.Attempt{Task: task, Instance: inst}, place)
	return place.Node
}

func (c *cluster) row(id ax.InstanceID) ax.Instance {
	c.rows.mu.Lock()
	defer c.rows.mu.Unlock()
	return c.rows.all[id]
}

func TestRemoteIsBounded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(&node{}, "b") // nothing has room here
		defer c.stop()
		task := &ax.Task{ID: 1}
		for id := range ax.InstanceID(4) {
			if got := c.start(t, id, task, Wish{}); got != "b" {
				t.Fatalf("placed on %q", got)
			}
		}
		synctest.Wait()
		if got := c.start(t, 9, task, Wish{}); got != "" {
			t.Fatalf("a fifth in 4 places, on %q", got)
		}
		b := c.remotes["b"]
		if b.Load() != 4 || len(c.far["b"].received) != 4 || b.Held() != 0 {
			t.Errorf("load %d, %d received, %d held", b.Load(), len(c.far["b"].received), b.Held())
		}
		if len(c.freed) != 0 {
			t.Error("told of room that is not there")
		}
		b.Ended(2)
		if len(c.freed) != 1 || c.start(t, 9, task, Wish{}) != "b" {
			t.Error("nobody was told of the place that came free")
		}
		synctest.Wait()
		if !c.Cancel(9, errGone) || c.Cancel(2, errGone) || c.Cancel(77, errGone) {
			t.Error("Cancel must find what was sent and has not ended, and only that")
		}
		synctest.Wait()
		if got := strings.Join(c.far["b"].canceled, ", "); got != "9 fence 1: gone" {
			t.Errorf("canceled %s", got)
		}
	})
}

// TestNotConfirmed: an attempt that a node does not confirm in time goes to the
// next one with a higher fence, and neither back nor to a third.
func TestNotConfirmed(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(&node{}, "b", "c")
		defer c.stop()
		c.far["b"].hangs = true
		if got := c.start(t, 1, &ax.Task{ID: 1}, Wish{Prefer: "b"}); got != "b" {
			t.Fatalf("placed on %q", got)
		}
		time.Sleep(ConfirmTimeout - time.Second)
		synctest.Wait()
		if row := c.row(1); row.Node != "b" || row.Fence != 1 {
			t.Errorf("moved to %s before its time", row.Node)
		}
		time.Sleep(2 * time.Second)
		synctest.Wait()
		row := c.row(1)
		if row.Node != "c" || row.Owner != "i-c" || row.Fence != 2 || row.Status != ax.StatusDispatched || row.Attempt != 0 {
			t.Errorf("row %+v", row)
		}
		if got := c.far["c"].received; len(got) != 1 || got[0].Instance.Fence != 2 {
			t.Errorf("c received %+v", got)
		}
		if len(c.rows.events) != 2 || c.rows.events[0].Stage != ax.StageDispatchRetry || c.rows.events[1].Stage != ax.StageRedispatched {
			t.Errorf("events %+v", c.rows.events)
		}
		if c.remotes["b"].Load() != 0 || c.remotes["c"].Load() != 1 {
			t.Errorf("loads %d and %d, want 0 and 1", c.remotes["b"].Load(), c.remotes["c"].Load())
		}
	})
}

// TestClaimedAfterAll: the confirmation was lost, and the node has claimed the
// attempt. Then it stays there.
func TestClaimedAfterAll(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(&node{}, "b", "c")
		defer c.stop()
		c.far["b"].hangs = true
		c.start(t, 1, &ax.Task{ID: 1, ConfirmTimeout: 3 * time.Second}, Wish{Prefer: "b"})
		c.rows.mu.Lock()
		c.rows.all[1] = c.rows.all[1].Claim("b", "i-b", time.Now())
		c.rows.mu.Unlock()
		time.Sleep(10 * time.Second)
		synctest.Wait()
		if row := c.row(1); row.Node != "b" || row.Status != ax.StatusRunning || len(c.far["c"].received) != 0 {
			t.Errorf("row %+v, c received %d", row, len(c.far["c"].received))
		}
		if c.remotes["c"].Load() != 0 {
			t.Error("the place on c was not given back")
		}
	})
}

// TestNoRoomAnywhere: the search goes on until somebody has room and the
// database takes the move.
func TestNoRoomAnywhere(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		local := &node{}
		c := newCluster(local, "b")
		defer c.stop()
		c.far["b"].err = errFull
		c.start(t, 1, &ax.Task{ID: 1}, Wish{})
		time.Sleep(time.Minute)
		synctest.Wait()
		if row := c.row(1); row.Fence != 1 {
			t.Fatalf("moved to %s", row.Node)
		}
		if c.start(t, 2, &ax.Task{ID: 1}, Wish{}) != "" {
			t.Error("placed on a node that has just said that it is full")
		}
		c.rows.mu.Lock()
		c.rows.errs = 2
		c.rows.mu.Unlock()
		c.far["b"].mu.Lock()
		c.far["b"].err = nil
		c.far["b"].mu.Unlock()
		c.remotes["b"].Hear(ax.Node{BeatAt: time.Now(), NodeFigures: ax.NodeFigures{Workers: 2, Queue: 2}})
		time.Sleep(3 * lastPause)
		synctest.Wait()
		if row := c.row(1); row.Node != "b" || row.Fence != 2 || len(c.far["b"].received) != 1 {
			t.Errorf("row %+v, received %d", row, len(c.far["b"].received))
		}
	})
}

// TestNodeGoes while an attempt is under way to it, and while a place there is
// held: neither is lost.
func TestNodeGoes(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(&node{}, "b", "c")
		defer c.stop()
		c.far["b"].hangs = true
		task := &ax.Task{ID: 1}
		c.start(t, 1, task, Wish{Prefer: "b"})
		held := c.ReserveFor(task, time.Time{}, Wish{Prefer: "b"})
		b := c.remotes["b"]
		c.Update(Member{Name: "a", Incarnation: "i-a", Node: &node{}}, Member{Name: "c", Incarnation: "i-c", Node: c.remotes["c"]})
		b.Stop()
		inst := ax.Instance{ID: 2}.Dispatch(held.Node, held.Incarnation)
		c.rows.mu.Lock()
		c.rows.all[2] = inst
		c.rows.mu.Unlock()
		c.Start(ax.Attempt{Task: task, Instance: inst}, held)
		time.Sleep(time.Second)
		synctest.Wait()
		for id := range ax.InstanceID(2) {
			if row := c.row(id + 1); row.Node != "c" || row.Fence != 2 {
				t.Errorf("instance %d: %+v", id+1, row)
			}
		}
		if b.Load() != 0 {
			t.Errorf("b still holds %d", b.Load())
		}
	})
}
