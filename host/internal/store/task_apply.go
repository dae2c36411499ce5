package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/axsched/ax/host/internal/ax"
)

// ApplyParams is a new set of definitions.
type ApplyParams struct {
	App string
	// Actor is who made the change, for the audit trail.
	Actor string
	Now   time.Time
	// Upsert holds tasks to make or change. Their TaskState is written if the
	// task is new or PlanVersion differs from that of the row; otherwise the
	// state of the row stays, which may have moved on since the caller read it.
	// CreatedAt to Revision are kept by the store and not looked at.
	Upsert []ax.TaskRow
	// Delete holds tasks to remove. Unknown ones are passed over.
	Delete []ax.TaskID
	// Seen is what the caller saw as NextAt of tasks whose plan is replaced or
	// that are deleted. If one of them has moved on nothing is written at all and
	// the error is ax.ErrMoved: the caller looks again.
	Seen map[ax.TaskID]time.Time
	// Revisions is which revision of tasks the caller wants to replace or delete, 0
	// for a task that must not be there. If one of them is another one nothing is
	// written at all and the error is ax.ErrRevised.
	Revisions map[ax.TaskID]int64
	// Shown returns a definition as the audit trail may show it. With it audit rows
	// also tell what a definition was changed to; nil stands for definitions that
	// hold no secrets.
	Shown func(definition json.RawMessage) json.RawMessage
}

// ApplyTasks writes a set of definitions in one transaction: all of it or
// nothing. A definition that changed gets the next revision and an audit row;
// a task that differs in nothing is not written. A deleted task keeps its row
// and its history, and comes back if a task of that name is made again.
func (s *Store) ApplyTasks(ctx context.Context, p ApplyParams) error {
	return s.writeTx(ctx, "apply tasks", func(tx *sql.Tx) error {
		a := &applier{store: s, tx: tx, params: p}
		defer a.close()
		if err := a.prepare(ctx); err != nil {
			return err
		}
		for rows := range slices.Chunk(p.Upsert, applyChunk) {
			chunk, err := encodeTasks(p.App, rows)
			if err != nil {
				return err
			}
			if err := a.upsert(ctx, chunk); err != nil {
				return err
			}
		}
		for _, id := range p.Delete {
			if err := a.delete(ctx, id); err != nil {
				return err
			}
		}
		return nil
	})
}

// applyChunk is how many tasks are encoded at a time and looked up in one query.
const applyChunk = 200

// taskText is a task in its stored form.
type taskText struct {
	id         ax.TaskID
	name       string
	definition string
	source     string
	enabled    bool
	state      taskStateText
}

// taskStateText is a TaskState in its stored form, comparable.
type taskStateText struct {
	nextAt, prevAt, planned any
	planVersion             string
	planDone                bool
	anchorAt                any
	paused                  bool
	pausedUntil             any
	parked                  string
	failures                int64
}

func encodeTasks(app string, rows []ax.TaskRow) ([]taskText, error) {
	texts := make([]taskText, len(rows))
	for i, row := range rows {
		var err error
		if texts[i], err = encodeTask(app, row); err != nil {
			return nil, err
		}
	}
	return texts, nil
}

func encodeTask(app string, row ax.TaskRow) (taskText, error) {
	if row.App != app || row.ID != ax.NewTaskID(app, row.Name) {
		return taskText{}, fmt.Errorf("task %q (id %d, app %q) is none of app %q", row.Name, row.ID, row.App, app)
	}
	def := row.Task
	def.Source = "" // has its own column: a task that moves within its file is no new revision
	b, err := plainJSON(def)
	if err != nil {
		return taskText{}, fmt.Errorf("definition of task %q: %w", row.Name, err)
	}
	return taskText{
		id: row.ID, name: row.Name, definition: string(b), source: row.Source, enabled: row.Enabled,
		state: encodeState(row.TaskState),
	}, nil
}

func encodeState(st ax.TaskState) taskStateText {
	return taskStateText{
		nextAt: micros(st.NextAt), prevAt: micros(st.PrevAt), planned: timesText(st.Planned),
		planVersion: st.PlanVersion, planDone: st.PlanDone, anchorAt: micros(st.AnchorAt),
		paused: st.Paused, pausedUntil: micros(st.PausedUntil),
		parked: Cut(st.Parked, MaxMessage), failures: int64(st.Failures),
	}
}

// args lists the values in the order of stateColumns.
func (t taskStateText) args() []any {
	return []any{
		t.nextAt, t.prevAt, t.planned, t.planVersion, flag(t.planDone), t.anchorAt,
		flag(t.paused), t.pausedUntil, t.parked, t.failures,
	}
}

