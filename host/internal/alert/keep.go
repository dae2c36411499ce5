package alert

import (
	"context"
	"slices"
	"time"

	"github.com/axsched/ax/host/internal/ax"
)

const (
	// gatherPause is the least time between two rounds of gathering: in a storm
	// the database has better things to do. A round that took long is followed by
	// a pause that is gatherRest times as long.
	gatherPause = 200 * time.Millisecond
	gatherRest  = 4
	// gatherLimit is how many events a round reads at once, gatherTasks of how
	// many tasks a transaction writes, so that other writes need not wait long.
	gatherLimit = 10_000
	gatherTasks = 50
	// firstPause and lastPause bound the waits while the database refuses.
	firstPause = time.Second
	lastPause  = 30 * time.Second
)

// keeper is what the holder of the lease knows. All of it can be read from the
// database.
type keeper struct {
	held    bool
	lease   ax.AlertLease
	askedAt time.Time // for the lease, or it was prolonged
	// heldSince is when this host got the lease, absentUntil until when it leaves
	// it to others, and unable that it could not deliver a message.
	heldSince, absentUntil time.Time
	unable                 bool

	gatherAt time.Time // when the next round may be
	lookAt   time.Time // when to look for what other hosts have written
	pause    time.Duration
	stopping bool

	notifiers map[string]*ax.AlertNotifier
	zones     map[string]*time.Location
	waits     map[string]time.Time // notifiers that have to wait, such as for their rate
}

func newKeeper() keeper {
	return keeper{zones: map[string]*time.Location{}, waits: map[string]time.Time{}}
}

// lose forgets all that another host may change from now on.
func (k *keeper) lose() {
	k.held, k.notifiers = false, nil
	clear(k.waits)
}

// hold makes sure that this host holds the lease. It asks for it now and then.
func (m *Manager) hold(ctx context.Context, now time.Time) (bool, error) {
	k := &m.keeper
	if now.Sub(k.askedAt) < m.lookEvery() && now.After(k.askedAt) {
		return k.held, nil
	}
	if k.held {
		return true, m.write(ctx, now, ax.AlertBatch{})
	}
	if now.Before(k.absentUntil) {
		return false, nil
	}
	k.askedAt = now
	lease, ok, err := m.cfg.Store.TakeAlertLease(ctx, m.cfg.App, m.cfg.Incarnation, leaseTTL, m.cfg.Sole)
	if err != nil || !ok {
		return false, err
	}
	notifiers, err := m.cfg.Store.AlertNotifiers(ctx, m.cfg.App)
	if err != nil {
		return false, err
	}
	// Times far ahead come from quiet hours, which are looked at again, or from a
	// clock that was wrong.
	if err := m.cfg.Store.AdvanceAlerts(ctx, m.cfg.App, now, now.Add(m.cfg.Settings().Window)); err != nil {
		return false, err
	}
	if m.cfg.Sole {
		if err := m.cfg.Store.WakeAlerts(ctx, m.cfg.App, now); err != nil {
			return false, err
		}
	}
	k.held, k.lease, k.notifiers = true, lease, map[string]*ax.AlertNotifier{}
	k.heldSince, k.unable = now, false
	for i := range notifiers {
		k.notifiers[notifiers[i].Name] = &notifiers[i]
	}
	k.gatherAt, k.lookAt = time.Time{}, time.Time{}
	m.setHolder(true)
	m.cfg.Log.Info("this host gathers and sends the alerts")
	return true, nil
}

// lookEvery is how often the lease is prolonged, or asked for, and how often the
// holder looks for what other hosts have written.
func (m *Manager) lookEvery() time.Duration {
	if m.cfg.Sole && m.keeper.held {
		return soleCheck
	}
	return leaseCheck
}

func (m *Manager) setHolder(holds bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.holder = holds
}

// write writes a batch under the lease, which that prolongs.
func (m *Manager) write(ctx context.Context, now time.Time, b ax.AlertBatch) error {
	b.Lease, b.TTL = m.keeper.lease, leaseTTL
	if err := m.cfg.Store.WriteAlerts(ctx, b); err != nil {
		return err
	}
	m.keeper.askedAt = now
	return nil
}

// more reports whether there is something to gather.
func (m *Manager) more() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.fresh || len(m.loose) > 0
}

// gather takes events into messages. again is when to look for more.
func (m *Manager) gather(ctx context.Context, now time.Time) (again time.Time, err error) {
	k := &m.keeper
	m.mu.Lock()
	fresh := m.fresh
	m.mu.Unlock()
	if !fresh && now.Before(k.lookAt) {
		return k.lookAt, nil
	}
	if now.Before(k.gatherAt) {
		return k.gatherAt, nil
	}
	m.mu.Lock()
	m.fresh = false
	m.mu.Unlock()
	begun := time.Now()
	n, err := m.gatherOnce(ctx, now)
	if err != nil || n == gatherLimit {
		m.mu.Lock()
		m.fresh = true
		m.mu.Unlock()
	}
	k.lookAt = now.Add(m.lookEvery())
	k.gatherAt = time.Time{}
	if n > 0 && !k.stopping {
		k.gatherAt = now.Add(max(gatherPause, gatherRest*time.Since(begun)))
	}
	if n == gatherLimit {
		return k.gatherAt, err
	}
	return k.lookAt, err
}

