package cluster

import (
	"slices"
	"time"

	"github.com/axsched/ax/host/internal/ax"
)

// Limits say when a host counts as silent.
type Limits struct {
	// Heartbeat is the time between two signs of life.
	Heartbeat time.Duration
	// StaleAfter is the silence after which a host gets no attempts any more,
	// DeadAfter the one after which it counts as dead.
	StaleAfter, DeadAfter time.Duration
}

// DefaultLimits beat every 5 s; 8 s of silence are too long for an attempt, 15 s
// for anything.
func DefaultLimits() Limits { return LimitsOf(5*time.Second, 15*time.Second) }

// LimitsOf derives StaleAfter: one and a half missed signs of life.
func LimitsOf(heartbeat, deadAfter time.Duration) Limits {
	return Limits{Heartbeat: heartbeat, StaleAfter: min(heartbeat*8/5, deadAfter), DeadAfter: deadAfter}
}

// missed is the silence after which a sign of life has been missed.
func (l Limits) missed() time.Duration { return l.Heartbeat * 6 / 5 }

// roster keeps what is known of the hosts of an app. It is pure: times are
// durations since some beginning, on the monotonic clock of this process.
//
// The first silence of a host is what the database's clock says. From then on
// silence is measured by this process alone, from one look into the table to
// another in which the host's time of its last sign of life has changed, so that
// a database whose clock is set makes nobody look dead. Time in which this host
// itself could not look does not count: when a database comes back after an
// hour, everybody gets the time to say that he lives.
type roster struct {
	limits Limits
	self   string
	looked bool
	at     time.Duration // of the newest look
	hosts  map[string]*host
	// unknown holds since when incarnations are missing that were asked about
	// and are not in the table.
	unknown map[string]time.Duration
}

// host is one incarnation.
type host struct {
	node ax.Node
	// beat is when it last gave a sign of life; since is when it was first
	// looked at.
	beat, since time.Duration
	absent      bool      // the row is gone
	leaving     bool      // it said so itself
	leftAt      time.Time // of the database, when it did
	// suspected: its connection broke, and at that time the database's clock
	// showed suspectedAt. disproved: it lived all the same, so broken connections
	// mean nothing until one has been made.
	suspected, disproved bool
	suspectedAt          time.Time
}

func newRoster(self string, limits Limits) *roster {
	return &roster{self: self, limits: limits, hosts: map[string]*host{}, unknown: map[string]time.Duration{}}
}

// look takes in the rows as they were at the moment at, when the database's
// clock showed db.
func (r *roster) look(rows []ax.Node, db time.Time, at time.Duration) {
	before := r.at
	if gap := at - r.at; r.looked && gap > 2*r.limits.Heartbeat {
		r.forgive(gap - r.limits.Heartbeat)
		before = at - r.limits.Heartbeat
	}
	present := make(map[string]bool, len(rows))
	for _, n := range rows {
		present[n.Incarnation] = true
		r.see(n, max(db.Sub(n.BeatAt), 0), before, at)
	}
	for id, h := range r.hosts {
		if h.absent = !present[id]; h.absent && at-h.beat > 4*r.limits.DeadAfter {
			delete(r.hosts, id)
		}
	}
	for id, since := range r.unknown {
		if present[id] || at-since > 4*r.limits.DeadAfter {
			delete(r.unknown, id)
		}
	}
	r.looked, r.at = true, at
}

// see takes in one row whose last sign of life is silence ago by the database's
// clock. If it is new it cannot be older than before, the look before this one.
func (r *roster) see(n ax.Node, silence, before, at time.Duration) {
	h := r.hosts[n.Incarnation]
	switch {
	case h == nil:
		h = &host{since: at, beat: at - silence}
		r.hosts[n.Incarnation] = h
	case !n.BeatAt.Equal(h.node.BeatAt) || h.absent:
		h.beat = max(at-silence, before)
		if h.suspected && n.BeatAt.After(h.suspectedAt) {
			h.suspected, h.disproved = false, true
		}
		if h.leaving && !n.Draining && n.BeatAt.After(h.leftAt) {
			h.leaving = false // it takes part again
		}
	}
	h.node = n
}