const (
	stateColumns = `next_at, prev_at, planned, plan_version, plan_done, anchor_at,
  paused, paused_until, parked, failures`
	stateSet = `next_at = ?, prev_at = ?, planned = ?, plan_version = ?, plan_done = ?, anchor_at = ?,
  paused = ?, paused_until = ?, parked = ?, failures = ?`
)

// oldTask is what the database holds of a task.
type oldTask struct {
	taskText
	revision int64
	deleted  bool
}

// present is the revision that is in force, 0 for none.
func (o oldTask) present() int64 {
	if o.deleted {
		return 0
	}
	return o.revision
}

// applier holds the statements of one ApplyTasks.
type applier struct {
	store  *Store
	tx     *sql.Tx
	params ApplyParams

	version int64 // of the tasks with these changes, 0 = there was none yet

	insert, redefine, replan, audit *sql.Stmt
}

// changed returns the version of the tasks that this set of definitions makes.
func (a *applier) changed(ctx context.Context) (int64, error) {
	if a.version != 0 {
		return a.version, nil
	}
	var err error
	a.version, err = a.store.nextVersion(ctx, a.tx, a.params.App)
	return a.version, err
}

func (a *applier) prepare(ctx context.Context) error {
	for _, st := range []struct {
		stmt **sql.Stmt
		text string
	}{
		{&a.insert, `INSERT INTO ax_task (id, app, name, bucket, definition, source, enabled, ` + stateColumns + `,
  revision, changed, created_at, created_by, updated_at, updated_by)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`},
		{&a.redefine, `UPDATE ax_task SET definition = ?, source = ?, enabled = ?, revision = ?, changed = ?,
  updated_at = CASE WHEN ? THEN ? ELSE updated_at END, updated_by = CASE WHEN ? THEN ? ELSE updated_by END,
  deleted_at = NULL WHERE id = ? AND ` + unmoved},
		{&a.replan, `UPDATE ax_task SET ` + stateSet + ` WHERE id = ?`},
		{&a.audit, insertAudit},
	} {
		var err error
		if *st.stmt, err = a.tx.PrepareContext(ctx, a.store.sql(st.text)); err != nil {
			return err
		}
	}
	return nil
}

func (a *applier) close() {
	for _, st := range []*sql.Stmt{a.insert, a.redefine, a.replan, a.audit} {
		if st != nil {
			st.Close()
		}
	}
}

func (a *applier) upsert(ctx context.Context, chunk []taskText) error {
	old, err := a.read(ctx, chunk)
	if err != nil {
		return err
	}
	for _, t := range chunk {
		o, known := old[t.id]
		if want, asked := a.params.Revisions[t.id]; asked && want != o.present() {
			return fmt.Errorf("task %q: %w", t.name, ax.ErrRevised)
		}
		if known && !o.deleted && o.state.planVersion == t.state.planVersion {
			t.state = o.state
		}
		switch {
		case !known:
			err = a.create(ctx, t)
		case o.taskText != t || o.deleted:
			err = a.change(ctx, o, t)
		}
		if err != nil {
			return fmt.Errorf("task %q: %w", t.name, err)
		}
	}
	return nil
}

func (a *applier) create(ctx context.Context, t taskText) error {
	p := a.params
	version, err := a.changed(ctx)
	if err != nil {
		return err
	}
	args := []any{int64(t.id), p.App, t.name, t.id.Bucket(), t.definition, t.source, flag(t.enabled)}
	args = append(args, t.state.args()...)
	args = append(args, 1, version, micros(p.Now), p.Actor, micros(p.Now), p.Actor)
	if _, err := a.insert.ExecContext(ctx, args...); a.store.dialect.duplicate(err) {
		return fmt.Errorf("%w: %w", errAgain, err)
	} else if err != nil {
		return err
	}
	return a.record(ctx, "task.create", t.name, a.detail(1, "", t.definition))
}