// gatherOnce takes the oldest events in, and returns how many there were.
func (m *Manager) gatherOnce(ctx context.Context, now time.Time) (int, error) {
	events, err := m.cfg.Store.AlertEvents(ctx, m.cfg.App, gatherLimit)
	if err != nil || len(events) == 0 {
		return 0, err
	}
	byTask := map[ax.TaskID][]ax.AlertEvent{}
	var order []ax.TaskID
	for _, ev := range events {
		if byTask[ev.TaskID] == nil {
			order = append(order, ev.TaskID)
		}
		byTask[ev.TaskID] = append(byTask[ev.TaskID], ev)
	}
	if err := m.fillDetails(ctx, byTask); err != nil {
		return 0, err
	}
	for ids := range slices.Chunk(order, gatherTasks) {
		if err := m.gatherTasks(ctx, now, ids, byTask); err != nil {
			return 0, err
		}
	}
	return len(events), nil
}

// fillDetails reads the errors of the newest events of each task and sort: only
// they are shown.
func (m *Manager) fillDetails(ctx context.Context, byTask map[ax.TaskID][]ax.AlertEvent) error {
	wanted := map[ax.InstanceID][]*ax.AlertEvent{}
	for _, events := range byTask {
		seen := map[string]bool{}
		for i := len(events) - 1; i >= 0; i-- {
			ev := &events[i]
			sort := ev.Event
			if isFailure(sort) {
				sort = failed
			}
			if !seen[sort] && ev.Detail == "" && ev.Instance != 0 && ev.Event != succeeded {
				wanted[ev.Instance] = append(wanted[ev.Instance], ev)
			}
			seen[sort] = true
		}
	}
	ids := make([]ax.InstanceID, 0, len(wanted))
	for id := range wanted {
		ids = append(ids, id)
	}
	if len(ids) == 0 {
		return nil
	}
	texts, err := m.cfg.Store.EndTexts(ctx, ids)
	if err != nil {
		return err
	}
	for id, events := range wanted {
		text := digest(m.cfg.Redact(texts[id]))
		for _, ev := range events {
			ev.Detail = text
		}
	}
	return nil
}

// gatherTasks takes the events of some tasks into their messages, in one
// transaction.
func (m *Manager) gatherTasks(ctx context.Context, now time.Time, ids []ax.TaskID, byTask map[ax.TaskID][]ax.AlertEvent) error {
	settings := m.cfg.Settings()
	stories, err := m.stories(ctx, ids)
	if err != nil {
		return err
	}
	rows, err := m.rows(ctx, ids, now.Add(-settings.Window))
	if err != nil {
		return err
	}
	var b ax.AlertBatch
	for _, id := range ids {
		g := gathering{
			task: m.taskOf(&byTask[id][0]), events: byTask[id], story: stories[id], rows: rows[id],
			settings: settings, ids: m.cfg.IDs, now: now,
		}
		for i := range g.events {
			b.Events = append(b.Events, g.events[i].ID)
		}
		if g.task == nil {
			continue // it is gone, and with it whom to tell
		}
		for _, r := range g.run() {
			saved, err := r.saved()
			if err != nil {
				return err
			}
			b.Rows = append(b.Rows, saved)
		}
		row, err := g.story.row(m.cfg.App, id)
		if err != nil {
			return err
		}
		b.Tasks = append(b.Tasks, row)
	}
	if err := m.write(ctx, now, b); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	for i := range b.Tasks {
		m.noteFailing(b.Tasks[i].TaskID, b.Tasks[i].Failures)
	}
	return nil
}

// taskOf returns the task that an event is about, or one in place of another
// subject.
func (m *Manager) taskOf(ev *ax.AlertEvent) *ax.Task {
	if len(ev.Receivers) == 0 {
		return m.cfg.Task(ev.Subject)
	}
	return &ax.Task{
		ID: ev.TaskID, App: m.cfg.App, Name: ev.Subject, Schedule: ax.Schedule{Timezone: "UTC"},
		Notify: ax.Notify{To: ev.Receivers, On: []string{PluginDown, NodeLost, calendarEnds, recovered}, After: 1},
	}
}

// stories reads how tasks fare. What cannot be read begins anew.
func (m *Manager) stories(ctx context.Context, ids []ax.TaskID) (map[ax.TaskID]*story, error) {
	saved, err := m.cfg.Store.AlertTasks(ctx, ids)
	if err != nil {
		return nil, err
	}
	stories := make(map[ax.TaskID]*story, len(ids))
	for _, id := range ids {
		stories[id] = &story{}
	}
	for i := range saved {
		s, err := loadStory(saved[i])
		if err != nil {
			m.cfg.Log.Error("how a task fared is not known any more", "task_id", saved[i].TaskID, "error", err)
			continue
		}
		stories[saved[i].TaskID] = s
	}
	return stories, nil
}

// rows reads the messages of tasks. One that cannot be read takes no more events.
func (m *Manager) rows(ctx context.Context, ids []ax.TaskID, after time.Time) (map[ax.TaskID][]*row, error) {
	saved, err := m.cfg.Store.TaskAlerts(ctx, m.cfg.App, ids, after)
	if err != nil {
		return nil, err
	}
	rows := map[ax.TaskID][]*row{}
	for i := range saved {
		r, err := loadRow(saved[i])
		if err != nil {
			m.cfg.Log.Error("an alert cannot be read, a new one is begun", "alert_id", saved[i].ID, "error", err)
			continue
		}
		rows[r.TaskID] = append(rows[r.TaskID], r)
	}
	return rows, nil
}

// zone returns a zone by its name. If it cannot be had a message with another
// clock is better than none.
func (m *Manager) zone(name string) *time.Location {
	zone := m.keeper.zones[name]
	if zone == nil {
		var err error
		if zone, err = time.LoadLocation(name); err != nil {
			zone = time.UTC
		}
		m.keeper.zones[name] = zone
	}
	return zone
}
