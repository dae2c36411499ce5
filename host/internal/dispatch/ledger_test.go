package dispatch

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/axsched/ax/host/internal/ax"
)

// TestLedgerFollows compares the ledger with a host that runs what it is sent,
// and nothing else: after every step the ledger must know its load exactly, as
// long as every end is told before the next heartbeat. It must never promise
// more than there are places.
func TestLedgerFollows(t *testing.T) {
	t.Parallel()
	for seed := range uint64(100) {
		r := rand.New(rand.NewPCG(seed, 5))
		l := ledger{sent: map[ax.InstanceID]sending{}}
		now := time.Date(2030, 6, 1, 12, 0, 0, 0, time.UTC)
		there := map[ax.InstanceID]bool{} // what really runs or waits
		reserved := 0
		beat := func() {
			l.hear(&ax.Node{BeatAt: now, NodeFigures: ax.NodeFigures{Running: min(len(there), 4), Queued: max(len(there)-4, 0), Workers: 4, Queue: 8}})
		}
		beat()
		for step := range 3000 {
			now = now.Add(time.Millisecond)
			switch n := r.IntN(10); {
			case n < 4 && l.room():
				l.reserve()
				reserved++
			case n < 7 && reserved > 0:
				reserved--
				if r.IntN(5) == 0 {
					l.release()
					break
				}
				id := ax.InstanceID(step)
				l.confirm(id, 1, now)
				there[id] = true
			case n < 9:
				for id := range there {
					delete(there, id)
					l.end(id)
					l.end(id) // told twice
					break
				}
			default:
				beat()
			}
			if got, want := l.load(), len(there)+reserved; got != want {
				t.Fatalf("seed %d, step %d: load %d, want %d", seed, step, got, want)
			}
			if l.load() > 12 {
				t.Fatalf("seed %d, step %d: %d in 12 places", seed, step, l.load())
			}
		}
	}
}

// TestLedgerForgetsEndsThatWereNotTold with the next heartbeat.
func TestLedgerForgetsEndsThatWereNotTold(t *testing.T) {
	t.Parallel()
	now := time.Date(2030, 6, 1, 12, 0, 0, 0, time.UTC)
	l := ledger{sent: map[ax.InstanceID]sending{}}
	hear := func(running int) {
		l.hear(&ax.Node{BeatAt: now, NodeFigures: ax.NodeFigures{Running: running, Workers: 2, Queue: 1}})
	}
	hear(0)
	now = now.Add(time.Second)
	for id := range ax.InstanceID(3) {
		l.reserve()
		l.confirm(id, 1, now)
	}
	if l.room() {
		t.Error("room for a fourth in 3 places")
	}
	now = now.Add(5 * time.Second)
	hear(0)
	if l.load() != 0 || !l.room() {
		t.Errorf("load %d although it tells of none", l.load())
	}
	l.end(1)
	if l.load() != 0 {
		t.Errorf("load %d", l.load())
	}
	now = now.Add(forgetAfter)
	hear(0)
	if len(l.sent) != 0 {
		t.Errorf("%d attempts remembered for a day", len(l.sent))
	}
	l.refused = true
	if l.room() {
		t.Error("room although it has just said that it is full")
	}
	now = now.Add(5 * time.Second)
	hear(1)
	if !l.room() {
		t.Error("no room after the next heartbeat")
	}
}
