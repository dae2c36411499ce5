package trigger

import (
	"context"
	"slices"
	"time"
)

// farFuture bounds a plugin's search where the caller sets no bound. Times in
// the database and in RFC 3339 end there.
var farFuture = time.Date(9999, time.December, 31, 23, 59, 59, 0, time.UTC)

// cursor is a source over a plugin's trigger. It lives for one call of
// Trigger.Next and keeps the newest batch, since the wrappers ask for one time
// after the other and sometimes step back.
type cursor struct {
	ctx     context.Context
	plugin  Trigger
	horizon time.Time // not asked beyond; zero: farFuture
	size    int       // of a batch

	// The due times in (from, covered] are known: they are batch.
	from, covered time.Time
	batch         []time.Time
	exhausted     bool
}

func (c *cursor) next(after time.Time) (time.Time, error) {
	if !c.knows(after) {
		if err := c.fetch(after); err != nil {
			return time.Time{}, err
		}
	}
	if i := c.firstAfter(after); i < len(c.batch) {
		return c.batch[i], nil
	}
	if c.exhausted || c.horizon.IsZero() {
		return time.Time{}, nil
	}
	return time.Time{}, errLater
}

// knows reports whether the batch at hand answers the question.
func (c *cursor) knows(after time.Time) bool {
	if c.covered.IsZero() || after.Before(c.from) {
		return false
	}
	return c.firstAfter(after) < len(c.batch) || c.exhausted || !c.covered.Before(c.bound())
}

// bound is how far the plugin is asked.
func (c *cursor) bound() time.Time {
	if c.horizon.IsZero() {
		return farFuture
	}
	return c.horizon
}

func (c *cursor) firstAfter(after time.Time) int {
	i, found := slices.BinarySearchFunc(c.batch, after, time.Time.Compare)
	if found {
		i++
	}
	return i
}

func (c *cursor) fetch(after time.Time) error {
	until := c.bound()
	batch, exhausted, err := c.plugin.Next(c.ctx, after, until, c.size)
	if len(batch) == 0 && err != nil {
		return err
	}
	c.from, c.covered, c.batch, c.exhausted = after, until, batch, exhausted
	if len(batch) >= c.size || err != nil {
		// Of an error: what came before it is good, and who asks for more gets it.
		c.covered = batch[len(batch)-1]
	}
	return nil
}
