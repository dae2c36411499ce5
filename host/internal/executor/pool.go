package executor

import (
	"slices"
	"sync"

	"github.com/axsched/ax/host/internal/ax"
)

// pool counts workers and places in the queue. A lane is all the work of one
// plugin: a lane in which nothing runs may always start one attempt, and one in
// which nothing waits may always queue one, also when the pool is full of
// others. So a plugin whose jobs hang cannot stop the jobs of another one, and
// the pool stays bounded by workers + lanes - 1.
type pool struct {
	workers, queueLimit int
	freed               func() // told after a RoomNone, once there may be room

	mu      sync.Mutex
	running int
	places  int // promised places in the queue, used ones included
	lanes   map[string]*lane
	queue   []ticket // oldest first
	refused bool
	closed  bool
}

type lane struct{ running, places int }

type ticket struct {
	lane  string
	start func()
}

func newPool(workers, queue int, freed func()) *pool {
	return &pool{workers: workers, queueLimit: queue, freed: freed, lanes: map[string]*lane{}}
}

func (p *pool) lane(name string) *lane {
	l := p.lanes[name]
	if l == nil {
		l = &lane{}
		p.lanes[name] = l
	}
	return l
}

func (p *pool) mayRun(l *lane) bool { return p.running < p.workers || l.running == 0 }

// reserve promises a worker or a place in the queue.
func (p *pool) reserve(name string) ax.Room {
	p.mu.Lock()
	defer p.mu.Unlock()
	l := p.lane(name)
	switch {
	case l.places == 0 && p.mayRun(l):
		p.running++
		l.running++
		return ax.RoomNow
	case p.places < p.queueLimit || l.places == 0:
		p.places++
		l.places++
		return ax.RoomQueue
	default:
		p.refused = true
		return ax.RoomNone
	}
}

// enqueue uses a promised place: start is called once a worker is free, with
// that worker taken.
func (p *pool) enqueue(name string, start func()) {
	p.mu.Lock()
	if !p.closed {
		p.queue = append(p.queue, ticket{name, start})
	}
	p.mu.Unlock()
	p.next()
}

// release gives back a worker, or a place that was not used.
func (p *pool) release(name string, room ax.Room) {
	p.mu.Lock()
	l := p.lane(name)
	switch room {
	case ax.RoomNow:
		p.running--
		l.running--
	case ax.RoomQueue:
		p.places--
		l.places--
	case ax.RoomNone:
	}
	p.mu.Unlock()
	p.next()
}

// next starts what can be started and tells of room if somebody was refused.
func (p *pool) next() {
	for {
		p.mu.Lock()
		i := slices.IndexFunc(p.queue, func(t ticket) bool { return p.mayRun(p.lane(t.lane)) })
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
		l := p.lane(t.lane)
		p.places--
		l.places--
		p.running++
		l.running++
		p.mu.Unlock()
		t.start()
	}
}

// close forgets what waits and starts nothing more.
func (p *pool) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed, p.queue = true, nil
}

func (p *pool) counts() (running, queued int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.running, p.places
}
