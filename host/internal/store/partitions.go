package store

import (
	"context"
	"errors"
	"time"
)

// PartitionParams say which partitions there should be.
type PartitionParams struct {
	// App is the app whose old rows may go.
	App string
	// Before: a day that ended earlier is dropped whole once nothing in it is
	// needed. Zero drops nothing.
	Before time.Time
	// Ahead is how many days after today have a partition of their own.
	Ahead int
}

// PartitionReport tells what MaintainPartitions did.
type PartitionReport struct {
	// Added and Dropped name partitions.
	Added, Dropped []string
	// Until is the end of the last day with a partition of its own. Zero means
	// that the tables have none: old rows go by Purge alone.
	Until time.Time
}

// ErrNotPermitted: the account lacks the right to make and drop partitions.
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
