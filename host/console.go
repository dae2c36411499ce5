package host

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/axsched/ax/host/internal/api"
	"github.com/axsched/ax/host/internal/ax"
	"github.com/axsched/ax/host/internal/console"
	"github.com/axsched/ax/host/internal/engine"
	"github.com/axsched/ax/pluginapi/calendar"
)

// overviewRows is how many tasks each list of the overview has.
const overviewRows = 8

// pages is the host as the console sees it.
type pages struct {
	backend
	tally *tally
}

// newConsole makes the pages of this host.
func (h *Host) newConsole() (http.Handler, error) {
	p := pages{backend{h}, newTally(h)}
	return console.New(console.Config{Backend: p, Log: h.log.Named("console"), Zone: time.Local})
}

// Overview implements console.Backend.
func (p pages) Overview(ctx context.Context) (console.Overview, error) {
	o := console.Overview{Health: p.Health(ctx), Moods: map[api.TaskMood]int{}, Database: p.database(ctx)}
	o.Hours, o.CountedAt = p.tally.hours(ctx)
	now := time.Now()
	for _, v := range p.h.engine.Views() {
		mood := api.MoodOf(v.Row, now)
		o.Moods[mood]++
		brief := console.TaskBrief{Name: v.Row.Name, Group: v.Row.Group, NextAt: v.Row.NextAt, Failures: v.Row.Failures}
		if brief.Failures > 0 {
			o.Failing = append(o.Failing, brief)
		}
		if mood == api.TaskOn && !brief.NextAt.IsZero() {
			o.Next = append(o.Next, brief)
		}
	}
	o.FailingTotal = len(o.Failing)
	o.Failing = first(o.Failing, func(a, b console.TaskBrief) int {
		return cmp.Or(cmp.Compare(b.Failures, a.Failures), cmp.Compare(a.Name, b.Name))
	})
	o.Next = first(o.Next, func(a, b console.TaskBrief) int {
		return cmp.Or(a.NextAt.Compare(b.NextAt), cmp.Compare(a.Name, b.Name))
	})
	nodes, err := p.ListNodes(ctx)
	if err != nil {
		return o, err
	}
	o.Nodes = nodes.Nodes
	if o.Plugins, err = p.Plugins(ctx); err != nil {
		return o, err
	}
	notifiers, err := p.Notifiers(ctx)
	for _, n := range notifiers {
		o.Waiting, o.Dead = o.Waiting+n.Waiting, o.Dead+n.Dead
	}
	return o, err
}

// first returns the rows that an overview shows.
func first(list []console.TaskBrief, order func(a, b console.TaskBrief) int) []console.TaskBrief {
	slices.SortFunc(list, order)
	return slices.Clone(list[:min(len(list), overviewRows)])
}

// database asks the database for the time, to see how long that takes.
func (p pages) database(ctx context.Context) console.Database {
	d := console.Database{Kind: "SQLite"}
	if p.h.live.Load().cfg.Store.Shared() {
		d.Kind = "MySQL"
	}
	began := time.Now()
	_, err := p.h.store.Now(ctx)
	d.Answer, d.OK = time.Since(began), err == nil
	s := p.h.store.Stats()
	if s.Batches > 0 {
		d.Write = s.WriteTime / time.Duration(s.Batches)
	}
	d.LongestWrite, d.Queued = s.LongestWrite, s.Queued
	return d
}

// Calendars implements console.Backend.
func (p pages) Calendars(context.Context) ([]console.Calendar, error) {
	l := p.h.live.Load()
	users := map[string][]string{}
	for name, entry := range l.entries {
		for _, c := range entry.Row.Schedule.CalendarNames() {
			users[c] = append(users[c], name)
		}
	}
	gaps := map[string]string{}
	for _, gap := range l.cfg.Gaps(calendar.DateOf(time.Now())) {
		gaps[gap.Calendar] = gap.String()
	}
	var all []console.Calendar
	for name, c := range l.cfg.Calendars {
		slices.Sort(users[name])
		all = append(all, console.Calendar{Calendar: c, Tasks: users[name], Gap: gaps[name]})
	}
	slices.SortFunc(all, func(a, b console.Calendar) int { return cmp.Compare(a.Name(), b.Name()) })
	return all, nil
}

// AuditTrail implements console.Backend.
func (p pages) AuditTrail(ctx context.Context, f ax.AuditFilter) ([]ax.AuditRow, error) {
	f.App = p.h.live.Load().cfg.App
	return p.h.store.AuditTrail(ctx, f)
}

// taskItem shows a task with its last instances.
func (p pages) taskItem(ctx context.Context, show *showing, v *engine.View, now time.Time) (console.TaskItem, error) {
	row := v.Row
	row.Schedule = show.schedule(row.Schedule)
	item := console.TaskItem{TaskView: api.NewTaskView(row, now)}
	item.Running = v.Running
	if item.State == api.TaskPaused && item.NextAt.IsZero() {
		item.NextAt = p.nextAfterPause(ctx, v.Row)
	}
	var err error
	item.Last, err = p.h.store.Instances(ctx, ax.InstanceFilter{App: row.App, Task: row.Name, Limit: console.LastRuns})
	if err != nil {
		return item, fmt.Errorf("read the last runs of %s: %w", row.Name, err)
	}
	return item, nil
}
