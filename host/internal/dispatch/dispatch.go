// Package dispatch picks the node that makes an attempt, and sees to it that the
// attempt gets there.
//
// A node is picked in three steps: who cannot take the task is left out (labels,
// components, hosts that drain or have been silent); the task's strategy puts the
// rest in order; and the first that promises room is taken. The promise of this
// host is kept by its pool. That of another host is a guess, by a ledger of what
// this host has sent there since the other one told of its load: the other one
// may be full all the same, and then takes its time to confirm.
//
// What a node does not confirm in time goes to the next one with a higher fence,
// so that of two nodes that both have it only one can claim it.
package dispatch

import (
	"slices"
	"sync"
	"time"

	"github.com/axsched/ax/host/internal/ax"
)

// Node is a host that can take attempts on.
type Node interface {
	// Load is how many attempts run or wait there.
	Load() int
	// Reserve promises room for an attempt that begins at a time, or now if
	// that is past.
	Reserve(task *ax.Task, at time.Time) ax.Room
	Release(*ax.Task, ax.Room)
	// Start makes an attempt with a reserved place. It does not block.
	Start(ax.Attempt, ax.Room)
	// Cancel reports whether the instance runs there. It does not block.
	Cancel(id ax.InstanceID, cause error) bool
	// Holds reports whether an attempt of the instance runs or waits there.
	Holds(id ax.InstanceID) bool
	// Settle writes the end of an attempt that nobody runs any more.
	Settle(ax.Attempt, ax.Outcome)
}

// Dispatcher hands attempts to nodes. It is safe for concurrent use.
type Dispatcher struct {
	local  string // incarnation
	settle Node

	mu     sync.RWMutex // held for reading while a place is reserved
	list   []Member     // the local one first; its elements never change
	former []Member     // that hold places: these must come back to them

	turnsMu sync.Mutex
	turns   map[ax.TaskID]uint64 // of tasks that go round
}

// holder is a Node that knows how many of its places are promised and not used
// yet.
type holder interface{ Held() int }

// New returns a Dispatcher over the host itself and other nodes, if any.
func New(local Member, others ...Member) *Dispatcher {
	d := &Dispatcher{local: local.Incarnation, settle: local.Node, turns: map[ax.TaskID]uint64{}}
	d.Update(local, others...)
	return d
}

// Update says which nodes there are from now on. A Node must be the same for as
// long as its incarnation is named.
func (d *Dispatcher) Update(local Member, others ...Member) {
	list := append([]Member{local}, others...)
	d.mu.Lock()
	defer d.mu.Unlock()
	var former []Member
	for _, m := range slices.Concat(d.list, d.former) {
		held, ok := m.Node.(holder)
		if find(list, m.Incarnation) == nil && ok && held.Held() > 0 {
			former = append(former, m)
		}
	}
	d.list, d.former = list, former
}

func find(list []Member, incarnation string) *Member {
	i := slices.IndexFunc(list, func(m Member) bool { return m.Incarnation == incarnation })
	if i < 0 {
		return nil
	}
	return &list[i]
}

// node returns who gave a place, nil if there is no such node.
func (d *Dispatcher) node(p ax.Place) Node {
	d.mu.RLock()
	defer d.mu.RUnlock()
	for _, list := range [][]Member{d.list, d.former} {
		if m := find(list, p.Incarnation); m != nil {
			return m.Node
		}
	}
	return nil
}

func (d *Dispatcher) members() []Member {
	d.mu.RLock()
	defer d.mu.RUnlock()
	return d.list
}

// Reserve promises room for an attempt that begins at a time, or now if that is
// past, on the node that the task's strategy picks; RoomNone if no node has any.
func (d *Dispatcher) Reserve(task *ax.Task, at time.Time) ax.Place {
	return d.ReserveFor(task, at, Wish{})
}

// ReserveNear is Reserve on a node if that has room, else on another one.
func (d *Dispatcher) ReserveNear(task *ax.Task, at time.Time, node string) ax.Place {
	return d.ReserveFor(task, at, Wish{Prefer: node})
}

// ReserveOn is Reserve on one node only.
func (d *Dispatcher) ReserveOn(task *ax.Task, at time.Time, node string) ax.Place {
	return d.ReserveFor(task, at, Wish{Only: node})
}

// Nodes returns the names of the nodes that can take the task, sorted.
func (d *Dispatcher) Nodes(task *ax.Task) []string {
	var names []string
	for _, m := range able(d.members(), task) {
		names = append(names, m.Name)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// ReserveFor is Reserve with a wish.
func (d *Dispatcher) ReserveFor(task *ax.Task, at time.Time, wish Wish) ax.Place {
	d.mu.RLock()
	defer d.mu.RUnlock()
	fit := able(d.list, task)
	if wish.Only != "" {
		fit = slices.DeleteFunc(fit, func(m Member) bool { return m.Name != wish.Only })
	}
	if len(fit) == 1 { // the usual single host
		return reserve(&fit[0], task, at)
	}
	all := make([]candidate, len(fit))
	for i, m := range fit {
		all[i] = candidate{Member: m, load: m.Node.Load()}
	}
	c := choice{task: task.ID, local: d.local, wish: wish}
	if task.Strategy == ax.StrategyRoundRobin {
		c.turn = d.turn(task.ID)
	}
	order(task.Strategy, c, all)
	for i := range all {
		if p := reserve(&all[i].Member, task, at); p.Room != ax.RoomNone {
			return p
		}
	}
	return ax.Place{}
}

func reserve(m *Member, task *ax.Task, at time.Time) ax.Place {
	room := m.Node.Reserve(task, at)
	if room == ax.RoomNone {
		return ax.Place{}
	}
	return ax.Place{Node: m.Name, Incarnation: m.Incarnation, Room: room}
}

func (d *Dispatcher) turn(task ax.TaskID) uint64 {
	d.turnsMu.Lock()
	defer d.turnsMu.Unlock()
	d.turns[task]++
	return d.turns[task] - 1
}

// Able tells whether any node can take the task, with or without room: nil, or
// an ErrNoNode that says for each why not.
func (d *Dispatcher) Able(task *ax.Task) error {
	list := d.members()
	if len(able(list, task)) > 0 {
		return nil
	}
	return explain(list, task)
}

// Release gives a place back.
func (d *Dispatcher) Release(task *ax.Task, p ax.Place) {
	if n := d.node(p); n != nil {
		n.Release(task, p.Room)
	}
}

// Start makes the attempt at its place. It does not block.
func (d *Dispatcher) Start(a ax.Attempt, p ax.Place) {
	if n := d.node(p); n != nil { // it holds the place, so it is known
		n.Start(a, p.Room)
	}
}

// Cancel asks an attempt to end, wherever it runs, and reports whether it runs
// anywhere.
func (d *Dispatcher) Cancel(id ax.InstanceID, cause error) bool {
	for _, m := range d.members() {
		if m.Node.Cancel(id, cause) {
			return true
		}
	}
	return false
}

// Holds reports whether an attempt of the instance runs or waits on this host.
func (d *Dispatcher) Holds(id ax.InstanceID) bool { return d.settle.Holds(id) }

// Takes reports whether an incarnation is there for attempts: what is DISPATCHED
// to it will be claimed.
func (d *Dispatcher) Takes(incarnation string) bool {
	m := find(d.members(), incarnation)
	return m != nil && (m.Away == "" || incarnation == d.local)
}

// Settle writes the end of an attempt that nobody runs any more.
func (d *Dispatcher) Settle(a ax.Attempt, out ax.Outcome) { d.settle.Settle(a, out) }
