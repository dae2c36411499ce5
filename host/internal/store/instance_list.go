package store

import (
	"cmp"
	"context"
	"slices"

	"github.com/axsched/ax/host/internal/ax"
)

// Instances returns what the filter selects, newest first. Several statuses
// are read one by one and merged: each is then a walk along an index that stops
// at the limit, where one query for all would sort everything it matches.
func (s *Store) Instances(ctx context.Context, f ax.InstanceFilter) ([]ax.Instance, error) {
	f.Limit = limit(f.Limit, 100)
	if len(f.Statuses) == 0 && f.App != "" && f.Task == "" {
		f.Statuses = ax.Statuses()
	}
	if len(f.Statuses) <= 1 || f.Task != "" {
		return s.instances(ctx, f)
	}
	var all []ax.Instance
	for _, status := range slices.Compact(slices.Sorted(slices.Values(f.Statuses))) {
		one := f
		one.Statuses = []ax.Status{status}
		some, err := s.instances(ctx, one)
		if err != nil {
			return nil, err
		}
		all = append(all, some...)
	}
	slices.SortFunc(all, func(a, b ax.Instance) int { return cmp.Compare(b.ID, a.ID) })
	return all[:min(len(all), f.Limit)], nil
}

func (s *Store) instances(ctx context.Context, f ax.InstanceFilter) ([]ax.Instance, error) {
	const what = "read the instances"
	w := instanceWhere(f)
	w.args = append(w.args, f.Limit)
	rows, err := s.query(ctx, "SELECT "+instanceColumns+" FROM ax_instance"+w.text+" ORDER BY id DESC LIMIT ?", w.args...)
	if err != nil {
		return nil, s.wrap(what, err)
	}
	defer rows.Close()
	var all []ax.Instance
	for rows.Next() {
		i, err := scanInstance(rows)
		if err != nil {
			return nil, s.wrap(what, err)
		}
		all = append(all, i)
	}
	return all, s.wrap(what, rows.Err())
}

func instanceWhere(f ax.InstanceFilter) where {
	w := where{}
	switch {
	case f.Task != "" && f.App != "":
		w.add("task_id = ?", int64(ax.NewTaskID(f.App, f.Task)))
	case f.Task != "":
		w.add("task_name = ?", f.Task)
	case f.App != "":
		w.add("app = ?", f.App)
	}
	in(&w, "status", f.Statuses)
	in(&w, "kind", f.Kinds)
	if !f.Since.IsZero() {
		w.add("scheduled_at >= ?", f.Since.UnixMicro())
	}
	if !f.Until.IsZero() {
		w.add("scheduled_at < ?", f.Until.UnixMicro())
	}
	if f.Before != 0 {
		w.add("id < ?", int64(f.Before))
	}
	return w
}

// LastInstances returns the newest instance of each task of the app that has
// one and was not deleted. Params, Error and Data are left out.
func (s *Store) LastInstances(ctx context.Context, app string) (map[ax.TaskID]ax.Instance, error) {
	const what = "read the last instances"
	rows, err := s.query(ctx, `SELECT i.id, i.app, i.task_id, i.task_name, i.scheduled_at, i.kind, i.shard,
  i.status, i.attempt, i.fence, i.owner, i.node, i.reason, i.missed, i.missed_until, i.trace_id,
  NULL, i.params_bound, i.created_at, i.started_at, i.ended_at, i.retry_at,
  i.deferred, i.callback_hash, i.deadline_at, i.message, '', NULL, i.shards
  FROM ax_task t JOIN ax_instance i ON i.id = (SELECT x.id FROM ax_instance x WHERE x.task_id = t.id ORDER BY x.id DESC LIMIT 1)
  WHERE t.app = ? AND t.deleted_at IS NULL`, app)
	if err != nil {
		return nil, s.wrap(what, err)
	}
	defer rows.Close()
	last := map[ax.TaskID]ax.Instance{}
	for rows.Next() {
		i, err := scanInstance(rows)
		if err != nil {
			return nil, s.wrap(what, err)
		}
		last[i.TaskID] = i
	}
	return last, s.wrap(what, rows.Err())
}
