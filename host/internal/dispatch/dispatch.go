// Package dispatch picks the node that makes an attempt, and sees to it that the
// attempt gets there.
package dispatch

import (
	"cmp"
	"slices"
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
	Start(ax.Attempt, ax.Room)
	// Cancel reports whether the instance runs there.
	Cancel(id ax.InstanceID, cause error) bool
	// Settle writes the end of an attempt that nobody runs any more.
	Settle(ax.Attempt, ax.Outcome)
}

// Member is a node under its name.
type Member struct {
	Name        string
	Incarnation string
	Node        Node
}

// Dispatcher hands attempts to nodes.
type Dispatcher struct {
	local   Member
	members map[string]Node
	list    []Member
}

// New returns a Dispatcher over the host itself and other nodes, if any.
func New(local Member, others ...Member) *Dispatcher {
	d := &Dispatcher{local: local, members: map[string]Node{}, list: append([]Member{local}, others...)}
	for _, m := range d.list {
		d.members[m.Name] = m.Node
	}
	return d
}

// Reserve promises room for an attempt on the node with the least load that
// has any; the local one wins a tie, since it needs no network.
func (d *Dispatcher) Reserve(task *ax.Task, at time.Time) ax.Place {
	for _, m := range byLoad(d.list) {
		if room := m.Node.Reserve(task, at); room != ax.RoomNone {
			return ax.Place{Node: m.Name, Incarnation: m.Incarnation, Room: room}
		}
	}
	return ax.Place{}
}

// Release gives a place back.
func (d *Dispatcher) Release(task *ax.Task, p ax.Place) { d.members[p.Node].Release(task, p.Room) }

// Start makes the attempt at its place. It does not block.
func (d *Dispatcher) Start(a ax.Attempt, p ax.Place) { d.members[p.Node].Start(a, p.Room) }

// Cancel asks an attempt to end, wherever it runs, and reports whether it runs
// anywhere.
func (d *Dispatcher) Cancel(id ax.InstanceID, cause error) bool {
	for _, m := range d.list {
		if m.Node.Cancel(id, cause) {
			return true
		}
	}
	return false
}

// Settle writes the end of an attempt that nobody runs any more.
func (d *Dispatcher) Settle(a ax.Attempt, out ax.Outcome) { d.local.Node.Settle(a, out) }

// byLoad orders nodes by their load, without a new slice for the usual single
// one.
func byLoad(nodes []Member) []Member {
	if len(nodes) < 2 {
		return nodes
	}
	sorted := slices.Clone(nodes)
	slices.SortStableFunc(sorted, func(a, b Member) int { return cmp.Compare(a.Node.Load(), b.Node.Load()) })
	return sorted
}
