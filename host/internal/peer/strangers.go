package peer

import (
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"
)

// strangerPause is the time between two lines about strangers.
const strangerPause = time.Minute

// strangers are those that were turned away. They are told of now and then, so
// that a port scan does not fill the log.
type strangers struct {
	log hclog.Logger

	mu    sync.Mutex
	count int // since the last line
	told  time.Time
}

func (s *strangers) met(address, why string, now time.Time) {
	s.mu.Lock()
	s.count++
	count := s.count
	tell := s.told.IsZero() || now.Sub(s.told) >= strangerPause
	if tell {
		s.count, s.told = 0, now
	}
	s.mu.Unlock()
	if tell {
		s.log.Warn("turned a stranger away from the cluster port", "address", address, "why", why, "strangers", count)
	}
}
