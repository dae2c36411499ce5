package store

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"github.com/axsched/ax/host/internal/ax"
)

// PauseParams pauses a task or resumes it.
type PauseParams struct {
	Task   ax.TaskID
	Paused bool
	// Until ends the pause by itself, zero = never.
	Until time.Time
	// Actor and Now go into the audit trail. Now is the instant from which the
	// change holds, which may be some time ago.
	Actor string
	Now   time.Time
}

// What the audit trail calls the pause of a task and its end.
const (
	ActionPause  = "task.pause"
	ActionResume = "task.resume"
)

// SetPaused pauses or resumes a task, and says so in the audit trail if that
// changed anything. It returns ErrNotFound for a task that is not there.
func (s *Store) SetPaused(ctx context.Context, p PauseParams) error {
	if !p.Paused {
		p.Until = time.Time{}
	}
	what := fmt.Sprintf("set the pause of task %d", p.Task)
	return s.writeTx(ctx, what, func(tx *sql.Tx) error {
		var app, name string
		var paused bool
		var until time.Time
		err := tx.QueryRowContext(ctx, s.sql("SELECT app, name, paused, paused_until FROM ax_task WHERE id = ? AND deleted_at IS NULL"),
			int64(p.Task)).Scan(&app, &name, &paused, timeColumn{&until})
		if err != nil {
			return err
		}
		if paused == p.Paused && micros(until) == micros(p.Until) {
			return nil
		}
		version, err := s.nextVersion(ctx, tx, app)
		if err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, s.sql("UPDATE ax_task SET paused = ?, paused_until = ?, changed = ? WHERE id = ?"),
			flag(p.Paused), micros(p.Until), version, int64(p.Task))
		if err != nil {
			return err
		}
		row := ax.AuditRow{At: p.Now, App: app, Actor: p.Actor, Action: ActionResume, Object: name}
		if p.Paused {
			row.Action = ActionPause
			if row.Detail, err = plainJSON(pauseDetail{p.Until}); err != nil {
				return err
			}
		}
		_, err = tx.ExecContext(ctx, s.sql(insertAudit), auditArgs(row)...)
		return err
	})
}

type pauseDetail struct {
	Until time.Time `json:"until,omitzero"`
}

// ParkParams parks a task or lets it go on.
type ParkParams struct {
	Task ax.TaskID
	// Reason says why it cannot be scheduled, empty if it can.
	Reason string
	Now    time.Time // for the audit trail
}

// ParkActor is who parks tasks, in the audit trail.
const ParkActor = "the host"

// SetParked parks a task or lets it go on, and says so in the audit trail if
// that changed anything. It returns ErrNotFound for a task that is not there.
func (s *Store) SetParked(ctx context.Context, p ParkParams) error {
	reason := Cut(p.Reason, MaxMessage)
	return s.writeTx(ctx, fmt.Sprintf("set the parking of task %d", p.Task), func(tx *sql.Tx) error {
		var app, name, before string
		err := tx.QueryRowContext(ctx, s.sql("SELECT app, name, parked FROM ax_task WHERE id = ? AND deleted_at IS NULL"),
			int64(p.Task)).Scan(&app, &name, &before)
		if err != nil || before == reason {
			return err
		}
		version, err := s.nextVersion(ctx, tx, app)
		if err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, s.sql("UPDATE ax_task SET parked = ?, changed = ? WHERE id = ?"), reason, version, int64(p.Task)); err != nil {
			return err
		}
		row := ax.AuditRow{At: p.Now, App: app, Actor: ParkActor, Action: "task.unpark", Object: name}
		if reason != "" {
			row.Action = "task.park"
			if row.Detail, err = plainJSON(parkDetail{reason}); err != nil {
				return err
			}
		}
		_, err = tx.ExecContext(ctx, s.sql(insertAudit), auditArgs(row)...)
		return err
	})
}

type parkDetail struct {
	Reason string `json:"reason"`
}

// SavePlan writes the due times of a task (NextAt to AnchorAt; the rest of
// state is not looked at) if its next due time still is from. It returns false
// if it is not, or the task is gone.
func (s *Store) SavePlan(ctx context.Context, task ax.TaskID, from time.Time, state ax.TaskState) (bool, error) {
	n, err := s.exec(ctx, fmt.Sprintf("save the plan of task %d", task),
		`UPDATE ax_task SET next_at = ?, prev_at = ?, planned = ?, plan_version = ?, plan_done = ?, anchor_at = ?
  WHERE id = ? AND `+nextAtIs,
		micros(state.NextAt), micros(state.PrevAt), timesText(state.Planned), state.PlanVersion, flag(state.PlanDone), micros(state.AnchorAt),
		int64(task), nextAtArg(from))
	return n > 0, err
}

// nextAtIs is the condition of every compare-and-set on the plan of a task.
// NULL, "never again", compares as -1, a time that no schedule has.
const nextAtIs = "COALESCE(next_at, -1) = ? AND deleted_at IS NULL"

func nextAtArg(from time.Time) int64 {
	if from.IsZero() {
		return -1
	}
	return from.UnixMicro()
}
