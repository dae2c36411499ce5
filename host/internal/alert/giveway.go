package alert

import (
	"context"
	"errors"
	"time"
)

// ErrCannot is part of an error of Config.Notify if the reason is this host, such
// as that it lacks a plugin: another host may be able to deliver the message.
var ErrCannot = errors.New("this host cannot deliver it")

const (
	// leastHold is for how long a host holds the lease at least before it gives way
	// to one that may be able to deliver what it cannot. If no host can, each has
	// its turn for so long, and delivers the rest.
	leastHold = 30 * time.Second
	// giveWayFor is for how long it leaves the lease to others then.
	giveWayFor = 2 * leaseCheck
	// lastCannot bounds the back-off after ErrCannot: a try costs the receiver
	// nothing, and the host that has the lease next shall not wait for long.
	lastCannot = 30 * time.Second
)

// giveWay leaves the lease to another host after this one could not deliver a
// message. It returns false if nothing is to be sent before that, since what is
// under way has to end: who takes the lease would send it again.
func (m *Manager) giveWay(ctx context.Context, now time.Time) (mayGoOn bool, err error) {
	k := &m.keeper
	if !k.unable || k.stopping || now.Sub(k.heldSince) < leastHold {
		k.unable = false
		return true, nil
	}
	if m.delivering() {
		return false, nil
	}
	k.unable = false
	if others, err := m.others(ctx); err != nil || !others {
		return true, err
	}
	if err := m.cfg.Store.LeaveAlertLease(ctx, k.lease); err != nil {
		return false, err
	}
	m.cfg.Log.Warn("this host cannot deliver an alert: another one gathers and sends them from now on")
	k.lose()
	k.askedAt, k.absentUntil = now, now.Add(giveWayFor)
	m.setHolder(false)
	return false, nil
}

// others reports whether another host lives.
func (m *Manager) others(ctx context.Context) (bool, error) {
	if m.cfg.Sole || m.cfg.Nodes == nil {
		return false, nil
	}
	nodes, err := m.cfg.Nodes(ctx)
	if err != nil {
		return false, err
	}
	now, err := m.cfg.Store.Now(ctx)
	if err != nil {
		return false, err
	}
	for i := range nodes {
		if n := &nodes[i]; n.Incarnation != m.cfg.Incarnation && !n.Draining && now.Sub(n.BeatAt) < nodeDead {
			return true, nil
		}
	}
	return false, nil
}
