package cluster

import (
	"slices"
	"time"

	"github.com/axsched/ax/host/internal/ax"
)

// Standing is how alive a host looks.
type Standing int

// Standings.
const (
	// Live hosts give signs of life.
	Live Standing = iota
	// Stale hosts have missed one: they keep their buckets, and get no attempts.
	Stale
	// Dead hosts have been silent for DeadAfter, or another host has their
	// address. They schedule nothing; whether what they ran may be given up is
	// for View.Dead to say.
	Dead
)

// Member is a host of the app.
type Member struct {
	ax.Node
	Standing Standing
	// Silence is the time since its last sign of life, as of the newest look.
	Silence time.Duration
	// Suspect: its connections are refused or reset.
	Suspect bool
}

// Schedules reports whether the host has a share of the buckets.
func (m *Member) Schedules() bool { return m.Standing != Dead && !m.Draining && !m.Suspect }

// TakesAttempts reports whether the host may be given attempts.
func (m *Member) TakesAttempts() bool { return m.Standing == Live && !m.Draining && !m.Suspect }

// Snapshot is a View at one moment. It never changes.
type Snapshot struct {
	// Self is the incarnation of this host.
	Self string
	// Members are all hosts of the app that have a row, by incarnation, the dead
	// ones and this one among them.
	Members []Member
	// Owners divides the buckets among those that schedule.
	Owners *Owners
}

// compose makes a snapshot; the division of the one before is kept if it is
// still right.
func compose(self string, members []Member, before *Snapshot) *Snapshot {
	var nodes []ax.Node
	for i := range members {
		if members[i].Schedules() {
			nodes = append(nodes, members[i].Node)
		}
	}
	return &Snapshot{Self: self, Members: members, Owners: divide(nodes, before)}
}

func divide(nodes []ax.Node, before *Snapshot) *Owners {
	if before == nil {
		return Share(nodes)
	}
	return before.Owners.with(nodes)
}

// Member returns the host with this incarnation, false if it has no row.
func (s *Snapshot) Member(incarnation string) (Member, bool) {
	i, found := slices.BinarySearchFunc(s.Members, incarnation, func(m Member, id string) int {
		return byIncarnation(m.Node, ax.Node{Incarnation: id})
	})
	if !found {
		return Member{}, false
	}
	return s.Members[i], true
}

// Owns reports whether this host schedules the bucket.
func (s *Snapshot) Owns(bucket int) bool { return s.Owners.Owns(bucket, s.Self) }

// Moved reports whether buckets have other owners than in the snapshot before.
func (s *Snapshot) Moved(before *Snapshot) bool { return !s.Owners.same(before.Owners) }

// differs reports whether there are other hosts, or one of them is seen in
// another light; figures do not count.
func (s *Snapshot) differs(after *Snapshot) bool {
	return !slices.EqualFunc(s.Members, after.Members, func(a, b Member) bool {
		return a.Incarnation == b.Incarnation && a.Standing == b.Standing && a.Suspect == b.Suspect && a.Draining == b.Draining
	})
}
