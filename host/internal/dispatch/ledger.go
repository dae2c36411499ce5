package dispatch

import (
	"time"

	"github.com/axsched/ax/host/internal/ax"
)

// forgetAfter is how long an attempt is remembered whose end nobody told.
const forgetAfter = 24 * time.Hour

// ledger estimates the load of another host: what it last told, corrected by
// what this host has done to it since. It is pure; times are by the database's
// clock, as those of heartbeats are.
type ledger struct {
	told           int // running and waiting, as of beat
	workers, queue int
	beat           time.Time
	reserved       int // places promised, or sent and not confirmed
	sent           map[ax.InstanceID]sending
	recent         int // of sent, confirmed after the beat
	ended          int // counted in told, and ended since
	refused        bool
}

// sending is an attempt that the other host has confirmed.
type sending struct {
	fence int64
	at    time.Time
}

// hear takes in what the other host tells of itself.
func (l *ledger) hear(n *ax.Node) {
	l.workers, l.queue = n.Workers, n.Queue
	if !n.BeatAt.After(l.beat) {
		return
	}
	l.beat, l.told = n.BeatAt, n.Running+n.Queued
	l.ended, l.recent, l.refused = 0, 0, false
	for id, s := range l.sent {
		switch {
		case s.at.After(l.beat):
			l.recent++
		case l.beat.Sub(s.at) > forgetAfter:
			delete(l.sent, id)
		}
	}
}

// load estimates how many attempts run or wait there.
func (l *ledger) load() int { return max(l.told-l.ended, 0) + l.recent + l.reserved }

// room reports whether one more may have a place.
func (l *ledger) room() bool { return !l.refused && l.load() < l.workers+l.queue }

func (l *ledger) reserve() { l.reserved++ }

func (l *ledger) release() { l.reserved-- }

// confirm notes that the other host has an attempt.
func (l *ledger) confirm(id ax.InstanceID, fence int64, at time.Time) {
	l.reserved--
	l.sent[id] = sending{fence, at}
	if at.After(l.beat) {
		l.recent++
	}
}

// end notes that an attempt has ended.
func (l *ledger) end(id ax.InstanceID) {
	s, ok := l.sent[id]
	if !ok {
		return
	}
	delete(l.sent, id)
	if s.at.After(l.beat) {
		l.recent--
	} else {
		l.ended++
	}
}
