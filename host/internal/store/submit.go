package store

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/axsched/ax/host/internal/ax"
)

// Submit hands a change to the writer and returns as soon as there is room in
// its buffer. What became of the change is told to its Done:
//
//   - true, nil: it is in the database, on disk.
//   - false, nil: the condition of Plan or Move did not hold.
//   - false, ErrDuplicate: an instance of Insert exists already, by its due
//     time; nothing of the change was written.
//   - false, ErrRepeated: the key of Request was used before; nothing was written.
//   - false, ErrUnavailable: the database stayed busy, full or away for RetryFor.
//     With ErrUncertain too the change may have been written all the same.
//   - false, another error: the change is wrong, or the store closed or read-only.
//
// Changes are applied in the order in which they were submitted. Done must not
// call Submit: with a full buffer both would wait for each other.
func (s *Store) Submit(c ax.Change) {
	if s.writer == nil {
		answer(c, false, ErrReadOnly)
		return
	}
	s.writer.submit(parcel{one: encodeChange(c)})
}

// SubmitAll is Submit for changes that had best share a transaction, such as
// those of one instant: none of them is written before the others are there.
// Each still stands and falls on its own.
func (s *Store) SubmitAll(changes []ax.Change) {
	if s.writer == nil {
		for _, c := range changes {
			answer(c, false, ErrReadOnly)
		}
		return
	}
	items := make([]*item, len(changes))
	for i, c := range changes {
		items[i] = encodeChange(c)
	}
	s.writer.submit(parcel{many: items})
}

// answer calls Done if there is one.
func answer(c ax.Change, applied bool, err error) {
	if c.Done != nil {
		c.Done(applied, err)
	}
}

// item is a change on its way through the writer. The arguments of its
// statements are made by the sender, to leave the writer's goroutine less to do.
type item struct {
	change  ax.Change
	at      time.Time // of Submit
	plan    []any     // nil: no such statement
	move    []any
	inserts [][]any // in the order of instanceColumns
	events  [][]any // in the order of eventColumns
	alerts  [][]any // in the order of alertEventColumns
	request []any   // in the order of requestColumns, nil for none

	// The verdict. Unless it is final the next transaction forms it anew.
	applied bool
	err     error
	final   bool
}

func encodeChange(c ax.Change) *item {
	it := &item{change: c, at: time.Now()}
	if it.err = checkChange(c); it.err != nil {
		it.final = true
		return it
	}
	if c.Plan != nil {
		it.plan = planArgs(c.Plan)
	}
	if c.Move != nil {
		it.move = moveArgs(c.Move)
	}
	for i := range c.Insert {
		it.inserts = append(it.inserts, instanceArgs(&c.Insert[i]))
	}
	for i := range c.Events {
		it.events = append(it.events, eventArgs(&c.Events[i]))
	}
	for i := range c.Alerts {
		it.alerts = append(it.alerts, alertEventArgs(&c.Alerts[i]))
	}
	if c.Request != nil {
		it.request = requestArgs(c.Request)
	}
	return it
}

// checkChange finds what is a mistake in the program, whatever the database
// holds: moves that the state machine does not have, and values that would be
// refused or could not be read back.
func checkChange(c ax.Change) error {
	for i := range c.Insert {
		n := &c.Insert[i]
		if !ax.CanMove(ax.StatusPending, n.Status) {
			return fmt.Errorf("insert instance %d: no instance begins as %q", n.ID, n.Status)
		}
		if n.ScheduledAt.IsZero() || n.CreatedAt.IsZero() {
			return fmt.Errorf("insert instance %d: ScheduledAt or CreatedAt is not set", n.ID)
		}
		if err := checkParams(n); err != nil {
			return fmt.Errorf("insert instance %d: %w", n.ID, err)
		}
	}
	if m := c.Move; m != nil {
		if !mayMove(m.From, m.New.Status) {
			return fmt.Errorf("move instance %d: there is no way from %s to %q", m.New.ID, m.From, m.New.Status)
		}
		if err := checkParams(&m.New); err != nil {
			return fmt.Errorf("move instance %d: %w", m.New.ID, err)
		}
	}
	if slices.ContainsFunc(c.Events, func(e ax.Event) bool { return e.ID == 0 || e.At.IsZero() }) {
		return errors.New("write an event: its ID or At is not set")
	}
	return nil
}

// mayMove is ax.CanMove, and lets an instance that is not finished stay in its
// state while other columns change, as when a job turns out to be deferred.
func mayMove(from, to ax.Status) bool {
	return ax.CanMove(from, to) || from == to && !from.Final() && from != ax.StatusPending
}

func checkParams(n *ax.Instance) error {
	if len(n.Params) > 0 && !json.Valid(n.Params) {
		return errors.New("params are not JSON")
	}
	return nil
}

const updatePlan = `UPDATE ax_task SET next_at = ?, prev_at = ?,
  planned = CASE WHEN ? THEN ? ELSE planned END, plan_done = ?
  WHERE id = ? AND ` + nextAtIs

func planArgs(p *ax.Plan) []any {
	return []any{
		micros(p.To), micros(p.Prev), flag(p.Planned != nil), timesText(p.Planned), flag(p.PlanDone),
		int64(p.Task), nextAtArg(p.From),
	}
}

// movedColumns are those that a Move sets.
const movedColumns = "status, attempt, fence, owner, node, reason, params, params_bound, started_at, ended_at, retry_at, " +
	"deferred, callback_hash, deadline_at, message, error, data"

// updateInstance names the due time too, which never changes: tables may have
// partitions by it.
var updateInstance = "UPDATE ax_instance SET " + strings.ReplaceAll(movedColumns, ", ", " = ?, ") + ` = ?
  WHERE id = ? AND scheduled_at = ? AND status = ? AND fence = ?`

func moveArgs(m *ax.Move) []any {
	n := &m.New
	return []any{
		string(n.Status), n.Attempt, n.Fence, n.Owner, n.Node, Cut(n.Reason, MaxMessage),
		jsonText(n.Params), flag(n.ParamsBound), micros(n.StartedAt), micros(n.EndedAt), micros(n.RetryAt),
		flag(n.Deferred), n.CallbackHash, micros(n.DeadlineAt), Cut(n.Message, MaxMessage), Cut(n.Error, MaxError), jsonText(cutJSON(n.Data, MaxData)),
		int64(n.ID), micros(n.ScheduledAt), string(m.From), m.Fence,
	}
}
