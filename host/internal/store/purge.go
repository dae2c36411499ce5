package store

import (
	"cmp"
	"context"
	"database/sql"
	"slices"
	"time"

	"github.com/axsched/ax/host/internal/ax"
)

// purgeChunk is how many instances one DELETE names.
const purgeChunk = 100

// Purge deletes finished instances of the app that were created before the
// given time, with their events: at most limit of them, oldest first within
// each status, in one transaction. It returns how many instances it deleted;
// fewer than limit means that none is left. Keep limit small (a few hundred):
// other writes wait meanwhile.
func (s *Store) Purge(ctx context.Context, app string, before time.Time, limit int) (int, error) {
	var ids []any
	for _, status := range finished() {
		some, err := s.oldInstances(ctx, app, status, before, limit-len(ids))
		if err != nil {
			return 0, s.wrap("find old instances", err)
		}
		ids = append(ids, some...)
	}
	if len(ids) == 0 {
		return 0, nil
	}
	n := 0
	err := s.writeTx(ctx, "delete old instances", func(tx *sql.Tx) error {
		n = 0
		for chunk := range slices.Chunk(ids, purgeChunk) {
			marks := placeholders(len(chunk))
			oldest := slices.MinFunc(chunk, func(a, b any) int { return cmp.Compare(a.(int64), b.(int64)) })
			if _, err := tx.ExecContext(ctx, s.sql("DELETE FROM ax_log WHERE instance_id IN ("+marks+") AND id > ?"),
				append(slices.Clone(chunk), beforeEvents(oldest.(int64)))...); err != nil {
				return err
			}
			res, err := tx.ExecContext(ctx, s.sql("DELETE FROM ax_instance WHERE id IN ("+marks+")"), chunk...)
			if err != nil {
				return err
			}
			deleted, err := res.RowsAffected()
			if err != nil {
				return err
			}
			n += int(deleted)
		}
		return nil
	})
	if err != nil {
		return 0, err
	}
	return n, nil
}

// oldInstances returns up to n ids. It walks the instances of that status in
// the order of their ids, which is that of their creation, and stops at the
// first one young enough to stay.
func (s *Store) oldInstances(ctx context.Context, app string, status ax.Status, before time.Time, n int) ([]any, error) {
	if n <= 0 {
		return nil, nil
	}
	rows, err := s.query(ctx, "SELECT id, created_at FROM ax_instance WHERE app = ? AND status = ? ORDER BY id LIMIT ?", app, string(status), n)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var ids []any
	for rows.Next() {
		var id, created int64
		if err := rows.Scan(&id, &created); err != nil {
			return nil, err
		}
		if created >= before.UnixMicro() {
			break
		}
		ids = append(ids, id)
	}
	return ids, rows.Err()
}

// PurgeAlerts deletes up to limit settled notifications whose window ended before
// the given time, and returns how many; silences that were over by then go too.
func (s *Store) PurgeAlerts(ctx context.Context, app string, before time.Time, limit int) (int, error) {
	const what = "delete old alerts"
	if _, err := s.exec(ctx, what, "DELETE FROM ax_alert_silence WHERE app = ? AND until_at < ?", app, before.UnixMicro()); err != nil {
		return 0, err
	}
	n, err := s.exec(ctx, what, `DELETE FROM ax_alert WHERE id IN (SELECT id FROM (
  SELECT id FROM ax_alert WHERE app = ? AND state IN (?, ?, ?, ?) AND window_end < ? ORDER BY id LIMIT ?) AS old)`,
		app, string(ax.AlertSent), string(ax.AlertMerged), string(ax.AlertGivenUp), string(ax.AlertDropped), before.UnixMicro(), limit)
	return int(n), err
}

// PurgeAudit deletes up to limit rows of the audit trail that are older than
// the given time, and returns how many.
func (s *Store) PurgeAudit(ctx context.Context, app string, before time.Time, limit int) (int, error) {
	n, err := s.exec(ctx, "delete old audit rows", `DELETE FROM ax_audit WHERE id IN (SELECT id FROM (
  SELECT id FROM ax_audit WHERE app = ? AND at < ? ORDER BY id LIMIT ?) AS old)`,
		app, before.UnixMicro(), limit)
	return int(n), err
}
