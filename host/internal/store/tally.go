package store

import (
	"context"
	"time"

	"github.com/axsched/ax/host/internal/ax"
)

// CountByStatus counts the instances of an app that were recorded in a span,
// from <= t < to, by status; those of which there are none are left out. Each
// status is a walk along an index that holds all it takes.
func (s *Store) CountByStatus(ctx context.Context, app string, from, to time.Time) (map[ax.Status]int64, error) {
	const what = "count the instances"
	counts := map[ax.Status]int64{}
	for _, status := range ax.Statuses() {
		var n int64
		row := s.readDB.QueryRowContext(ctx, s.sql("SELECT count(*) FROM ax_instance WHERE app = ? AND status = ? AND id >= ? AND id < ?"),
			app, string(status), ax.FirstID(from), ax.FirstID(to))
		if err := row.Scan(&n); err != nil {
			return nil, s.wrap(what, err)
		}
		if n > 0 {
			counts[status] = n
		}
	}
	return counts, nil
}
