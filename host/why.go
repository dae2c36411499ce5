package host

import (
	"cmp"
	"context"
	"errors"
	"reflect"
	"time"

	"github.com/axsched/ax/host/internal/ax"
	"github.com/axsched/ax/host/internal/engine"
	"github.com/axsched/ax/host/internal/trigger"
	"github.com/axsched/ax/host/internal/why"
)

const (
	// whyRows bounds what is read of the audit trail, of alerts and of instances.
	whyRows = 1000
	// whySteps bounds the candidates of a schedule that are looked at.
	whySteps = 100_000
	// farthestBack is how far back a due time is looked for.
	farthestBack = 20 * 365 * 24 * time.Hour
)

// Why tells why a due time of a task did or did not run; of a zero time the next
// and the newest one.
func (b backend) Why(ctx context.Context, name string, at time.Time) ([]why.Answer, error) {
	g, err := b.gather(ctx, name, time.Now())
	if err != nil {
		return nil, err
	}
	times := []time.Time{at}
	if at.IsZero() {
		times = g.nextAndNewest(ctx)
	}
	answers := make([]why.Answer, 0, len(times))
	for _, at := range times {
		facts, err := g.facts(ctx, at)
		if err != nil {
			return nil, err
		}
		answers = append(answers, why.Explain(facts))
	}
	return answers, nil
}

// gatherer collects the facts about a task for package why.
type gatherer struct {
	backend
	live  *live
	table *trigger.Timetable
	base  why.Facts // what does not hang on the instant
	id    ax.TaskID
}

func (b backend) gather(ctx context.Context, name string, now time.Time) (*gatherer, error) {
	l := b.h.live.Load()
	entry, ok := l.entries[name]
	if !ok {
		return nil, b.noTask(name)
	}
	views, err := b.h.views(ctx, name)
	if err != nil {
		return nil, err
	}
	if len(views) == 0 {
		return nil, b.noTask(name)
	}
	g := &gatherer{backend: b, live: l, id: entry.Row.ID}
	view := &views[0]
	g.base = why.Facts{Now: now, Task: view.Row, Held: view.Held, HeldSince: view.HeldSince}
	if keep := cmp.Or(entry.Row.Retention, l.cfg.Retention); keep > 0 {
		g.base.Kept = now.Add(-keep)
	}
	if g.base.Zone, err = trigger.Zone(view.Row.Schedule.Timezone); err != nil {
		return nil, err
	}
	if g.table, err = b.h.timetable(l.cfg, &entry.Row.Task, view.Row.AnchorAt); err != nil {
		return nil, err
	}
	return g, g.history(ctx, view)
}

// history reads what the database has about the task as a whole.
func (g *gatherer) history(ctx context.Context, view *engine.View) error {
	db, app := g.h.store, g.live.cfg.App
	row, err := db.Task(ctx, app, view.Row.Name)
	if err != nil {
		return err
	}
	f := &g.base
	f.Task.CreatedAt, f.Task.CreatedBy = row.CreatedAt, row.CreatedBy
	if f.Audit, err = db.AuditTrail(ctx, ax.AuditFilter{App: app, Object: row.Name, Limit: whyRows}); err != nil {
		return err
	}
	if f.Nodes, _, err = db.Nodes(ctx, app); err != nil {
		return err
	}
	f.Alerts, err = db.Alerts(ctx, ax.AlertFilter{App: app, TaskID: g.id, Limit: whyRows})
	return err
}

// nextAndNewest returns the due times to tell about if none is given.
func (g *gatherer) nextAndNewest(ctx context.Context) []time.Time {
	task := &g.base.Task
	next, newest := task.NextAt, task.PrevAt
	if task.Schedule.Delay == 0 {
		// An error of a plugin leaves what the engine knows.
		if at, err := g.after(ctx, g.base.Now); err == nil {
			next = at
		}
		if at, err := g.upTo(ctx, g.base.Now); err == nil {
			newest = at
		}
	}
	var times []time.Time
	for _, at := range []time.Time{next, newest} {
		if !at.IsZero() {
			times = append(times, at)
		}
	}
	return times
}

// facts gathers all that is known about an instant.
func (g *gatherer) facts(ctx context.Context, at time.Time) (why.Facts, error) {
	f := g.base
	f.At = at
	if f.Task.Schedule.Delay == 0 {
		g.schedule(ctx, &f)
	}
	if err := g.instances(ctx, &f); err != nil {
		return f, err
	}
	if f.Task.Schedule.Delay > 0 {
		f.After = f.Task.NextAt
		if f.Earlier != nil {
			f.Before = f.Earlier.ScheduledAt.In(f.Zone)
		}
	}
	f.Former = why.FormerOf(f.Audit, f.At)
	if f.Former != nil {
		g.former(ctx, &f)
	}
	return f, nil
}

// schedule asks what the schedule in force makes of the instant, which becomes
// the due time that is meant by it.
func (g *gatherer) schedule(ctx context.Context, f *why.Facts) {
	steps, err := g.steps(ctx, f.At)
	if err == nil {
		f.At = meant(f.At, steps)
		for _, s := range steps {
			if s.At.Equal(f.At) || s.Due.Equal(f.At) {
				f.Steps = append(f.Steps, s)
			}
		}
		f.Before, err = g.upTo(ctx, f.At.Add(-1))
	}
	if err == nil {
		f.After, err = g.after(ctx, f.At)
	}
	if err != nil {
		f.Trouble = err.Error()
	}
}

