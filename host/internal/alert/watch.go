package alert

import (
	"context"
	"fmt"
	"time"

	"github.com/axsched/ax/host/internal/ax"
)

const (
	// watchEvery is how often runs and due times are looked at.
	watchEvery = 10 * time.Second
	// watchLimit is how many of each sort are looked at.
	watchLimit = 10_000
	// nodeDead is how long a host must be silent to be lost.
	nodeDead = 15 * time.Second
	// learnEvery is how often it is looked which tasks fail, missedFor how old an
	// instance may be of which a success is looked for.
	learnEvery = 15 * time.Second
	missedFor  = 24 * time.Hour
)

// watch looks now and then for what nobody tells of: runs that take long or do
// not start, due times without a record, hosts that have died. Every host does,
// so that one that hangs is noticed by another; who gathers the events drops
// those that were told already.
func (m *Manager) watch() {
	tick := time.NewTicker(watchEvery)
	defer tick.Stop()
	w := watcher{m: m, told: map[string]bool{}, nodes: map[string]bool{}}
	for {
		select {
		case <-tick.C:
		case <-m.quit:
			return
		}
		ctx, cancel := context.WithTimeout(m.watching, watchEvery)
		if err := w.runOnce(ctx); err != nil && m.watching.Err() == nil {
			m.cfg.Log.Error("cannot look for slow runs and due times without a record", "error", err)
		}
		cancel()
	}
}

// watcher remembers what it has told, so as not to say it at each look.
type watcher struct {
	m       *Manager
	told    map[string]bool // by event and run or due time
	nodes   map[string]bool // incarnations that were seen alive
	learned time.Time
}

func (w *watcher) runOnce(ctx context.Context) error {
	now, err := w.m.cfg.Store.Now(ctx)
	if err != nil {
		return err
	}
	if now.Sub(w.learned) >= learnEvery && !w.m.cfg.Sole {
		if err := w.m.learnFailing(ctx); err != nil {
			return err
		}
		if err := w.successes(ctx, now); err != nil {
			return err
		}
		w.learned = now
	}
	seen := map[string]bool{}
	if err := w.runs(ctx, now, seen); err != nil {
		return err
	}
	if err := w.dueTimes(ctx, now, seen); err != nil {
		return err
	}
	w.told = seen // what is over is forgotten
	return w.hosts(ctx, now)
}

// successes tells of successes that were not noted as the end of failures, since
// their host did not know yet that another one had seen the task fail.
func (w *watcher) successes(ctx context.Context, now time.Time) error {
	if !w.m.holds() {
		return nil
	}
	rows, err := w.m.cfg.Store.FailingTasks(ctx, w.m.cfg.App)
	if err != nil || len(rows) == 0 {
		return err
	}
	failed := make(map[ax.TaskID]time.Time, len(rows))
	ids := make([]ax.TaskID, len(rows))
	for i := range rows {
		s, err := loadStory(rows[i])
		if err != nil {
			continue // the next event of the task says so
		}
		ids[i], failed[rows[i].TaskID] = rows[i].TaskID, s.Newest
	}
	list, err := w.m.cfg.Store.NewestSuccesses(ctx, ids, now.Add(-missedFor))
	for _, t := range list {
		if t.At.After(failed[t.ID]) {
			w.m.Tell(ax.AlertEvent{TaskID: t.ID, Subject: t.Name, Event: succeeded, At: t.At})
		}
	}
	return err
}

// tell tells once for each key.
func (w *watcher) tell(seen map[string]bool, key string, ev ax.AlertEvent) {
	seen[key] = true
	if !w.told[key] {
		w.m.Tell(ev)
	}
}

