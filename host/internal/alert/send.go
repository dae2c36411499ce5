package alert

import (
	"context"
	"time"

	"github.com/axsched/ax/host/internal/ax"
)

const (
	// deliveryTimeout bounds one try.
	deliveryTimeout = 30 * time.Second
	// deliverySlack is for how long after that another host leaves a message alone
	// whose sender has died.
	deliverySlack = 5 * time.Second
	// dueLimit is how many messages are looked at to choose one.
	dueLimit = 2000
)

// send starts the deliveries that are due, one for each notifier that is free.
// next is when the next one is due, zero for none.
func (m *Manager) send(ctx context.Context, now time.Time) (next time.Time, err error) {
	turns, err := m.cfg.Store.AlertTurns(ctx, m.cfg.App)
	if err != nil {
		return now, err
	}
	k := &m.keeper
	for notifier, at := range turns {
		if m.isBusy(notifier) {
			continue // its end wakes the loop
		}
		if n := k.notifiers[notifier]; n != nil {
			at = newest(at, n.NextTryAt)
		}
		at = newest(at, k.waits[notifier])
		if at.After(m.horizon(now)) {
			next = earlier(next, at)
			continue
		}
		again, err := m.sendNext(ctx, now, notifier)
		if err != nil {
			return now, err
		}
		next = earlier(next, again)
	}
	return next, nil
}

// horizon is until when messages are due. A host that stops does not wait for
// others like the first one.
func (m *Manager) horizon(now time.Time) time.Time {
	if m.keeper.stopping {
		return now.Add(m.cfg.Settings().Gather)
	}
	return now
}

// sendNext chooses a message, writes it down, and sends it. If there is none to
// send now, again is when to look the next time.
func (m *Manager) sendNext(ctx context.Context, now time.Time, notifier string) (again time.Time, err error) {
	s, err := m.selection(ctx, now, notifier)
	if err != nil {
		return now, err
	}
	c := s.choose()
	if !c.wait.IsZero() {
		m.keeper.waits[notifier] = c.wait
		return c.wait, nil
	}
	rows := c.changed
	if c.row != nil {
		if c.row.State == ax.AlertOpen {
			if c.row.receipt, err = m.lastReceipt(ctx, c.row); err != nil {
				return now, err
			}
		}
		m.ready(now, s, &c)
		rows = append(append(rows, c.row), c.merged...)
	}
	if len(rows) == 0 {
		return now.Add(time.Second), nil
	}
	var b ax.AlertBatch
	for _, r := range rows {
		saved, err := r.saved()
		if err != nil {
			return now, err
		}
		b.Rows = append(b.Rows, saved)
	}
	if err := m.write(ctx, now, b); err != nil {
		return now, err
	}
	if c.row == nil {
		return now, nil // what was due waits longer: look when
	}
	c.row.Version++
	m.mu.Lock()
	m.busy[notifier] = true
	m.mu.Unlock()
	go m.deliver(c.row)
	return time.Time{}, nil
}

// ready prepares the chosen message for leaving. One that left before stays as
// it was.
func (m *Manager) ready(now time.Time, s *selection, c *choice) {
	if c.row.State != ax.AlertOpen {
		c.row.State, c.row.NextTryAt = ax.AlertSending, now.Add(deliveryTimeout+deliverySlack)
		return
	}
	sc := scene{node: m.cfg.Node, receiver: s.receiver, zone: m.zone}
	sc.render(c.row, c.merged)
	// A template may hold a secret of the configuration.
	c.row.msg.Title, c.row.msg.Text = m.cfg.Redact(c.row.msg.Title), m.cfg.Redact(c.row.msg.Text)
	c.row.leave(now)
	for _, r := range c.merged {
		r.leave(now)
		r.MergedInto = c.row.ID
	}
}

// lastReceipt returns what the notifier returned last about the task of a row.
func (m *Manager) lastReceipt(ctx context.Context, r *row) (string, error) {
	before, err := m.cfg.Store.Alerts(ctx, ax.AlertFilter{
		App: r.App, TaskID: r.TaskID, Notifier: r.Notifier, Before: r.ID, Limit: 1,
		States: []ax.AlertState{ax.AlertSending, ax.AlertSent, ax.AlertFailed, ax.AlertGivenUp, ax.AlertDropped},
	})
	if err != nil || len(before) == 0 {
		return "", err
	}
	last, err := loadRow(before[0])
	if err != nil { // such a row was spoken of before, and receipts may get lost
		return "", nil //nolint:nilerr // see above
	}
	return last.receipt, nil
}

// selection reads what it takes to choose the next message of a notifier.
func (m *Manager) selection(ctx context.Context, now time.Time, notifier string) (*selection, error) {
	settings := m.cfg.Settings()
	s := &selection{now: now, horizon: m.horizon(now), settings: settings, receiver: settings.Receivers[notifier], threads: map[ax.TaskID][]ax.AlertRow{}}
	if s.receiver == nil { // it is not configured any more; Notify says so
		s.receiver = &Receiver{}
	}
	saved, err := m.cfg.Store.DueAlerts(ctx, m.cfg.App, notifier, now.Add(settings.Gather), dueLimit)
	if err != nil {
		return nil, err
	}
	var tasks []ax.TaskID
	for i := range saved {
		r, err := loadRow(saved[i])
		if err != nil || len(r.facts.Tallies) == 0 {
			m.cfg.Log.Error("an alert cannot be read, it is given up", "alert_id", saved[i].ID, "error", err)
			if err := m.bury(ctx, now, saved[i]); err != nil {
				return nil, err
			}
			continue
		}
		s.due = append(s.due, r)
		tasks = append(tasks, r.TaskID)
	}
	threads, err := m.cfg.Store.TaskAlerts(ctx, m.cfg.App, tasks, now.Add(-settings.Window))
	if err != nil {
		return nil, err
	}
	for i := range threads {
		if t := &threads[i]; t.Notifier == notifier {
			s.threads[t.TaskID] = append(s.threads[t.TaskID], *t)
		}
	}
	if s.told, err = m.cfg.Store.ToldAlerts(ctx, m.cfg.App, notifier, now.Add(-max(settings.Window, time.Minute))); err != nil {
		return nil, err
	}
	s.silences, err = m.cfg.Store.Silences(ctx, m.cfg.App, now)
	return s, err
}

// bury makes a dead letter of a message that cannot be read.
func (m *Manager) bury(ctx context.Context, now time.Time, r ax.AlertRow) error {
	r.State, r.WindowEnd, r.LastError = ax.AlertGivenUp, now, "its row cannot be read"
	return m.write(ctx, now, ax.AlertBatch{Rows: []ax.AlertRow{r}})
}

func (m *Manager) isBusy(notifier string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.busy[notifier]
}
