package console_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/axsched/ax/host/internal/api"
	"github.com/axsched/ax/host/internal/api/apitest"
	"github.com/axsched/ax/host/internal/ax"
	"github.com/axsched/ax/host/internal/console"
	"github.com/axsched/ax/pluginapi/calendar"
)

// sample is a host that is not there: that of apitest, with more history.
type sample struct {
	*apitest.Backend
	calendars []console.Calendar
}

func newSample(t *testing.T) (*sample, *apitest.Changes) {
	t.Helper()
	backend, changes := apitest.Sample()
	s := &sample{Backend: backend}
	history := append(append(sampleHistory(), sampleCopy()), apitest.SampleInstances()...)
	follow, events := s.OnFollow, s.OnEvents
	s.OnFollow = func(ctx context.Context, id ax.InstanceID) (<-chan struct{}, error) {
		if id == copying { // goes on for as long as anybody looks
			return make(chan struct{}), nil
		}
		return follow(ctx, id)
	}
	s.OnEvents = func(ctx context.Context, f ax.EventFilter) ([]ax.Event, error) {
		if f.Instance != copying {
			return events(ctx, f)
		}
		if f.After > 0 {
			return nil, nil
		}
		return sampleLog(), nil
	}
	s.OnInstances = func(_ context.Context, f ax.InstanceFilter) ([]ax.Instance, error) { return selected(history, f), nil }
	s.OnInstance = func(_ context.Context, id ax.InstanceID) (ax.Instance, error) {
		for _, i := range history {
			if i.ID == id {
				return i, nil
			}
		}
		return ax.Instance{}, &api.NotFound{What: "instance", Name: id.String()}
	}
	spring := calendar.Between(calendar.Date{Year: 2026, Month: time.February, Day: 16}, calendar.Date{Year: 2026, Month: time.February, Day: 22})
	spring.Name, spring.Source, spring.Covers = "春节", "cn.csv", 2026
	makeUp := calendar.OnDate(calendar.Date{Year: 2026, Month: time.February, Day: 28})
	makeUp.Name, makeUp.Source, makeUp.Covers = "春节", "cn.csv", 2026
	china, err := calendar.New(calendar.Spec{
		Name: "cn", Closed: []calendar.Rule{spring}, Open: []calendar.Rule{makeUp},
		Weekly: []time.Weekday{time.Monday, time.Tuesday, time.Wednesday, time.Thursday, time.Friday},
	})
	if err != nil {
		t.Fatal(err)
	}
	s.calendars = []console.Calendar{{Calendar: china, Tasks: []string{"billing/close-day"}, Gap: "calendar cn has no days for 2027"}}
	return s, changes
}

// copying is a run that is halfway through, in its second attempt.
const copying = 9900

func sampleCopy() ax.Instance {
	due := apitest.Noon().Add(-3 * time.Minute)
	return ax.Instance{
		ID: copying, TaskName: "每日对账", App: "orders", Kind: ax.KindScheduled, Status: ax.StatusRunning, ScheduledAt: due, CreatedAt: due,
		StartedAt: due.Add(90 * time.Second), Attempt: 2, Node: "node-1", TraceID: "4bf92f3577b34da6a3ce929d0e0e4736",
		Params: json.RawMessage(`{"day":"2026-03-01","rows":9007199254740993}`),
	}
}

