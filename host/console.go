package host

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"time"

	"github.com/axsched/ax/host/internal/api"
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
	seen  *seen
}

// narrowed is the host as those see it who call it.
func (h *Host) narrowed() narrow { return narrow{pages{backend{h}, newTally(h), &seen{}}} }

// newConsole makes the pages of this host.
func (h *Host) newConsole() (api.Pages, error) {
	return console.New(console.Config{Backend: h.narrowed(), Log: h.log.Named("console"), Zone: time.Local, Logins: h.guard})
}

// Overview implements console.Backend.
func (p pages) Overview(ctx context.Context) (console.Overview, error) {
	o := console.Overview{Health: p.Health(ctx), Moods: map[api.TaskMood]int{}, Database: p.database(ctx)}
	o.Hours, o.CountedAt = p.tally.hours(ctx)
	views, err := p.all(ctx)
	if err != nil {
		return o, err
	}
	sumTasks(views, &o)
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

// sumTasks counts the tasks and picks those to be shown.
func sumTasks(views []engine.View, o *console.Overview) {
	now := time.Now()
	for i := range views {
		row := &views[i].Row
		mood := api.MoodOf(*row, now)
		o.Moods[mood]++
		brief := console.TaskBrief{Name: row.Name, Group: row.Group, NextAt: row.NextAt, Failures: row.Failures}
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
}

// first returns the rows that an overview shows.
func first(list []console.TaskBrief, order func(a, b console.TaskBrief) int) []console.TaskBrief {
	slices.SortFunc(list, order)
	return slices.Clone(list[:min(len(list), overviewRows)])
}

// database asks the database for something small, to see how long that takes.
func (p pages) database(ctx context.Context) console.Database {
	d := console.Database{Kind: "SQLite"}
	if p.h.live.Load().cfg.Store.Shared() {
		d.Kind = "MySQL"
	}
	began := time.Now()
	_, _, err := p.h.store.Nodes(ctx, p.h.live.Load().cfg.App) // a few rows; SQLite needs no query for the time
	d.Answer, d.OK = time.Since(began), err == nil
	s := p.h.store.Stats()
	if s.Batches > 0 {
		d.Write = s.WriteTime / time.Duration(s.Batches)
	}
	d.LongestWrite, d.Queued = s.LongestWrite, s.Queued
	return d
}

// Secrets implements console.Backend.
func (p pages) Secrets() []string { return slices.Sorted(maps.Keys(p.h.live.Load().cfg.Named)) }

// Calendars implements console.Backend.
func (p pages) Calendars(context.Context) ([]console.Calendar, error) {
	l := p.h.live.Load()
	users := l.calendarUsers()
	gaps := map[string]string{}
	for _, gap := range l.cfg.Gaps(calendar.DateOf(time.Now())) {
		gaps[gap.Calendar] = gap.String()
	}
	var all []console.Calendar
	for name, c := range l.cfg.Calendars {
		all = append(all, console.Calendar{Calendar: c, Tasks: users[name], Gap: gaps[name]})
	}
	slices.SortFunc(all, func(a, b console.Calendar) int { return cmp.Compare(a.Name(), b.Name()) })
	return all, nil
}