// steps lists the candidates of the second that an instant begins, or of the
// instant alone if that has a fraction.
func (g *gatherer) steps(ctx context.Context, at time.Time) ([]trigger.Step, error) {
	until := at
	if at.Nanosecond() == 0 {
		until = at.Add(time.Second - 1)
	}
	var steps []trigger.Step
	looked := 0
	for s, err := range g.table.Why(ctx, at.Add(-1), until) {
		if err != nil {
			return steps, err
		}
		if within(s.At, at, until) || within(s.Due, at, until) {
			steps = append(steps, s)
		}
		if looked++; looked > whySteps {
			break
		}
	}
	return steps, nil
}

func within(t, from, to time.Time) bool { return !t.Before(from) && !t.After(to) }

// meant returns the due time that a person means by an instant, given its
// candidates: the instant itself, the one in the same second, or the one to
// which jitter puts it off.
func meant(at time.Time, steps []trigger.Step) time.Time {
	var near, putOff time.Time
	for _, s := range steps {
		switch {
		case s.Due.Equal(at):
			return at
		case within(s.Due, at, at.Add(time.Second-1)):
			near = s.Due
		case s.At.Equal(at) && s.Verdict == trigger.VerdictDue:
			putOff = s.Due
		}
	}
	switch {
	case !near.IsZero():
		return near
	case !putOff.IsZero():
		return putOff
	}
	return at
}

// after returns the first due time after an instant, zero if there is none.
func (g *gatherer) after(ctx context.Context, at time.Time) (time.Time, error) {
	times, _, err := g.table.Next(ctx, at, time.Time{}, 1)
	if err != nil || len(times) == 0 {
		return time.Time{}, err
	}
	return times[0], nil
}

// upTo returns the last due time that is not after an instant, zero if there is
// none for many years. It steps back further and further until there is one,
// and then halves the time in which the last one must be.
func (g *gatherer) upTo(ctx context.Context, at time.Time) (time.Time, error) {
	due := func(after time.Time) (time.Time, error) {
		times, _, err := g.table.Next(ctx, after, at, 1)
		if err != nil || len(times) == 0 {
			return time.Time{}, err
		}
		return times[0], nil
	}
	var last time.Time
	for back := time.Second; last.IsZero() && back < farthestBack; back *= 4 {
		var err error
		if last, err = due(at.Add(-back)); err != nil {
			return last, err
		}
	}
	for none := at; !last.IsZero() && none.Sub(last) > time.Microsecond; {
		middle := last.Add(none.Sub(last) / 2)
		later, err := due(middle)
		switch {
		case err != nil:
			return last, err
		case later.IsZero():
			none = middle
		default:
			last = later
		}
	}
	return last, nil
}

// instances reads the rows of the instant and those around it.
func (g *gatherer) instances(ctx context.Context, f *why.Facts) (err error) {
	db, app, name := g.h.store, g.live.cfg.App, f.Task.Name
	at := f.At.Truncate(time.Microsecond)
	span := time.Microsecond
	if len(f.Steps) == 0 && at.Nanosecond() == 0 {
		span = time.Second // a due time of a former schedule may have a fraction
	}
	f.Rows, err = db.Instances(ctx, ax.InstanceFilter{
		App: app, Task: name, Kinds: []ax.Kind{ax.KindScheduled, ax.KindBackfill}, Since: at, Until: at.Add(span), Limit: 10,
	})
	if err != nil {
		return err
	}
	earlier, err := db.InstanceBefore(ctx, app, name, at)
	switch {
	case err == nil:
		f.Earlier = &earlier
	case !errors.Is(err, ax.ErrNotFound):
		return err
	}
	if len(f.Rows) == 0 {
		return nil
	}
	if len(f.Steps) == 0 {
		f.At = f.Rows[0].ScheduledAt
	}
	f.Others, err = db.Instances(ctx, ax.InstanceFilter{App: app, Task: name, Before: f.Rows[len(f.Rows)-1].ID, Limit: 100})
	if err != nil {
		return err
	}
	f.Events = map[ax.InstanceID][]ax.Event{}
	for _, row := range f.Rows {
		if f.Events[row.ID], err = db.Events(ctx, ax.EventFilter{Instance: row.ID, Stages: told(), Limit: whyRows}); err != nil {
			return err
		}
	}
	return nil
}

// told are the stages that say something about the way of an instance.
func told() []ax.Stage {
	return []ax.Stage{
		ax.StageTriggerReady, ax.StageDispatched, ax.StageReceived, ax.StageDispatchRetry, ax.StageClaimed, ax.StageDeferred,
		ax.StageOutcome, ax.StageRetryScheduled, ax.StageRedispatched, ax.StageLost, ax.StageLateResult, ax.StageCancel,
	}
}

// former finds out whether the definition of then made the task due. Of a
// plugin's trigger that cannot be said: its settings are kept without secrets;
// nor where the days of a calendar have changed, since the old ones are gone.
func (g *gatherer) former(ctx context.Context, f *why.Facts) {
	old, now := f.Former.Task.Schedule, f.Task.Schedule
	sameButVersion := old
	sameButVersion.Version = now.Version
	switch {
	case old.Trigger != nil, old.Delay > 0, old.RepeatCount != nil && old.Anchor.IsZero():
		return
	case old.Version != now.Version && f.Former.Task.Enabled == f.Task.Enabled && reflect.DeepEqual(sameButVersion, now):
		return
	}
	f.Former.Task.Name = f.Task.Name
	table, err := g.h.timetable(g.live.cfg, &f.Former.Task, f.Task.AnchorAt)
	if err != nil {
		return // such as a calendar that is gone
	}
	times, _, err := table.Next(ctx, f.At.Add(-1), f.At, 1)
	f.Former.Computed = err == nil
	f.Former.Due = err == nil && len(times) > 0
}
