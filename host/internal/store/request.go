package store

import (
	"context"
	"time"

	"github.com/axsched/ax/host/internal/ax"
)

const requestColumns = "app, request_key, digest, instance_id, at"

// requestArgs lists the values in the order of requestColumns.
func requestArgs(r *ax.Request) []any {
	return []any{r.App, r.Key, r.Digest, int64(r.Instance), micros(r.At)}
}

// Request returns what came of the request with a key, or ErrNotFound if there was
// none at or after an instant. An older one is deleted, so that its key can be used
// again.
func (s *Store) Request(ctx context.Context, app, key string, since time.Time) (ax.Request, error) {
	const what = "read the key of a request"
	r := ax.Request{App: app, Key: key}
	var id int64
	err := s.readDB.QueryRowContext(ctx, s.sql("SELECT digest, instance_id, at FROM ax_request WHERE app = ? AND request_key = ?"), app, key).
		Scan(&r.Digest, &id, timeColumn{&r.At})
	r.Instance = ax.InstanceID(id)
	if err != nil || !r.At.Before(since) {
		return r, s.wrap(what, err)
	}
	if _, err := s.exec(ctx, what, "DELETE FROM ax_request WHERE app = ? AND request_key = ? AND at < ?", app, key, since.UnixMicro()); err != nil {
		return r, err
	}
	return r, s.wrap(what, ErrNotFound)
}

// PurgeRequests deletes up to limit keys of requests that are older than the given
// time, and returns how many.
func (s *Store) PurgeRequests(ctx context.Context, app string, before time.Time, limit int) (int, error) {
	n, err := s.exec(ctx, "delete old keys of requests", `DELETE FROM ax_request WHERE app = ? AND request_key IN (SELECT request_key FROM (
  SELECT request_key FROM ax_request WHERE app = ? AND at < ? ORDER BY at LIMIT ?) AS old)`,
		app, app, before.UnixMicro(), limit)
	return int(n), err
}
