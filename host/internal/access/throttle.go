package access

import (
	"sync"
	"time"
)

// Attempts to log in that are free, and how long it takes until one more is. They
// count for a name at an address, for an address, and for a name from everywhere:
// the last is so many that strangers cannot easily lock a user out.
const (
	triesPair    = 5
	triesAddress = 30
	triesName    = 100
	tryAgain     = 30 * time.Second
	// mostTried bounds what is remembered.
	mostTried = 20_000
)

// throttle counts attempts to log in, each as a bucket that empties with time.
type throttle struct {
	mu      sync.Mutex
	buckets map[string]bucket
}

// bucket has as many attempts in it as times tryAgain are left until it is empty.
type bucket struct{ empty time.Time }

func newThrottle() *throttle { return &throttle{buckets: map[string]bucket{}} }

type limit struct {
	key   string
	tries int
}

func limitsOf(name, address string) []limit {
	name = shown(name)
	return []limit{{"p " + address + " " + name, triesPair}, {"a " + address, triesAddress}, {"n " + name, triesName}}
}

// take counts an attempt, or returns how long to wait for the next one.
func (t *throttle) take(name, address string, now time.Time) time.Duration {
	t.mu.Lock()
	defer t.mu.Unlock()
	limits := limitsOf(name, address)
	for _, l := range limits {
		if over := t.buckets[l.key].empty.Sub(now.Add(time.Duration(l.tries-1) * tryAgain)); over > 0 {
			return over
		}
	}
	if len(t.buckets) > mostTried {
		t.sweep(now)
	}
	for _, l := range limits {
		b := t.buckets[l.key]
		if b.empty.Before(now) {
			b.empty = now
		}
		t.buckets[l.key] = bucket{b.empty.Add(tryAgain)}
	}
	return 0
}

// forgive forgets the attempts of somebody who has logged in, and this one where
// others count as well.
func (t *throttle) forgive(name, address string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	limits := limitsOf(name, address)
	delete(t.buckets, limits[0].key)
	for _, l := range limits[1:] {
		t.buckets[l.key] = bucket{t.buckets[l.key].empty.Add(-tryAgain)}
	}
}

// sweep forgets what is over, or else everything that is not about an address: an
// attacker can think of names without end, but not of addresses.
func (t *throttle) sweep(now time.Time) {
	for key, b := range t.buckets {
		if b.empty.Before(now) {
			delete(t.buckets, key)
		}
	}
	for key := range t.buckets {
		if len(t.buckets) <= mostTried/2 {
			return
		}
		if key[0] != 'a' {
			delete(t.buckets, key)
		}
	}
	for key := range t.buckets {
		if len(t.buckets) <= mostTried/2 {
			return
		}
		delete(t.buckets, key)
	}
}
