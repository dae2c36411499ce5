package cluster

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/axsched/ax/host/internal/ax"
)

// database is a table of hosts with a clock of its own, which may be away for
// some of them.
type database struct {
	mu     sync.Mutex
	nodes  map[string]ax.Node
	ahead  time.Duration
	away   map[string]bool // by incarnation
	asked  int
	writes int
}

var errAway = errors.New("away")

func newDatabase() *database {
	return &database{nodes: map[string]ax.Node{}, away: map[string]bool{}}
}

func (d *database) now() time.Time { return time.Now().Add(d.ahead) }

func (d *database) change(f func()) {
	d.mu.Lock()
	defer d.mu.Unlock()
	f()
}

// link is the way of one host to the database.
type link struct {
	*database
	id string
}

func (l link) reach() error {
	if l.away[l.id] {
		return errAway
	}
	return nil
}

func (l link) RegisterNode(_ context.Context, n ax.Node) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	n.BeatAt = l.now()
	l.nodes[n.Incarnation] = n
	return l.reach()
}

func (l link) Heartbeat(_ context.Context, n ax.Node) (time.Time, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.reach(); err != nil {
		return time.Time{}, err
	}
	row, ok := l.nodes[n.Incarnation]
	if !ok {
		return time.Time{}, ax.ErrNotFound
	}
	l.writes++
	row.BeatAt, row.Draining, row.NodeFigures = l.now(), n.Draining, n.NodeFigures
	l.nodes[n.Incarnation] = row
	return row.BeatAt, nil
}

func (l link) Nodes(context.Context, string) ([]ax.Node, time.Time, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.asked++
	var all []ax.Node
	for _, n := range l.nodes {
		all = append(all, n)
	}
	return all, l.now(), l.reach()
}

func (l link) RemoveNode(_ context.Context, id string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.nodes, id)
	return l.reach()
}
