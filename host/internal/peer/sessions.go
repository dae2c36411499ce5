package peer

import (
	"sync"
	"time"
)

const (
	// maxSessions bounds what a server remembers: far above the hosts of a
	// cluster with some restarts.
	maxSessions = 4096
	// sessionIdle is how long a session is remembered without a request.
	sessionIdle = 15 * time.Minute
)

// session is what a server knows of a client that has proved itself.
type session struct {
	from string
	key  []byte

	mu     sync.Mutex
	window window
	last   time.Time
}

// sessions are those of a server.
type sessions struct {
	mu  sync.Mutex
	all map[string]*session
}

// open begins a session.
func (s *sessions) open(id string, begun *session, now time.Time) {
	begun.last = now
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.all) >= maxSessions {
		s.trim(now)
	}
	s.all[id] = begun
}

// trim forgets the sessions that are idle, or at least the one that is idle the
// longest.
func (s *sessions) trim(now time.Time) {
	oldest, at := "", now
	for id, one := range s.all {
		one.mu.Lock()
		last := one.last
		one.mu.Unlock()
		if now.Sub(last) > sessionIdle {
			delete(s.all, id)
		} else if !last.After(at) {
			oldest, at = id, last
		}
	}
	if len(s.all) >= maxSessions {
		delete(s.all, oldest)
	}
}

func (s *sessions) find(id string) *session {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.all[id]
}

// use reports whether the number of a request is new.
func (s *session) use(number uint64, now time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last = now
	return s.window.use(number)
}