// forgive does not count a time in which nobody could look.
func (r *roster) forgive(gap time.Duration) {
	for _, h := range r.hosts {
		h.beat, h.since = h.beat+gap, h.since+gap
	}
	for id := range r.unknown {
		r.unknown[id] += gap
	}
}

// suspect notes that the connection to a host broke when the database's clock
// showed db. It reports whether that is news.
func (r *roster) suspect(incarnation string, db time.Time) bool {
	h := r.hosts[incarnation]
	if h == nil || h.suspected || h.disproved || incarnation == r.self {
		return false
	}
	// Signs of life just before the connection broke may not have been seen
	// yet, and clocks are compared to within a round trip.
	h.suspected, h.suspectedAt = true, db.Add(time.Second)
	return true
}

// trust notes that a host has answered. It reports whether that is news.
func (r *roster) trust(incarnation string) bool {
	h := r.hosts[incarnation]
	if h == nil {
		return false
	}
	news := h.suspected
	h.suspected, h.disproved = false, false
	return news
}

// leave notes that a host said that it leaves when the database's clock showed
// db. A sign of life that was on its way then may not say so yet.
func (r *roster) leave(incarnation string, db time.Time) bool {
	h := r.hosts[incarnation]
	if h == nil || h.leaving {
		return false
	}
	h.leaving, h.leftAt = true, db.Add(time.Second)
	return true
}

// stay notes that this host takes part again.
func (r *roster) stay() {
	if h := r.hosts[r.self]; h != nil {
		h.leaving, h.node.Draining = false, false
	}
}

// dead reports whether an incarnation can be taken for dead for good, asked at
// the moment at: this host has watched its silence for DeadAfter, or it has left
// in good order. An incarnation that is not in the table must have been missing
// since it was first asked about.
func (r *roster) dead(incarnation string, at time.Duration) bool {
	if incarnation == r.self || !r.looked {
		return false
	}
	if h := r.hosts[incarnation]; h != nil {
		left := h.absent && (h.leaving || h.node.Draining)
		return left || r.at-max(h.beat, h.since) > r.limits.DeadAfter
	}
	since, asked := r.unknown[incarnation]
	if !asked {
		r.unknown[incarnation] = at
		return false
	}
	return r.at-since > r.limits.DeadAfter
}

// urgent returns how long after the newest look there should be another one,
// because a silent host is about to pass a limit.
func (r *roster) urgent() time.Duration {
	wait := r.limits.Heartbeat
	for _, h := range r.hosts {
		silence, watched := r.at-h.beat, r.at-max(h.beat, h.since)
		if silence < r.limits.missed() {
			continue
		}
		for _, left := range []time.Duration{
			r.limits.StaleAfter - silence, r.limits.DeadAfter - silence, r.limits.DeadAfter - watched,
		} {
			if left >= 0 {
				wait = min(wait, left+time.Millisecond)
			}
		}
	}
	return wait
}

// members returns the hosts in the table, by incarnation.
func (r *roster) members() []Member {
	var all []Member
	for _, h := range r.hosts {
		if h.absent {
			continue
		}
		m := Member{Node: h.node, Silence: r.at - h.beat, Suspect: h.suspected}
		m.Draining = m.Draining || h.leaving
		switch {
		case h.node.Incarnation == r.self:
			m.Silence = 0 // whether it can be seen is for the others to judge
		case m.Silence > r.limits.DeadAfter || r.succeeded(h):
			m.Standing = Dead
		case m.Silence > r.limits.StaleAfter:
			m.Standing = Stale
		}
		all = append(all, m)
	}
	slices.SortFunc(all, func(a, b Member) int { return byIncarnation(a.Node, b.Node) })
	return all
}

// succeeded reports whether another incarnation has the address now, so that
// this one cannot have it any more.
func (r *roster) succeeded(h *host) bool {
	if h.node.Cluster == "" {
		return false
	}
	for _, other := range r.hosts {
		if other != h && !other.absent && other.node.Cluster == h.node.Cluster && other.node.StartedAt.After(h.node.StartedAt) {
			return true
		}
	}
	return false
}