func sampleLog() []ax.Event {
	at, id := apitest.Noon().Add(-3*time.Minute), int64(2000)
	var all []ax.Event
	add := func(after time.Duration, attempt int, stage ax.Stage, level, text string) {
		id++
		all = append(all, ax.Event{ID: id, InstanceID: copying, At: at.Add(after), Attempt: attempt, Stage: stage, Level: level, Node: "node-1", Text: text})
	}
	add(0, 0, ax.StageTriggerReady, "info", "due")
	add(20*time.Millisecond, 1, ax.StageClaimed, "info", "attempt 1 starts on node-1")
	add(150*time.Millisecond, 1, ax.StageOutput, "output", "connecting to ledger-db")
	add(29*time.Second, 1, ax.StageOutput, "error", "connection reset by peer")
	add(30*time.Second, 1, ax.StageOutcome, "warn", "FAILED: connection reset by peer")
	add(30*time.Second, 1, ax.StageRetryScheduled, "info", "next attempt in 1m0s")
	add(90*time.Second, 2, ax.StageClaimed, "info", "attempt 2 starts on node-1")
	for i := range 8 {
		add(time.Duration(91+8*i)*time.Second, 2, ax.StageOutput, "output", fmt.Sprintf("对账 batch %d of 12: %d rows, 0 differences", i+1, 9_000+371*i%800))
	}
	add(155*time.Second, 2, ax.StageOutput, "warn", "batch 9 is slow: the index of ledger_2026_03 is cold")
	add(156*time.Second, 2, ax.StageProgress, "info", "8 of 12 (66 %): comparing")
	return all
}

// selected is what a filter selects of a history, newest first.
func selected(history []ax.Instance, f ax.InstanceFilter) []ax.Instance {
	var found []ax.Instance
	for _, i := range history {
		wanted := len(f.Statuses) == 0
		for _, status := range f.Statuses {
			wanted = wanted || i.Status == status
		}
		if wanted && (f.Task == "" || f.Task == i.TaskName) && (f.Before == 0 || i.ID < f.Before) &&
			(f.Since.IsZero() || !i.ScheduledAt.Before(f.Since)) && (f.Until.IsZero() || i.ScheduledAt.Before(f.Until)) && len(found) < f.Limit {
			found = append(found, i)
		}
	}
	return found
}

// sampleHistory is two months of a task that runs each day.
func sampleHistory() []ax.Instance {
	var all []ax.Instance
	for day := range 60 {
		due := apitest.Noon().Add(-10*time.Hour).AddDate(0, 0, -day)
		took := time.Duration(180+(day*37)%90) * time.Second
		i := ax.Instance{
			ID: ax.InstanceID(10_000 - day), TaskName: "billing/close-day", App: "orders", Kind: ax.KindScheduled, Status: ax.StatusSuccess,
			ScheduledAt: due, CreatedAt: due, StartedAt: due.Add(40 * time.Millisecond), EndedAt: due.Add(took), Attempt: 1, Node: "node-1",
			Message: "books closed",
		}
		switch {
		case day%11 == 3:
			i.Status, i.Message, i.Error, i.Attempt = ax.StatusFailed, "", "exit status 1: no space left on device", 3
		case day == 17:
			i.Status, i.Message, i.EndedAt = ax.StatusTimeout, "", due.Add(10*time.Minute)
		case day%13 == 5:
			i.Status, i.Message, i.Reason, i.Attempt = ax.StatusSkipped, "", "its limit of 1 at once is used up", 0
			i.StartedAt, i.EndedAt = time.Time{}, time.Time{}
		}
		all = append(all, i)
	}
	return all
}

// Overview implements console.Backend.
func (s *sample) Overview(ctx context.Context) (console.Overview, error) {
	noon := apitest.Noon()
	o := console.Overview{
		Health: s.Health(ctx), CountedAt: noon.Add(-4 * time.Second), FailingTotal: 14,
		Moods:    map[api.TaskMood]int{api.TaskOn: 9_871, api.TaskPaused: 3, api.TaskParked: 1, api.TaskOff: 120, api.TaskDone: 5},
		Database: console.Database{Kind: "MySQL", OK: true, Answer: 640 * time.Microsecond, Write: 3 * time.Millisecond, LongestWrite: 81 * time.Millisecond},
		Waiting:  3, Dead: 1,
	}
	o.Health.Tasks = 10_000
	for i := range 24 {
		counts := map[ax.Status]int64{ax.StatusSuccess: int64(9_000 + 3_000*(i%5) - 40*i)}
		if i%7 == 2 {
			counts[ax.StatusFailed] = int64(3 + i)
		}
		if i == 19 {
			counts[ax.StatusTimeout], counts[ax.StatusSkipped] = 4, 17
		}
		o.Hours = append(o.Hours, console.Hour{From: noon.Truncate(time.Hour).Add(time.Duration(i-23) * time.Hour), Counts: counts})
	}
	o.Failing = []console.TaskBrief{{Name: "billing/close-day", Failures: 12}, {Name: "每日对账", Failures: 2}}
	for i := range 6 {
		o.Next = append(o.Next, console.TaskBrief{Name: fmt.Sprintf("reports/region-%d", i), NextAt: noon.Add(time.Duration(i*i*40+3) * time.Second)})
	}
	nodes, err := s.ListNodes(ctx)
	if o.Nodes = nodes.Nodes; err == nil {
		o.Plugins, err = s.Plugins(ctx)
	}
	return o, err
}

