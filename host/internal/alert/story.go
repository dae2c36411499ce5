package alert

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/axsched/ax/host/internal/ax"
)

// maxWatched bounds the runs of a task that are known to be slow or late.
const maxWatched = 50

// story is how a task fares, as far as messages need to know; it is kept in
// ax_alert_task.
type story struct {
	// Since and Newest are the first and the newest failure in a row.
	Since  time.Time `json:"since,omitzero"`
	Newest time.Time `json:"newest,omitzero"`
	// Untold are those that nobody was told of, since there were too few.
	Untold []tally `json:"untold,omitempty"`
	// Cause is a hash of the newest error.
	Cause string `json:"cause,omitempty"`
	// On is when a task that is broadcast failed last on each host where it has not
	// succeeded since.
	On map[string]time.Time `json:"on,omitempty"`
	// Told are runs that people were told of as slow or late, Overdue the newest
	// due time that they were told of as without a record.
	Told    []string  `json:"told,omitempty"`
	Overdue time.Time `json:"overdue,omitzero"`

	failures int
}

func loadStory(t ax.AlertTask) (*story, error) {
	s := &story{failures: t.Failures}
	if len(t.State) == 0 {
		return s, nil
	}
	if err := json.Unmarshal(t.State, s); err != nil {
		return nil, fmt.Errorf("decode how task %d fares: %w", t.TaskID, err)
	}
	return s, nil
}

// row returns what is to be kept; nothing for a task that fares well.
func (s *story) row(app string, id ax.TaskID) (ax.AlertTask, error) {
	row := ax.AlertTask{TaskID: id, App: app, Failures: s.failures}
	if s.failures == 0 && len(s.Told) == 0 && s.Overdue.IsZero() {
		return row, nil
	}
	var err error
	if row.State, err = json.Marshal(s); err != nil {
		return row, fmt.Errorf("encode how task %d fares: %w", id, err)
	}
	return row, nil
}

// take takes an event in and adds to t what people are to be told.
func (s *story) take(task *ax.Task, ev *ax.AlertEvent, t *telling) {
	switch {
	case isFailure(ev.Event):
		s.fail(task, ev, t)
	case ev.Event == succeeded:
		s.succeed(task, ev, t)
	case ev.Event == slow || ev.Event == late:
		key := ev.Event + " " + ev.Instance.String()
		if slices.Contains(s.Told, key) || !wanted(task, ev.Event) {
			return
		}
		s.Told = append(s.Told, key)
		s.Told = s.Told[max(0, len(s.Told)-maxWatched):]
		t.incident(ev)
	case ev.Event == overdue:
		// At is the due time; what matters to people is that it has no record.
		if !ev.At.After(s.Overdue) || !wanted(task, overdue) {
			return
		}
		s.Overdue = ev.At
		t.incident(ev)
	case wanted(task, ev.Event):
		t.incident(ev)
	}
}

func (t *telling) incident(ev *ax.AlertEvent) {
	t.tallies = addTally(t.tallies, newTally(ev))
	if r := runOf(ev); r != (run{}) {
		t.run = r
	}
}

// fail counts a failure. While there are fewer than Notify.After in a row nothing
// is told, and then also of those before.
func (s *story) fail(task *ax.Task, ev *ax.AlertEvent, t *telling) {
	if s.failures == 0 {
		s.Since = ev.At
	}
	s.failures++
	if task.Strategy == ax.StrategyBroadcast {
		if s.On == nil {
			s.On = map[string]time.Time{}
		}
		s.On[ev.Node] = ev.At
	}
	s.Newest = newest(s.Newest, ev.At)
	if ev.Detail != "" { // only the newest one has its text
		s.Cause = causeOf(ev.Detail, task.Name)
	}
	if !wanted(task, ev.Event) {
		return
	}
	s.Untold = addTally(s.Untold, newTally(ev))
	t.attempts += ev.Attempt
	t.hosts = append(t.hosts, ev.Node)
	t.hosts = t.hosts[max(0, len(t.hosts)-maxHosts):]
	if s.failures < task.Notify.After {
		return
	}
	for _, untold := range s.Untold {
		t.tallies = addTally(t.tallies, untold)
	}
	s.Untold = nil
	t.failure, t.error, t.streak = true, ev.Detail, s.failures
	if r := runOf(ev); r != (run{}) {
		t.run = r
	}
}

// succeed ends the failures in a row. It is a recovery if people were told of
// them, or would have been.
func (s *story) succeed(task *ax.Task, ev *ax.AlertEvent, t *telling) {
	if s.failures == 0 || s.failsElsewhere(ev) {
		return
	}
	if s.failures >= task.Notify.After && wanted(task, recovered) {
		t.tallies = addTally(t.tallies, tally{
			Event: recovered, Count: 1, First: ev.At, Last: ev.At, Ended: s.failures, Took: ev.At.Sub(s.Since),
		})
		t.cause = s.Cause
		if r := runOf(ev); r != (run{}) {
			t.run = r
		}
	}
	s.failures, s.Since, s.Newest, s.Untold, s.Cause, s.On = 0, time.Time{}, time.Time{}, nil, "", nil
}

// hostGone is after how long a host on which a task failed and did not run again
// is no longer waited for.
const hostGone = 8 * 24 * time.Hour

// failsElsewhere takes a success of a task that is broadcast in, and reports whether
// the task still fails on other hosts.
func (s *story) failsElsewhere(ev *ax.AlertEvent) bool {
	delete(s.On, ev.Node)
	for node, at := range s.On {
		if ev.At.Sub(at) > hostGone {
			delete(s.On, node)
		}
	}
	return len(s.On) > 0
}

func wanted(task *ax.Task, name string) bool { return slices.Contains(task.Notify.On, name) }
