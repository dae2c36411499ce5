package store

import (
	"cmp"
	"context"
	"database/sql"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/axsched/ax/host/internal/ax"
)

// purgeChunk is how many instances one DELETE names.
const purgeChunk = 100

// Purge returns a function that deletes finished instances of the app that are not
// kept, with their events: at most limit of them in one transaction, oldest first
// within each status. It returns how many instances it deleted; fewer than limit
// means that none is left. Keep limit small (a few hundred): other writes wait
// meanwhile. Tasks that have a time of their own are left to PurgeTasks; rows of
// those of which more is kept are passed over once for each call of Purge.
func (s *Store) Purge(kept ax.Kept) func(ctx context.Context, limit int) (int, error) {
	p := purge{kept: kept, passed: map[ax.Status]int64{}, but: notTasks(kept.Longer())}
	return func(ctx context.Context, limit int) (int, error) {
		if kept.Since.IsZero() {
			return 0, nil
		}
		var ids []any
		for _, status := range finished() {
			some, err := p.old(ctx, s, status, limit-len(ids))
			if err != nil {
				return 0, s.wrap("find old instances", err)
			}
			ids = append(ids, some...)
		}
		return s.deleteInstances(ctx, ids)
	}
}

// purge walks over old instances once.
type purge struct {
	kept   ax.Kept
	passed map[ax.Status]int64 // the ids up to which that was done
	but    string
}

// notTasks is a condition that leaves tasks out. It holds no arguments, of which
// there would be too many for a statement.
func notTasks(tasks []ax.KeptTasks) string {
	var b strings.Builder
	for _, t := range tasks {
		for _, id := range t.IDs {
			b.WriteString("," + strconv.FormatInt(int64(id), 10))
		}
	}
	if b.Len() == 0 {
		return ""
	}
	return " AND task_id NOT IN (" + b.String()[1:] + ")"
}

// old returns up to n ids. It walks the instances of that status in the order of
// their ids, which is that of their creation, and stops at the first one young
// enough to stay.
func (p *purge) old(ctx context.Context, s *Store, status ax.Status, n int) ([]any, error) {
	if n <= 0 {
		return nil, nil
	}
	rows, err := s.query(ctx, "SELECT id, created_at FROM ax_instance WHERE app = ? AND status = ? AND id > ?"+p.but+" ORDER BY id LIMIT ?",
		p.kept.App, string(status), p.passed[status], n)
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
		if created >= p.kept.Since.UnixMicro() {
			break
		}
		p.passed[status] = id
		ids = append(ids, id)
	}
	return ids, rows.Err()
}

// PurgeTasks is Purge for tasks that have a time of their own. Name some hundred
// at most at once.
func (s *Store) PurgeTasks(ctx context.Context, kept ax.KeptTasks, limit int) (int, error) {
	w := where{}
	args := make([]any, len(kept.IDs))
	for i, id := range kept.IDs {
		args[i] = int64(id)
	}
	w.add("task_id IN ("+placeholders(len(args))+")", args...)
	w.add("id < ?", ax.FirstID(kept.Since))
	in(&w, "status", finished())
	rows, err := s.query(ctx, "SELECT id FROM ax_instance"+w.text+" LIMIT ?", append(w.args, limit)...)
	if err != nil {
		return 0, s.wrap("find old instances of tasks", err)
	}
	defer rows.Close()
	var ids []any
	for rows.Next() {
		var id int64
		if err := rows.Scan(&id); err != nil {
			return 0, s.wrap("find old instances of tasks", err)
		}
		ids = append(ids, id)
	}
	if err := rows.Err(); err != nil {
		return 0, s.wrap("find old instances of tasks", err)
	}
	return s.deleteInstances(ctx, ids)
}

// deleteInstances deletes instances with their events in one transaction.
func (s *Store) deleteInstances(ctx context.Context, ids []any) (int, error) {
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
