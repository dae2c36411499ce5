package executor

import (
	"cmp"
	"slices"
	"sync"
	"time"

	"github.com/axsched/ax/host/internal/ax"
)

const (
	// soon is how long a claimed attempt may have to wait for its worker. Claims
	// are made ahead only as far as the lanes' usual durations promise that.
	soon = 50 * time.Millisecond
	// firstGuess is the usual duration of a lane of which nothing is known yet.
	firstGuess = 2 * time.Millisecond
)

// pool counts workers and places in the queue. A lane is all the work of one
// job component: a lane in which nothing runs may always start one attempt, and one in
// which nothing waits may always queue one, also when the pool is full of
// others. So a plugin whose jobs hang cannot stop the jobs of another one, and
// the pool stays bounded by workers + lanes - 1.
type pool struct {
	workers, queueLimit int
	now                 func() time.Time
	freed               func() // told after a RoomNone, once there may be room

	mu      sync.Mutex
	newest  int64 // of the turns
	running int
	places  int // promised places in the queue, used ones included
	lanes   map[string]*lane
	queue   []*ticket // oldest first
	refused bool
	denials uint64 // promises that could not be made
	closed  bool
}

type lane struct {
	running   int
	claimed   int           // places of attempts that are claimed already
	unclaimed int           // the other ones
	usual     time.Duration // moving average of the durations
}

func (l *lane) places() int { return l.claimed + l.unclaimed }

// ticket is an attempt in the queue: start is called with its worker taken, but
// not before its time, and back if the pool is closed before that.
//
// claim is called instead of start, without a worker, once the attempt would get
// one soon: its place is then RoomSoon, and another ticket of the same turn is to
// take it. nil if it is claimed already or shall not be.
type ticket struct {
	lane               string
	of                 *lane // by enqueue
	room               ax.Room
	turn               int64 // the order of the queue; 0 is for enqueue to set
	notBefore          time.Time
	start, back, claim func()
}

func newPool(workers, queue int, freed func(), now func() time.Time) *pool {
	return &pool{workers: workers, queueLimit: queue, freed: freed, now: now, lanes: map[string]*lane{}}
}

func (p *pool) lane(name string) *lane {
	l := p.lanes[name]
	if l == nil {
		l = &lane{usual: firstGuess}
		p.lanes[name] = l
	}
	return l
}

func (p *pool) mayRun(l *lane) bool { return p.running < p.workers || l.running == 0 }

// reserve promises a worker or a place in the queue. Ahead of time there is no
// worker to be had, only a place, since a worker must not wait; and a refusal is
// forgotten.
func (p *pool) reserve(name string, ahead bool) ax.Room {
	p.mu.Lock()
	defer p.mu.Unlock()
	l := p.lane(name)
	switch {
	case !ahead && l.places() == 0 && p.mayRun(l):
		return p.take(l, ax.RoomNow)
	case p.places < p.queueLimit || l.places() == 0:
		if p.claimsAhead(l) || ahead && p.running+p.places < p.workers {
			return p.take(l, ax.RoomSoon)
		}
		return p.take(l, ax.RoomQueue)
	case ahead:
		return ax.RoomNone
	default:
		p.refused = true
		p.denials++
		return ax.RoomNone
	}
}

// place promises a place in the queue to an attempt that is claimed when its turn
// comes.
func (p *pool) place(name string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	l := p.lane(name)
	if p.closed || p.places >= p.queueLimit && l.places() > 0 {
		p.refused = true
		p.denials++
		return false
	}
	p.count(l, ax.RoomQueue, 1)
	return true
}

// claimsAhead reports whether one more attempt of the lane would get a worker
// soon, after all that waits before it.
func (p *pool) claimsAhead(l *lane) bool {
	return l.usual+p.work((*lane).places) <= p.horizon()
}

// horizon is the work that all workers do soon.
func (p *pool) horizon() time.Duration { return soon * time.Duration(p.workers) }

// work is how long the counted attempts of all lanes will take.
func (p *pool) work(count func(*lane) int) (work time.Duration) {
	for _, l := range p.lanes {
		work += l.usual * time.Duration(count(l))
	}
	return work
}

// ahead takes those tickets out of the queue that are to be claimed ahead: many
// at a time, so that they share a commit.
func (p *pool) ahead(now time.Time) (chosen []*ticket) {
	work := p.work(func(l *lane) int { return l.claimed })
	if work > p.horizon()/2 || p.closed {
		return nil
	}
	full := false
	p.queue = slices.DeleteFunc(p.queue, func(t *ticket) bool {
		if full || t.claim == nil || t.notBefore.After(now) {
			return false
		}
		if work += t.of.usual; work > p.horizon() {
			full = true
			return false
		}
		p.count(t.of, t.room, -1)
		p.count(t.of, ax.RoomSoon, 1)
		chosen = append(chosen, t)
		return true
	})
	return chosen
}

