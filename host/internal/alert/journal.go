package alert

import (
	"context"
	"time"

	"github.com/axsched/ax/host/internal/ax"
)

// Journal adds to a change what people may have to be told of it, so that both
// are written together. Call it for every change on its way to the database. It
// does no I/O, and keeps nothing of the change but whether the task fails.
func (m *Manager) Journal(c ax.Change) ax.Change {
	before := len(c.Alerts)
	if c.Move != nil {
		m.journalMove(&c)
	}
	for i := range c.Insert {
		m.journalDropped(&c, &c.Insert[i])
	}
	if len(c.Alerts) == before {
		return c
	}
	done := c.Done
	c.Done = func(applied bool, err error) {
		if done != nil {
			done(applied, err)
		}
		if applied {
			m.written()
		}
	}
	return c
}

// written says that there are new events in the database.
func (m *Manager) written() {
	m.mu.Lock()
	m.fresh = true
	m.mu.Unlock()
	m.poke()
}

func (m *Manager) journalMove(c *ax.Change) {
	inst := &c.Move.New
	switch {
	case inst.Status.Failure():
		m.mu.Lock()
		m.failing[inst.TaskID] = time.Now()
		m.mu.Unlock()
		m.add(c, inst, failureOf(inst.Status), "")
	case inst.Status == ax.StatusSuccess:
		m.mu.Lock()
		_, ends := m.failing[inst.TaskID]
		m.mu.Unlock()
		if ends {
			m.add(c, inst, succeeded, "")
		}
	case inst.Status == ax.StatusRetrying:
		// The next attempt takes the error away from the instance.
		if task := m.cfg.Task(inst.TaskName); task != nil && len(task.Notify.To) > 0 && wanted(task, attempt) {
			m.add(c, inst, attempt, digest(m.cfg.Redact(inst.Error)))
		}
	default:
		m.journalDropped(c, inst)
	}
}

// journalDropped tells of a due time that does not run.
func (m *Manager) journalDropped(c *ax.Change, inst *ax.Instance) {
	name := ""
	switch inst.Status {
	case ax.StatusMissed:
		name = missed
	case ax.StatusSkipped:
		name = skipped
	default:
		return
	}
	if task := m.cfg.Task(inst.TaskName); task != nil && len(task.Notify.To) > 0 && wanted(task, name) {
		m.add(c, inst, name, "")
	}
}

func (m *Manager) add(c *ax.Change, inst *ax.Instance, event, detail string) {
	at := inst.EndedAt
	if at.IsZero() {
		at = time.Now()
	}
	c.Alerts = append(c.Alerts, ax.AlertEvent{
		ID: m.cfg.IDs.Next(time.Now()), App: m.cfg.App, TaskID: inst.TaskID, Subject: inst.TaskName, Event: event, Count: 1, At: at,
		Instance: inst.ID, Attempt: inst.Attempt, Node: inst.Node, Detail: detail,
	})
}

// looseKey tells loose events apart.
type looseKey struct {
	task  ax.TaskID
	event string
}

// Observe takes notice of what happened beside the changes of instances. It does
// no I/O. Of what is not written yet it keeps one event for each task and sort,
// with a count, however much happens.
func (m *Manager) Observe(h ax.Happening) {
	switch h.What {
	case ax.TaskParked, ax.TaskUnparked, ax.CalendarEnds:
	default:
		m.mu.Lock()
		m.figures.observe(&h)
		m.mu.Unlock()
		return
	}
	if len(h.Task.Notify.To) == 0 {
		return
	}
	ev := ax.AlertEvent{TaskID: h.Task.ID, Subject: h.Task.Name, Event: string(h.What), At: h.At, Detail: h.Text}
	if h.What == ax.CalendarEnds {
		ev.Receivers = h.Task.Notify.To
	}
	m.Tell(ev)
}

// Tell takes notice of an event. Without a TaskID it is about something that is
// no task, and those hear of it that the settings name. See Observe.
func (m *Manager) Tell(ev ax.AlertEvent) {
	ev.App, ev.Count, ev.Detail = m.cfg.App, max(ev.Count, 1), digest(m.cfg.Redact(ev.Detail))
	if ev.TaskID == 0 {
		ev.TaskID, ev.Receivers = ax.NewTaskID(m.cfg.App, ev.Subject), m.cfg.Settings().To
		if len(ev.Receivers) == 0 {
			return
		}
	}
	m.mu.Lock()
	m.keepLoose(ev)
	m.mu.Unlock()
	m.poke()
}

// Report is Tell for something that is down (PluginDown) or well (Works), said as
// often as one likes: only changes are told.
func (m *Manager) Report(ev ax.AlertEvent) {
	id := ax.NewTaskID(m.cfg.App, ev.Subject)
	m.mu.Lock()
	_, down := m.failing[id]
	switch {
	case ev.Event == Works && down:
		delete(m.failing, id)
	case ev.Event != Works && !down:
		m.failing[id] = ev.At
	default:
		m.mu.Unlock()
		return
	}
	m.mu.Unlock()
	m.Tell(ev)
}

func (m *Manager) keepLoose(ev ax.AlertEvent) {
	key := looseKey{ev.TaskID, ev.Event}
	if ev.Instance != 0 {
		key.event += ev.Instance.String() // each run is told of
	}
	if old := m.loose[key]; old != nil {
		ev.Count += old.Count
		ev.At = newest(ev.At, old.At)
	}
	m.loose[key] = &ev
}

// flushLoose writes what was observed. What cannot be written is kept.
func (m *Manager) flushLoose() {
	m.mu.Lock()
	loose := m.loose
	m.loose = map[looseKey]*ax.AlertEvent{}
	m.mu.Unlock()
	if len(loose) == 0 {
		return
	}
	var c ax.Change
	for _, ev := range loose {
		ev.ID = m.cfg.IDs.Next(time.Now())
		c.Alerts = append(c.Alerts, *ev)
	}
	done := make(chan error, 1)
	c.Done = func(_ bool, err error) { done <- err }
	m.cfg.Store.Submit(c)
	err := <-done
	m.mu.Lock()
	defer m.mu.Unlock()
	if err == nil {
		m.fresh = true
		return
	}
	m.cfg.Log.Error("cannot note what people are to be told, will try again", "events", len(loose), "error", err)
	for _, ev := range loose {
		m.keepLoose(*ev)
	}
}

// failingFor is for how long a task that failed here counts as failing, whatever
// the database says: the failure may be on its way there.
const failingFor = time.Minute

// learnFailing looks which tasks fail, so that their next success is noted.
func (m *Manager) learnFailing(ctx context.Context) error {
	rows, err := m.cfg.Store.FailingTasks(ctx, m.cfg.App)
	if err != nil {
		return err
	}
	waiting, err := m.cfg.Store.AlertEvents(ctx, m.cfg.App, gatherLimit)
	if err != nil {
		return err
	}
	failing := make(map[ax.TaskID]time.Time, len(rows))
	for i := range rows {
		failing[rows[i].TaskID] = time.Time{}
	}
	for i := range waiting {
		failing[waiting[i].TaskID] = time.Time{}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	for id, at := range m.failing {
		if time.Since(at) < failingFor {
			failing[id] = at
		}
	}
	m.failing = failing
	return nil
}

// noteFailing keeps what was learned of a task in step; m.mu is held.
func (m *Manager) noteFailing(id ax.TaskID, failures int) {
	switch at, known := m.failing[id]; {
	case failures > 0 && !known:
		m.failing[id] = time.Time{}
	case failures == 0 && known && time.Since(at) >= failingFor:
		delete(m.failing, id)
	}
}
