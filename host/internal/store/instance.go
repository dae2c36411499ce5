package store

import (
	"context"
	"database/sql"
	"fmt"
	"iter"
	"slices"

	"github.com/axsched/ax/host/internal/ax"
)

const instanceColumns = `id, app, task_id, task_name, scheduled_at, kind, shard,
  status, attempt, fence, owner, node, reason, missed, missed_until, trace_id,
  params, params_bound, created_at, started_at, ended_at, retry_at,
  deferred, callback_hash, deadline_at, message, error, data, shards`

// instanceArgs lists the values in the order of instanceColumns.
func instanceArgs(i *ax.Instance) []any {
	return []any{
		int64(i.ID), i.App, int64(i.TaskID), i.TaskName, micros(i.ScheduledAt), string(i.Kind), i.Shard,
		string(i.Status), i.Attempt, i.Fence, i.Owner, i.Node, Cut(i.Reason, MaxMessage), i.Missed, micros(i.MissedUntil), i.TraceID,
		jsonText(i.Params), flag(i.ParamsBound), micros(i.CreatedAt), micros(i.StartedAt), micros(i.EndedAt), micros(i.RetryAt),
		flag(i.Deferred), i.CallbackHash, micros(i.DeadlineAt), Cut(i.Message, MaxMessage), Cut(i.Error, MaxError), jsonText(cutJSON(i.Data, MaxData)), i.Shards,
	}
}

func scanInstance(row scanner) (ax.Instance, error) {
	var i ax.Instance
	err := row.Scan(&i.ID, &i.App, &i.TaskID, &i.TaskName, timeColumn{&i.ScheduledAt}, &i.Kind, &i.Shard,
		&i.Status, &i.Attempt, &i.Fence, &i.Owner, &i.Node, &i.Reason, &i.Missed, timeColumn{&i.MissedUntil}, &i.TraceID,
		jsonColumn{&i.Params}, &i.ParamsBound, timeColumn{&i.CreatedAt}, timeColumn{&i.StartedAt}, timeColumn{&i.EndedAt}, timeColumn{&i.RetryAt},
		&i.Deferred, &i.CallbackHash, timeColumn{&i.DeadlineAt}, &i.Message, &i.Error, jsonColumn{&i.Data}, &i.Shards)
	return i, err
}

// Instance returns one instance, or ErrNotFound.
func (s *Store) Instance(ctx context.Context, id ax.InstanceID) (ax.Instance, error) {
	i, err := scanInstance(s.readDB.QueryRowContext(ctx, s.sql("SELECT "+instanceColumns+" FROM ax_instance WHERE id = ?"), int64(id)))
	return i, s.wrap(fmt.Sprintf("read instance %d", id), err)
}

// InstancesOf returns the instances with these ids, as far as there are such.
func (s *Store) InstancesOf(ctx context.Context, ids []ax.InstanceID) ([]ax.Instance, error) {
	const chunkSize = 200
	var all []ax.Instance
	for chunk := range slices.Chunk(ids, chunkSize) {
		some, err := s.instancesOf(ctx, chunk)
		if err != nil {
			return nil, s.wrap("read instances", err)
		}
		all = append(all, some...)
	}
	return all, nil
}

func (s *Store) instancesOf(ctx context.Context, ids []ax.InstanceID) ([]ax.Instance, error) {
	args := make([]any, len(ids))
	for i, id := range ids {
		args[i] = int64(id)
	}
	rows, err := s.query(ctx, "SELECT "+instanceColumns+" FROM ax_instance WHERE id IN ("+placeholders(len(args))+")", args...)
	if err != nil {
		return nil, err
	}
	return scanInstances(rows)
}

// scanInstances reads all rows and closes them.
func scanInstances(rows *sql.Rows) ([]ax.Instance, error) {
	defer rows.Close()
	var list []ax.Instance
	for rows.Next() {
		i, err := scanInstance(rows)
		if err != nil {
			return nil, err
		}
		list = append(list, i)
	}
	return list, rows.Err()
}

// Unfinished yields every instance of the app that is in no final state, by
// status and id. It reads one snapshot, and holds a connection while the loop
// runs; an error ends it.
func (s *Store) Unfinished(ctx context.Context, app string) iter.Seq2[ax.Instance, error] {
	return s.unfinishedWhere(ctx, app, where{})
}

// unfinishedWhere is Unfinished for those that the conditions of w select too.
func (s *Store) unfinishedWhere(ctx context.Context, app string, w where) iter.Seq2[ax.Instance, error] {
	const what = "read the unfinished instances"
	return func(yield func(ax.Instance, error) bool) {
		w := where{w.text, slices.Clone(w.args)} // the sequence may be used twice
		w.add("app = ?", app)
		in(&w, "status", ax.Unfinished())
		rows, err := s.query(ctx, "SELECT "+instanceColumns+" FROM ax_instance"+w.text+" ORDER BY status, id", w.args...)
		if err != nil {
			yield(ax.Instance{}, s.wrap(what, err))
			return
		}
		defer rows.Close()
		for rows.Next() {
			i, err := scanInstance(rows)
			if err != nil {
				yield(ax.Instance{}, s.wrap(what, err))
				return
			}
			if !yield(i, nil) {
				return
			}
		}
		if err := rows.Err(); err != nil {
			yield(ax.Instance{}, s.wrap(what, err))
		}
	}
}

// finished lists the states in which nothing more happens.
func finished() []ax.Status {
	return slices.DeleteFunc(ax.Statuses(), func(s ax.Status) bool { return !s.Final() })
}