// runs tells of runs that are slow or late.
func (w *watcher) runs(ctx context.Context, now time.Time, seen map[string]bool) error {
	if !w.m.cfg.Settings().WatchRuns {
		return nil
	}
	list, err := w.m.cfg.Store.WatchedInstances(ctx, w.m.cfg.App, watchLimit)
	if err != nil {
		return err
	}
	for i := range list {
		inst := &list[i]
		task := w.m.cfg.Task(inst.TaskName)
		if task == nil || len(task.Notify.To) == 0 {
			continue
		}
		ev := ax.AlertEvent{TaskID: inst.TaskID, Subject: inst.TaskName, At: now, Instance: inst.ID, Attempt: inst.Attempt, Node: inst.Node}
		running := inst.Status == ax.StatusRunning
		switch {
		case running && task.WarnAfter > 0 && now.Sub(inst.StartedAt) > task.WarnAfter:
			ev.Event, ev.Detail = slow, fmt.Sprintf("runs since %s, longer than %s", clock(task, inst.StartedAt), short(task.WarnAfter))
		case !running && inst.Attempt == 0 && task.StartDeadline > 0 && now.Sub(inst.ScheduledAt) > task.StartDeadline:
			ev.Event, ev.Detail = late, fmt.Sprintf("due at %s and not started within %s", clock(task, inst.ScheduledAt), short(task.StartDeadline))
		default:
			continue
		}
		w.tell(seen, ev.Event+inst.ID.String(), ev)
	}
	return nil
}

// clock shows a time in the zone of a task.
func clock(task *ax.Task, t time.Time) string {
	zone, err := time.LoadLocation(task.Schedule.Timezone)
	if err != nil {
		zone = time.UTC
	}
	return t.In(zone).Format(time.DateTime + " MST")
}

// dueTimes tells of due times that should have a record by now, and lets the host
// take them over.
func (w *watcher) dueTimes(ctx context.Context, now time.Time, seen map[string]bool) error {
	grace := w.m.cfg.Settings().OverdueAfter
	if grace <= 0 {
		return nil
	}
	list, err := w.m.cfg.Store.OverdueTasks(ctx, w.m.cfg.App, now.Add(-grace), watchLimit)
	if err != nil || len(list) == 0 {
		return err
	}
	var lost []ax.OverdueTask
	for _, t := range list {
		if t.Parked != "" {
			continue // told already, and nobody can take it over
		}
		lost = append(lost, t)
		if task := w.m.cfg.Task(t.Name); task != nil && len(task.Notify.To) > 0 {
			w.tell(seen, fmt.Sprint(overdue, t.ID, t.NextAt.UnixMicro()), ax.AlertEvent{
				TaskID: t.ID, Subject: t.Name, Event: overdue, At: t.NextAt,
				Detail: fmt.Sprintf("due at %s, and nothing is recorded: its host hangs, is overloaded, or has lost it", clock(task, t.NextAt)),
			})
		}
	}
	w.m.mu.Lock()
	w.m.figures.overdue = len(lost)
	w.m.mu.Unlock()
	if len(lost) > 0 && w.m.cfg.Overdue != nil {
		w.m.cfg.Overdue(ctx, lost)
	}
	return nil
}

// hosts tells of hosts that were alive and have gone silent without a word.
func (w *watcher) hosts(ctx context.Context, now time.Time) error {
	if w.m.cfg.Nodes == nil || w.m.cfg.Sole {
		return nil
	}
	nodes, err := w.m.cfg.Nodes(ctx)
	if err != nil {
		return err
	}
	alive := map[string]bool{}
	for i := range nodes {
		n := &nodes[i]
		switch silent := now.Sub(n.BeatAt); {
		case silent < nodeDead:
			alive[n.Incarnation] = true
		case w.nodes[n.Incarnation] && !n.Draining:
			w.m.Tell(ax.AlertEvent{
				Subject: "host " + n.Name, Event: NodeLost, At: now,
				Detail: fmt.Sprintf("no sign of life since %s; others take over its tasks", n.BeatAt.UTC().Format(time.DateTime+" MST")),
			})
		}
	}
	w.nodes = alive
	return nil
}