func (p *pool) take(l *lane, room ax.Room) ax.Room {
	p.count(l, room, 1)
	return room
}

func (p *pool) count(l *lane, room ax.Room, n int) {
	switch room {
	case ax.RoomNow:
		p.running += n
		l.running += n
	case ax.RoomSoon:
		p.places += n
		l.claimed += n
	case ax.RoomQueue:
		p.places += n
		l.unclaimed += n
	case ax.RoomNone:
	}
}

// enqueue uses a promised place.
func (p *pool) enqueue(t *ticket) {
	p.mu.Lock()
	if p.closed {
		p.mu.Unlock()
		t.back()
		return
	}
	t.of = p.lane(t.lane)
	if t.turn == 0 {
		p.newest++
		t.turn = p.newest
	}
	p.queue = slices.Insert(p.queue, p.placeOf(t.turn), t)
	p.mu.Unlock()
	if wait := t.notBefore.Sub(p.now()); wait > 0 {
		time.AfterFunc(wait, p.next)
		return
	}
	p.next()
}

// placeOf is where a turn is or belongs in the queue.
func (p *pool) placeOf(turn int64) int {
	i, _ := slices.BinarySearchFunc(p.queue, turn, func(t *ticket, turn int64) int { return cmp.Compare(t.turn, turn) })
	return i
}

// replace puts another ticket of the same lane in the place of one, and reports
// whether that was still in the queue.
func (p *pool) replace(t, by *ticket) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	i := slices.Index(p.queue, t)
	if i < 0 {
		return false
	}
	l := p.lane(t.lane)
	p.count(l, t.room, -1)
	p.count(l, by.room, 1)
	by.of, by.turn = l, t.turn
	p.queue[i] = by
	return true
}

// withdraw takes a ticket out of the queue and gives its place back; it reports
// whether it was still there.
func (p *pool) withdraw(t *ticket) bool {
	p.mu.Lock()
	i := slices.Index(p.queue, t)
	if i >= 0 {
		p.queue = slices.Delete(p.queue, i, i+1)
	}
	p.mu.Unlock()
	if i < 0 {
		return false
	}
	p.release(t.lane, t.room)
	return true
}

// release gives back a worker, or a place that was not used.
func (p *pool) release(name string, room ax.Room) {
	p.mu.Lock()
	p.count(p.lane(name), room, -1)
	p.mu.Unlock()
	p.next()
}

// took notes how long an attempt of a lane took.
func (p *pool) took(name string, d time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	l := p.lane(name)
	l.usual = max(l.usual+(d-l.usual)/4, time.Microsecond)
}

// next starts what can be started and tells of room if somebody was refused.
func (p *pool) next() {
	for {
		now := p.now()
		p.mu.Lock()
		if chosen := p.ahead(now); len(chosen) > 0 {
			p.mu.Unlock()
			for _, t := range chosen {
				t.claim()
			}
			continue
		}
		i := p.first(now)
		if i < 0 {
			tell := p.refused && p.places < p.queueLimit
			p.refused = p.refused && !tell
			p.mu.Unlock()
			if tell {
				p.freed()
			}
			return
		}
		t := p.queue[i]
		p.queue = slices.Delete(p.queue, i, i+1)
		p.count(t.of, t.room, -1)
		p.count(t.of, ax.RoomNow, 1)
		p.mu.Unlock()
		t.start()
	}
}

// first returns the place of the oldest ticket that may be started, -1 for none.
func (p *pool) first(now time.Time) int {
	if p.running >= p.workers && !p.idleLane() {
		return -1 // the usual answer of a busy pool, without a look at a long queue
	}
	return slices.IndexFunc(p.queue, func(t *ticket) bool {
		return !t.notBefore.After(now) && p.mayRun(t.of)
	})
}

// idleLane reports whether there is a lane in which something waits and nothing
// runs.
func (p *pool) idleLane() bool {
	for _, l := range p.lanes {
		if l.running == 0 && l.places() > 0 {
			return true
		}
	}
	return false
}

// close starts nothing more and turns away what waits.
func (p *pool) close() {
	p.mu.Lock()
	waiting := p.queue
	p.closed, p.queue = true, nil
	p.mu.Unlock()
	for _, t := range waiting {
		t.back()
	}
}

func (p *pool) counts() (running, queued int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.running, p.places
}

func (p *pool) refusals() uint64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.denials
}
