package host

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/axsched/ax/host/internal/api"
	"github.com/axsched/ax/host/internal/ax"
	"github.com/axsched/ax/host/internal/cluster"
	"github.com/axsched/ax/host/internal/peer"
	"github.com/axsched/ax/host/internal/spelling"
)

// ListNodes lists the hosts of the app as this one sees them, without former lives.
func (b backend) ListNodes(context.Context) (api.NodeList, error) {
	s := b.h.fleet.view.Snapshot()
	list := api.NodeList{Nodes: make([]api.NodeView, 0, len(s.Members))}
	share := map[string]int{}
	for bucket := range ax.Buckets {
		if owner, ok := s.Owners.Owner(bucket); ok {
			share[owner.Incarnation]++
		}
	}
	for i := range s.Members {
		if former(&s.Members[i], s) {
			continue
		}
		v := nodeView(&s.Members[i], s)
		if v.Self { // its row is some seconds old
			v.Running, v.Queued = b.h.executor.Counts()
			v.ClockOffsetSeconds = b.h.fleet.view.Offset().Seconds()
		}
		v.Share = float64(share[v.Incarnation]) / ax.Buckets
		list.Nodes = append(list.Nodes, v)
	}
	slices.SortFunc(list.Nodes, func(a, b api.NodeView) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), a.StartedAt.Compare(b.StartedAt), cmp.Compare(a.Incarnation, b.Incarnation))
	})
	return list, nil
}

func nodeView(m *cluster.Member, s *cluster.Snapshot) api.NodeView {
	return api.NodeView{
		Name: m.Name, Incarnation: m.Incarnation, Self: m.Incarnation == s.Self, State: nodeState(m),
		Address: m.Address, Cluster: m.Cluster, Version: m.Version, PID: m.PID, StartedAt: m.StartedAt,
		BeatAt: m.BeatAt, SilenceSeconds: m.Silence.Seconds(),
		Running: m.Running, Queued: m.Queued, Workers: m.Workers, Queue: m.Queue,
		CPU: m.CPU, MemoryBytes: m.Memory,
		Labels: m.Labels, ConfigHash: m.ConfigHash, ClockOffsetSeconds: m.ClockOffset.Seconds(),
	}
}

// former reports whether a host is dead and has been started anew since.
func former(m *cluster.Member, s *cluster.Snapshot) bool {
	return m.Standing == cluster.Dead && slices.ContainsFunc(s.Members, func(other cluster.Member) bool {
		return other.Name == m.Name && other.StartedAt.After(m.StartedAt)
	})
}

// nodeState sums up how a host looks, the gravest thing first.
func nodeState(m *cluster.Member) api.NodeState {
	switch {
	case m.Standing == cluster.Dead:
		return api.NodeDead
	case m.Draining && m.Leaving:
		return api.NodeLeaving
	case m.Draining && m.Workers == 0: // it has told nothing of itself yet
		return api.NodeStarting
	case m.Draining:
		return api.NodeDraining
	case m.Suspect:
		return api.NodeSuspect
	case m.Standing == cluster.Stale:
		return api.NodeStale
	default:
		return api.NodeLive
	}
}

// Drain lets a host leave scheduling, or takes that back: this one, or another
// one by a message.
func (b backend) Drain(ctx context.Context, name string, o api.DrainOptions) (api.Drained, error) {
	m, err := b.node(name)
	if err != nil {
		return api.Drained{}, err
	}
	f := b.h.fleet
	if m.Incarnation == b.h.incarnation {
		err = f.setDrained(o.Undo, o.Force, o.Actor)
	} else {
		err = f.drainThere(ctx, m, o)
	}
	if err != nil {
		return api.Drained{}, asConflict(err)
	}
	action := "node.drain"
	if o.Undo {
		action = "node.undrain"
	}
	b.audit(ctx, o.Actor, action, m.Name, map[string]string{"incarnation": m.Incarnation})
	return api.Drained{Name: m.Name, Incarnation: m.Incarnation, Draining: !o.Undo, Running: m.Running, Queued: m.Queued}, nil
}

// node finds a host by its name or its incarnation; without either it is this
// one. Of several lives of a name the newest one that is not dead counts.
func (b backend) node(name string) (cluster.Member, error) {
	s := b.h.fleet.view.Snapshot()
	name = cmp.Or(name, b.h.incarnation)
	var found *cluster.Member
	var names []string
	for i := range s.Members {
		m := &s.Members[i]
		names = append(names, m.Name)
		if m.Incarnation == name {
			return *m, nil
		}
		if m.Name == name && (found == nil || newer(m, found)) {
			found = m
		}
	}
	if found == nil {
		return cluster.Member{}, &api.NotFound{What: "node", Name: name, Near: spelling.Nearest(name, names)}
	}
	return *found, nil
}

func newer(m, than *cluster.Member) bool {
	if dead := m.Standing == cluster.Dead; dead != (than.Standing == cluster.Dead) {
		return !dead
	}
	return m.StartedAt.After(than.StartedAt)
}

// drainThere asks another host.
func (f *fleet) drainThere(ctx context.Context, m cluster.Member, o api.DrainOptions) error {
	switch {
	case m.Standing == cluster.Dead:
		return fmt.Errorf("%s is dead: others have its tasks already", m.Name)
	case !o.Undo && !o.Force && !othersSchedule(f.view.Snapshot(), m.Incarnation):
		return errAlone
	case f.peers == nil:
		return fmt.Errorf("%s cannot be reached from here; ask it itself: ax drain --server %s", m.Name, m.Address)
	}
	client := f.peers.Client(m.Incarnation)
	if client == nil {
		return fmt.Errorf("there is no connection to %s", m.Name)
	}
	return client.Drain(ctx, o.Undo, o.Actor)
}

// asConflict tells refusals, which are for people, from lost connections.
func asConflict(err error) error {
	if errors.Is(err, peer.ErrUnconfirmed) || errors.Is(err, context.DeadlineExceeded) {
		return &api.Unavailable{Reason: "the host did not confirm: " + err.Error()}
	}
	return &api.Conflict{Reason: err.Error()}
}

// NodesCost measures what the hosts cost the database.
func (b backend) NodesCost(ctx context.Context, span time.Duration) (api.NodesCost, error) {
	if b.h.fleet.sole {
		return api.NodesCost{}, &api.Conflict{Reason: "the database is a file of this host: there is no server to spare"}
	}
	m, err := b.h.store.MeasureStatements(ctx, span)
	if err != nil {
		return api.NodesCost{}, &api.Unavailable{Reason: err.Error()}
	}
	cost := api.NodesCost{
		Seconds: m.Span.Seconds(), Server: m.Server, ServerCounts: m.ServerCounts,
		ThisHost: m.Own, Tasks: len(b.h.live.Load().entries),
	}
	for _, member := range b.h.fleet.view.Snapshot().Members {
		if member.Standing == cluster.Live {
			cost.Hosts++
			cost.HostsTogether += member.Statements
		}
	}
	return cost, nil
}
