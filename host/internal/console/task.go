package console

import (
	"context"
	"net/http"
	"time"

	"github.com/axsched/ax/host/internal/api"
	"github.com/axsched/ax/host/internal/ax"
	"github.com/axsched/ax/host/internal/why"
)

const (
	// chartRuns is how many runs the chart of durations shows.
	chartRuns = 100
	// historyRuns, taskAlerts and taskChanges are the newest ones on the page of
	// a task.
	historyRuns = 15
	taskAlerts  = 5
	taskChanges = 8
	// nextTimes is how many due times are shown.
	nextTimes = 10
)

// taskData is what the page of a task shows.
type taskData struct {
	Task    api.TaskView
	Zone    *time.Location
	Next    []dueTime
	NextErr string // why the due times are not known
	Month   month
	Chart   chart
	History []ax.Instance
	Asked   string // the time of the question why
	Why     []why.Answer
	WhyErr  string
	Alerts  []api.AlertView
	Changes []ax.AuditRow
	// Definition is how it is defined; Made tells that it can be changed here.
	Definition api.Definition
	Made       bool
}

func (s *console) task(r *http.Request, p *page) (taskData, error) {
	if err := r.ParseForm(); err != nil {
		return taskData{}, badRequest("The form cannot be read.")
	}
	ctx, name := r.Context(), r.PathValue("name")
	task, err := s.backend.Task(ctx, name)
	if err != nil {
		return taskData{}, err
	}
	d := taskData{Task: task, Zone: s.zoneOf(&task), Asked: r.Form.Get("at")}
	s.addNext(ctx, p, &d)
	if err := s.addWhy(r, p, &d); err != nil {
		return d, err
	}
	if d.Month, err = s.month(ctx, p, &d, r.Form.Get("month")); err != nil {
		return d, err
	}
	runs, err := s.backend.Instances(ctx, ax.InstanceFilter{Task: name, Limit: chartRuns})
	if err != nil {
		return d, err
	}
	d.Chart, d.History = newChart(runs, p), runs[:min(len(runs), historyRuns)]
	if d.Alerts, err = s.backend.Alerts(ctx, ax.AlertFilter{Task: name, Limit: taskAlerts}); err != nil {
		return d, err
	}
	if d.Changes, err = s.backend.AuditTrail(ctx, ax.AuditFilter{Object: name, Limit: taskChanges}); err != nil {
		return d, err
	}
	d.Definition, err = s.backend.Definition(ctx, name)
	d.Made = d.Definition.Source == api.SourceConsole
	return d, err
}

// addNext adds the next due times. That a schedule cannot be asked, its plugin
// being away, is shown in their place.
func (s *console) addNext(ctx context.Context, p *page, d *taskData) {
	next, err := s.backend.Next(ctx, d.Task.Name, api.NextQuery{After: p.Now, N: nextTimes, Why: true})
	if err != nil {
		d.NextErr = err.Error()
		return
	}
	d.Next = dueTimes(p, d.Zone, next)
}

// addWhy answers why the task did or did not run: at the time that was asked
// about, or else for the next and the newest due time.
func (s *console) addWhy(r *http.Request, p *page, d *taskData) error {
	at, err := timeOf(r, "at", d.Zone)
	if err != nil {
		return err
	}
	d.Why, err = s.backend.Why(r.Context(), d.Task.Name, at)
	if err != nil {
		d.WhyErr = s.failureOf(r, p, err).Text
	}
	return nil
}

// dueTime is a candidate of a schedule and what becomes of it.
type dueTime struct {
	At time.Time
	// Due is false if the task is not due because of it.
	Due     bool
	Verdict string
	// Notes tell what is special about it.
	Notes []string
}

// dueTimes are the next due times with what is left out or moved on the way.
func dueTimes(p *page, zone *time.Location, next api.NextTimes) []dueTime {
	beyond := map[int64]bool{}
	for _, b := range next.Beyond {
		beyond[b.At.UnixMicro()] = true
	}
	var all []dueTime
	_, offset := p.Now.In(zone).Zone()
	add := func(d dueTime) {
		if !d.Due {
			all = append(all, d)
			return
		}
		if beyond[d.At.UnixMicro()] && len(d.Notes) == 0 {
			d.Notes = append(d.Notes, p.T("beyond the known years of a calendar"))
		}
		if _, now := d.At.In(zone).Zone(); now != offset {
			change := p.T("clocks go forward by %s", p.words.rough(time.Duration(now-offset)*time.Second))
			if now < offset {
				change = p.T("clocks go back by %s", p.words.rough(time.Duration(offset-now)*time.Second))
			}
			d.Notes, offset = append(d.Notes, change), now
		}
		all = append(all, d)
	}
	if len(next.Why) == 0 {
		for _, at := range next.Times {
			add(dueTime{At: at, Due: true})
		}
		return all
	}
	for _, step := range next.Why {
		d := dueTime{At: step.At, Verdict: string(step.Verdict), Due: !step.Due.IsZero()}
		if d.Due {
			d.At = step.Due
		}
		if step.Times > 1 {
			d.Notes = append(d.Notes, p.words.count("%d time", "%d times", step.Times))
		}
		if step.Reason != "" {
			d.Notes = append(d.Notes, step.Reason)
		}
		add(d)
	}
	return all
}
