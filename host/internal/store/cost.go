package store

import (
	"context"
	"sync"
	"sync/atomic"
	"time"
)

// rateSpan is the time over which StatementRate is an average.
const rateSpan = time.Minute

// sentCount counts what is sent to a database server.
type sentCount struct {
	n atomic.Int64

	mu      sync.Mutex
	samples []countedAt // oldest first
}

type countedAt struct {
	at time.Time
	n  int64
}

// rate returns the statements a second since the oldest sample of the last
// rateSpan, and takes a sample.
func (s *sentCount) rate(now time.Time) float64 {
	if s == nil {
		return 0
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.samples = append(s.samples, countedAt{now, s.n.Load()})
	for len(s.samples) > 2 && now.Sub(s.samples[1].at) >= rateSpan {
		s.samples = s.samples[1:]
	}
	oldest, newest := s.samples[0], s.samples[len(s.samples)-1]
	span := newest.at.Sub(oldest.at).Seconds()
	if span <= 0 {
		return 0
	}
	return float64(newest.n-oldest.n) / span
}

// StatementRate returns how many statements a second this store has sent to its
// database server lately, averaged over what lies between the calls of the last
// minute; 0 if there is no server.
func (s *Store) StatementRate() float64 { return s.sent.rate(time.Now()) }

// StatementCost is what the database was asked for in a time.
type StatementCost struct {
	Span time.Duration
	// Server counts the statements a second of all clients of the server, as far
	// as it says; ServerCounts tells whether it does.
	Server       float64
	ServerCounts bool
	// Own counts those of this store.
	Own float64
}

// MeasureStatements watches for a while how many statements are sent, by the
// counter of the server and by that of this store.
func (s *Store) MeasureStatements(ctx context.Context, span time.Duration) (StatementCost, error) {
	const what = "count the statements"
	before, counts := s.serverCount(ctx)
	own, begin := s.sent.count(), time.Now()
	if err := sleep(ctx, span); err != nil {
		return StatementCost{}, s.wrap(what, err)
	}
	ownAfter := s.sent.count()
	after, still := s.serverCount(ctx)
	took := time.Since(begin)
	if err := ctx.Err(); err != nil {
		return StatementCost{}, s.wrap(what, err)
	}
	c := StatementCost{Span: took, Own: float64(ownAfter-own) / took.Seconds()}
	// The second look at the counter is one of the statements. A server that was
	// started anew has begun at 0.
	if c.ServerCounts = counts && still && after > before; c.ServerCounts {
		c.Server = float64(after-before-1) / took.Seconds()
	}
	return c, nil
}

// serverCount reads how many statements all clients have sent to the server; false
// if it does not say. It needs no privilege.
func (s *Store) serverCount(ctx context.Context) (n int64, ok bool) {
	if s.sent == nil {
		return 0, false
	}
	var name string
	err := s.readDB.QueryRowContext(ctx, "SHOW GLOBAL STATUS LIKE 'Questions'").Scan(&name, &n)
	return n, err == nil
}

func (s *sentCount) count() int64 {
	if s == nil {
		return 0
	}
	return s.n.Load()
}
