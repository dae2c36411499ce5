package dispatch

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/axsched/ax/host/internal/ax"
)

const (
	// firstPause and lastPause bound the waits for room, or for the database.
	firstPause = 200 * time.Millisecond
	lastPause  = 5 * time.Second
	// grudge is how long a node that did not confirm is taken last.
	grudge = time.Minute
)

// Writer is the group-commit writer of the store.
type Writer interface{ Submit(ax.Change) }

// AgainConfig is what an Again needs.
type AgainConfig struct {
	Dispatcher *Dispatcher
	Writer     Writer
	IDs        *ax.IDs
	Log        hclog.Logger
	// Node is the name of this host.
	Node string
	// Moved is told of the row of an instance that has another node now, before
	// it starts there; nil for nobody. It must not block.
	Moved func(ax.Instance)
}

// Again sends attempts that a node did not confirm to the next one. Make one
// with NewAgain.
type Again struct {
	cfg  AgainConfig
	ctx  context.Context
	quit context.CancelFunc
	busy sync.WaitGroup

	mu     sync.Mutex
	closed bool
	failed map[string]time.Time // when nodes did not confirm, by their names
}

// NewAgain returns an Again that has nothing to do yet.
func NewAgain(cfg AgainConfig) *Again {
	g := &Again{cfg: cfg, failed: map[string]time.Time{}}
	g.ctx, g.quit = context.WithCancel(context.Background())
	return g
}

// Stop ends the search. What has no node then stays DISPATCHED, for whoever
// schedules its task next.
func (g *Again) Stop() {
	g.mu.Lock()
	g.closed = true
	g.mu.Unlock()
	g.quit()
	g.busy.Wait()
}

// Undelivered finds another node for an attempt. Its row moves there with a
// higher fence, by a conditional update: if the first node has the attempt after
// all, either it has claimed it, and nothing happens here, or its claim will
// fail. It does not block.
func (g *Again) Undelivered(a ax.Attempt, why error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		return
	}
	now := time.Now()
	for name, at := range g.failed {
		if now.Sub(at) > grudge {
			delete(g.failed, name)
		}
	}
	g.failed[a.Instance.Node] = now
	g.busy.Go(func() { g.search(a, why) })
}

func (g *Again) avoid() []string {
	g.mu.Lock()
	defer g.mu.Unlock()
	names := make([]string, 0, len(g.failed))
	for name := range g.failed {
		names = append(names, name)
	}
	return names
}

// search tries until the attempt has another node, or is somebody else's affair.
func (g *Again) search(a ax.Attempt, why error) {
	log := g.cfg.Log.With("instance_id", a.Instance.ID, "task", a.Task.Name)
	log.Warn("a node did not confirm an attempt, looking for another one", "node", a.Instance.Node, "error", why)
	wish := func() Wish { return Wish{Avoid: g.avoid()} }
	if a.Instance.Shards > 0 {
		wish = func() Wish { return Wish{Only: a.Instance.Node} }
	}
	for pause := firstPause; ; pause = min(2*pause, lastPause) {
		if a.Instance.Shards > 0 && !g.cfg.Dispatcher.Takes(a.Instance.Owner) {
			return // who schedules the task finds that out, and waits for the node
		}
		place := g.cfg.Dispatcher.ReserveFor(a.Task, time.Time{}, wish())
		if place.Room != ax.RoomNone {
			err := g.move(a, place, why)
			if err == nil {
				return
			}
			log.Error("cannot move an attempt to another node, will try again", "in", pause, "error", err)
		}
		timer := time.NewTimer(pause)
		select {
		case <-timer.C:
		case <-g.ctx.Done():
			timer.Stop()
			return
		}
	}
}

// move writes the attempt's new place and starts it there. If the row has moved
// on by itself that is the end of it.
func (g *Again) move(a ax.Attempt, place ax.Place, why error) error {
	now, old := time.Now(), a.Instance
	inst := old.Dispatch(place.Node, place.Incarnation)
	if place.Room.Claims() {
		inst = old.Claim(place.Node, place.Incarnation, now)
	}
	type answer struct {
		applied bool
		err     error
	}
	answered := make(chan answer, 1)
	g.cfg.Writer.Submit(ax.Change{
		Move: &ax.Move{From: old.Status, Fence: old.Fence, New: inst},
		Events: []ax.Event{
			g.event(&old, now, ax.StageDispatchRetry, "warn", fmt.Sprintf("%s did not confirm: %v", old.Node, why)),
			g.event(&inst, now, ax.StageRedispatched, "info", fmt.Sprintf("goes to %s with fence %d", place.Node, inst.Fence)),
		},
		Done: func(applied bool, err error) { answered <- answer{applied, err} },
	})
	got := <-answered
	if !got.applied {
		g.cfg.Dispatcher.Release(a.Task, place)
		return got.err
	}
	if g.cfg.Moved != nil {
		g.cfg.Moved(inst)
	}
	g.cfg.Dispatcher.Start(ax.Attempt{Task: a.Task, Instance: inst}, place)
	return nil
}

func (g *Again) event(inst *ax.Instance, at time.Time, stage ax.Stage, level, text string) ax.Event {
	return ax.Event{
		ID: g.cfg.IDs.Next(at), InstanceID: inst.ID, TaskID: inst.TaskID, At: at,
		Attempt: inst.Attempt, Stage: stage, Level: level, Node: g.cfg.Node, Text: text,
	}
}