// FindTasks implements console.Backend.
func (s *sample) FindTasks(ctx context.Context, q console.TaskSearch) (console.TaskPage, error) {
	all, err := s.Tasks(ctx, api.TaskQuery{Limit: 100})
	page := console.TaskPage{Groups: []string{"billing", "reports"}, Jobs: []string{"exec", "http"}, Nodes: []string{"node-1", "node-2"}}
	for _, task := range all {
		if strings.Contains(task.Name, q.Text) && (q.State == "" || q.State == string(task.State)) && (q.Group == "" || q.Group == task.Group) {
			last, _ := s.Instances(ctx, ax.InstanceFilter{Task: task.Name, Limit: console.LastRuns})
			page.Tasks = append(page.Tasks, console.TaskItem{TaskView: task, Last: last})
		}
	}
	page.Total = len(page.Tasks)
	return page, err
}

// Calendars implements console.Backend.
func (s *sample) Calendars(context.Context) ([]console.Calendar, error) { return s.calendars, nil }

// Secrets implements console.Backend.
func (*sample) Secrets() []string { return []string{"files-token", "shop-token"} }

// AuditTrail implements console.Backend.
func (s *sample) AuditTrail(_ context.Context, f ax.AuditFilter) ([]ax.AuditRow, error) {
	noon := apitest.Noon()
	rows := []ax.AuditRow{
		{ID: 3, At: noon.Add(-time.Hour), Actor: "ann", Action: "task.pause", Object: "每日对账", Detail: []byte(`{"until":"2026-03-02T06:00:00Z"}`)},
		{ID: 2, At: noon.Add(-26 * time.Hour), Actor: "config", Action: "task.update", Object: "billing/close-day", Detail: []byte(`{"changed":["cron"]}`)},
		{ID: 1, At: noon.Add(-50 * time.Hour), Actor: "config", Action: "task.create", Object: "billing/close-day"},
	}
	var found []ax.AuditRow
	for _, row := range rows {
		if (f.Object == "" || f.Object == row.Object) && (f.Before == 0 || row.ID < f.Before) {
			found = append(found, row)
		}
	}
	return found, nil
}

// config is how the tests make the pages of a backend.
func config(b console.Backend) console.Config {
	return console.Config{Backend: b, Log: hclog.NewNullLogger(), Zone: apitest.Shanghai, Now: apitest.Noon}
}

// bare is a host on which there is nothing.
type bare struct{ apitest.Backend }

// Overview implements console.Backend.
func (b *bare) Overview(ctx context.Context) (console.Overview, error) {
	return console.Overview{Health: b.Health(ctx)}, nil
}

// FindTasks implements console.Backend.
func (*bare) FindTasks(context.Context, console.TaskSearch) (console.TaskPage, error) {
	return console.TaskPage{}, nil
}

// Calendars implements console.Backend.
func (*bare) Calendars(context.Context) ([]console.Calendar, error) { return nil, nil }

// Secrets implements console.Backend.
func (*bare) Secrets() []string { return nil }

// AuditTrail implements console.Backend.
func (*bare) AuditTrail(context.Context, ax.AuditFilter) ([]ax.AuditRow, error) { return nil, nil }
