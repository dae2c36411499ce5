package host

import (
	"context"
	"sync"
	"time"

	"github.com/axsched/ax/host/internal/ax"
	"github.com/axsched/ax/host/internal/console"
)

const (
	tallyHours = 24
	// tallyFresh is how old counts may be until they are made anew.
	tallyFresh = 10 * time.Second
	// tallyWait is how long a page waits for counts that were never made.
	tallyWait = 50 * time.Millisecond
	// tallyTime bounds one round of counting.
	tallyTime = time.Minute
)

// tally keeps the numbers of outcomes of the last hours. It counts in the
// background and only while somebody looks; an hour that is over and of which
// all is final is counted once.
type tally struct {
	app    func() string
	count  func(ctx context.Context, app string, from, to time.Time) (map[ax.Status]int64, error)
	failed func(error)

	mu      sync.Mutex
	at      time.Time // of the newest counts
	counted []console.Hour
	settled map[time.Time]bool // hours that need no further look
	running chan struct{}      // closed when the round under way ends; nil if there is none
}

func newTally(h *Host) *tally {
	return &tally{
		app: func() string { return h.live.Load().cfg.App }, count: h.store.CountByStatus,
		failed:  func(err error) { h.log.Warn("cannot count the outcomes for the console", "error", err) },
		settled: map[time.Time]bool{},
	}
}

// hours returns the newest counts and when they were made, and has them made
// anew if they are old.
func (t *tally) hours(ctx context.Context) ([]console.Hour, time.Time) {
	now := time.Now()
	t.mu.Lock()
	if t.running == nil && now.Sub(t.at) >= tallyFresh {
		t.running = make(chan struct{})
		go t.round(now)
	}
	running, never := t.running, t.at.IsZero()
	t.mu.Unlock()
	if running != nil && never {
		wait := time.NewTimer(tallyWait)
		defer wait.Stop()
		select {
		case <-running:
		case <-wait.C:
		case <-ctx.Done():
		}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.counted, t.at
}

// round counts the hours that may have changed. It ends by itself soon after the
// host has closed the database.
func (t *tally) round(now time.Time) {
	ctx, cancel := context.WithTimeout(context.Background(), tallyTime)
	defer cancel()
	t.mu.Lock()
	known := map[time.Time]console.Hour{}
	for _, hour := range t.counted {
		if t.settled[hour.From] {
			known[hour.From] = hour
		}
	}
	t.mu.Unlock()
	counted, settled, err := t.recount(ctx, now, known)
	t.mu.Lock()
	defer t.mu.Unlock()
	if err == nil {
		t.counted, t.settled, t.at = counted, settled, now
	} else {
		t.failed(err)
	}
	close(t.running)
	t.running = nil
}

// recount returns the counts of all hours up to now, and which of them stay.
func (t *tally) recount(ctx context.Context, now time.Time, known map[time.Time]console.Hour) ([]console.Hour, map[time.Time]bool, error) {
	var counted []console.Hour
	settled := map[time.Time]bool{}
	current := now.UTC().Truncate(time.Hour)
	for i := range tallyHours {
		from := current.Add(time.Duration(i-tallyHours+1) * time.Hour)
		hour, done := known[from]
		if !done {
			counts, err := t.count(ctx, t.app(), from, from.Add(time.Hour))
			if err != nil {
				return nil, nil, err
			}
			hour = console.Hour{From: from, Counts: counts}
			// A row may be written a little after the time that its id tells.
			done = now.Sub(from) > time.Hour+time.Minute && unfinished(counts) == 0
		}
		counted = append(counted, hour)
		if done {
			settled[from] = true
		}
	}
	return counted, settled, nil
}

func unfinished(counts map[ax.Status]int64) (n int64) {
	for _, status := range ax.Unfinished() {
		n += counts[status]
	}
	return n
}