func (a *applier) change(ctx context.Context, old oldTask, t taskText) error {
	p := a.params
	version, err := a.changed(ctx)
	if err != nil {
		return err
	}
	redefined := old.definition != t.definition || old.deleted
	revision := old.revision
	if redefined {
		revision++
	}
	args := append([]any{
		t.definition, t.source, flag(t.enabled), revision, version,
		flag(redefined), micros(p.Now), flag(redefined), p.Actor, int64(t.id),
	}, a.unmovedArgs(t.id, old.revision)...)
	if err := matched(a.redefine.ExecContext(ctx, args...)); err != nil {
		return err
	}
	// The state is written only to replace it: it moves on all the time.
	if t.state != old.state {
		if _, err := a.replan.ExecContext(ctx, append(t.state.args(), int64(t.id))...); err != nil {
			return err
		}
	}
	switch {
	case old.deleted:
		return a.record(ctx, "task.create", t.name, a.detail(revision, "", t.definition))
	case redefined:
		return a.record(ctx, "task.update", t.name, a.detail(revision, old.definition, t.definition))
	}
	return nil
}

// unmoved is the condition that a task is due next when the caller saw that it is,
// and still has the revision that was read, each if that was asked for.
const unmoved = "(? = 0 OR COALESCE(next_at, -1) = ?) AND (? = 0 OR revision = ?)"

func (a *applier) unmovedArgs(id ax.TaskID, revision int64) []any {
	seen, asked := a.params.Seen[id]
	_, revised := a.params.Revisions[id]
	return []any{flag(asked), nextAtArg(seen), flag(revised), revision}
}

func (a *applier) delete(ctx context.Context, id ax.TaskID) error {
	p := a.params
	var name, definition string
	var revision int64
	err := a.tx.QueryRowContext(ctx, a.store.sql("SELECT name, definition, revision FROM ax_task WHERE id = ? AND app = ? AND deleted_at IS NULL"),
		int64(id), p.App).Scan(&name, &definition, &revision)
	gone := errors.Is(err, sql.ErrNoRows)
	if err != nil && !gone {
		return err
	}
	if want, asked := p.Revisions[id]; asked && want != revision {
		return fmt.Errorf("task %d: %w", id, ax.ErrRevised)
	}
	if gone {
		return nil
	}
	version, err := a.changed(ctx)
	if err != nil {
		return err
	}
	// How it fares goes first, as WriteAlerts locks these rows in this order.
	if _, err := a.tx.ExecContext(ctx, a.store.sql("DELETE FROM ax_alert_task WHERE task_id = ?"), int64(id)); err != nil {
		return err
	}
	args := append([]any{micros(p.Now), version, micros(p.Now), p.Actor, int64(id)}, a.unmovedArgs(id, revision)...)
	res, err := a.tx.ExecContext(ctx, a.store.sql(`UPDATE ax_task SET deleted_at = ?, changed = ?, updated_at = ?, updated_by = ?
  WHERE id = ? AND deleted_at IS NULL AND `+unmoved), args...)
	if err := matched(res, err); err != nil {
		return fmt.Errorf("task %q: %w", name, err)
	}
	return a.record(ctx, "task.delete", name, a.detail(revision, definition, ""))
}

// matched turns a conditional change that matched no row into ax.ErrMoved.
func matched(res sql.Result, err error) error {
	if err != nil {
		return err
	}
	if n, err := res.RowsAffected(); err != nil || n > 0 {
		return err
	}
	return ax.ErrMoved
}

// read returns what the database holds of the tasks in chunk, deleted ones too.
func (a *applier) read(ctx context.Context, chunk []taskText) (map[ax.TaskID]oldTask, error) {
	args := make([]any, len(chunk))
	for i, t := range chunk {
		args[i] = int64(t.id)
	}
	rows, err := a.tx.QueryContext(ctx, a.store.sql(`SELECT id, name, definition, source, enabled, `+stateColumns+`,
  revision, deleted_at IS NOT NULL FROM ax_task WHERE id IN (`+placeholders(len(args))+`)`), args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	old := make(map[ax.TaskID]oldTask, len(chunk))
	for rows.Next() {
		var o oldTask
		var next, prev, anchor, until sql.NullInt64
		var planned sql.NullString
		err := rows.Scan(&o.id, &o.name, &o.definition, &o.source, &o.enabled,
			&next, &prev, &planned, &o.state.planVersion, &o.state.planDone, &anchor,
			&o.state.paused, &until, &o.state.parked, &o.state.failures, &o.revision, &o.deleted)
		if err != nil {
			return nil, err
		}
		o.state.nextAt, o.state.prevAt, o.state.anchorAt, o.state.pausedUntil = orNil(next), orNil(prev), orNil(anchor), orNil(until)
		if planned.Valid {
			o.state.planned = planned.String
		}
		old[o.id] = o
	}
	return old, rows.Err()
}

func orNil(n sql.NullInt64) any {
	if n.Valid {
		return n.Int64
	}
	return nil
}
