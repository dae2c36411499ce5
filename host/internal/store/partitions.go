package store

import (
	"context"
	"errors"
	"time"

	"github.com/axsched/ax/host/internal/ax"
)

// PartitionParams say which partitions there should be.
type PartitionParams struct {
	// Kept is what stays: a day that ended before Kept.Since is dropped whole once
	// nothing in it is needed. The zero value drops nothing.
	ax.Kept
	// Ahead is how many days after today have a partition of their own.
	Ahead int
}

// PartitionReport tells what MaintainPartitions did.
type PartitionReport struct {
	// Added and Dropped name partitions.
	Added, Dropped []string
	// Until is the end of the last day with a partition of its own. Zero means
	// that the tables have none, so that old rows go by Purge alone, or that
	// another host is looking after them right now.
	Until time.Time
}

// ErrNotPermitted says that the account lacks the right to make and drop partitions.
var ErrNotPermitted = errors.New("the account may not change partitions")

// MaintainPartitions makes partitions for the days to come and drops old ones.
// It is for one host after the other: where another one is at it there is
// nothing to do. Rows are safe without it: what has no partition of its day goes
// into the last one, and Purge deletes row by row. SQLite has no partitions.
func (s *Store) MaintainPartitions(ctx context.Context, p PartitionParams) (PartitionReport, error) {
	if s.writeDB == nil {
		return PartitionReport{}, ErrReadOnly
	}
	r, err := s.dialect.maintainPartitions(ctx, s, p)
	return r, s.wrap("maintain partitions", err)
}

const (
	// defaultAhead is how many days have a partition in advance.
	defaultAhead = 30
	// tooFew days ahead are worth a warning where a host cannot make more.
	tooFew = 3 * 24 * time.Hour
)

// DropDays makes the partitions of the days to come, and drops those of an app
// of which nothing is kept. It returns how many it has
// dropped, and whether days go as a whole: then Purge is for what is a day older
// and left over. Where the account may not do that, the log says so in time and
// byDay is false.
func (s *Store) DropDays(ctx context.Context, kept ax.Kept) (dropped int, byDay bool, err error) {
	r, err := s.MaintainPartitions(ctx, PartitionParams{Kept: kept, Ahead: s.options.PartitionDays})
	if errors.Is(err, ErrNotPermitted) {
		if time.Until(r.Until) < tooFew {
			s.log.Warn("partitions of the days to come are missing and this account may not make them: run ax migrate with that of the owner",
				"until", r.Until)
		}
		return 0, false, nil
	}
	return len(r.Dropped), !r.Until.IsZero(), err
}
