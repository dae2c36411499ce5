// Package alert tells people about their tasks in few messages. Of each task a
// notifier gets one message at once, and then at most one in any window of ten
// minutes with all that was gathered meanwhile, across restarts of the host.
//
// The rows of ax_alert are the outbox and the memory of what went out when: a
// message is written before it is sent, and keeps its ID until it has arrived
// or is given up. A notifier that hangs or refuses holds up only itself.
package alert

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/axsched/ax/host/internal/ax"
	"github.com/axsched/ax/pluginapi"
)

const (
	defaultWindow = 10 * time.Minute
	// loadLimit bounds how many rows Start reads of each sort.
	loadLimit = 100_000
	// stopGrace bounds the last write of Stop, and how long it waits for
	// deliveries that it has cut off.
	stopGrace = 2 * time.Second
)

// Store keeps the notifications.
type Store interface {
	// SaveAlerts writes all rows or none, replacing those with the same ID.
	SaveAlerts(ctx context.Context, rows ...ax.AlertRow) error
	Alerts(ctx context.Context, f ax.AlertFilter) ([]ax.AlertRow, error)
	// Submit writes counts of failures.
	Submit(ax.Change)
}

// Config of a Manager.
type Config struct {
	App, Node string
	// Window is the time within which a notifier gets at most one message about
	// a task; 0 means ten minutes.
	Window time.Duration
	IDs    *ax.IDs
	Store  Store
	Log    hclog.Logger
	// Failures returns how often the tasks have failed in a row so far; nil
	// stands for none.
	Failures func(ctx context.Context) (map[ax.TaskID]int, error)
	// Redact takes secrets out of a text; nil leaves texts as they are.
	Redact func(string) string
	// Notify hands a message to a notifier, called by its name in the
	// configuration. It must return when ctx ends. It is called for one message
	// of a notifier at a time. An error that pluginapi.IsPermanent knows gives
	// the message up; any other one has it sent again later.
	Notify func(ctx context.Context, notifier string, msg pluginapi.Message) error
}

// Manager gathers events and sends messages. Make one with New.
type Manager struct {
	cfg    Config
	ctx    context.Context // of deliveries
	cancel context.CancelCauseFunc
	wake   chan struct{} // there is something to do
	quit   chan struct{}
	done   chan struct{} // the loop has ended

	// Owned by the loop, and after it by Stop.
	savedAt   time.Time
	savePause time.Duration // 0 unless the newest write failed
	zones     map[string]*time.Location

	mu   sync.Mutex // guards what follows; never held during I/O
	book *book
	busy map[string]bool // notifiers with a delivery under way
}

// New returns a Manager that sends nothing yet.
func New(cfg Config) *Manager {
	if cfg.Window == 0 {
		cfg.Window = defaultWindow
	}
	if cfg.Redact == nil {
		cfg.Redact = func(s string) string { return s }
	}
	m := &Manager{
		cfg: cfg, wake: make(chan struct{}, 1), quit: make(chan struct{}), done: make(chan struct{}),
		book: newBook(cfg.Window, cfg.IDs), busy: map[string]bool{},
		zones: map[string]*time.Location{},
	}
	m.ctx, m.cancel = context.WithCancelCause(context.Background())
	return m
}

// Start reads what an earlier life left: messages that have not arrived, and
// when the others went out. Then it begins to send.
func (m *Manager) Start(ctx context.Context) error {
	now := time.Now()
	for _, f := range []ax.AlertFilter{
		{States: []ax.AlertState{ax.AlertSent, ax.AlertGivenUp}, EndsAfter: now.Add(-m.cfg.Window)},
		{States: []ax.AlertState{ax.AlertOpen, ax.AlertFailed}},
	} {
		f.App, f.Limit = m.cfg.App, loadLimit
		rows, err := m.cfg.Store.Alerts(ctx, f)
		if err != nil {
			return fmt.Errorf("load alerts: %w", err)
		}
		if len(rows) == loadLimit {
			m.cfg.Log.Error("there are too many alerts, the oldest ones wait for the next start", "loaded", loadLimit)
		}
		for _, err := range m.book.load(rows, now) {
			m.cfg.Log.Error("an alert of an earlier life is left out", "error", err)
		}
	}
	if m.cfg.Failures != nil {
		counts, err := m.cfg.Failures(ctx)
		if err != nil {
			return fmt.Errorf("load failures in a row: %w", err)
		}
		m.book.seed(counts)
	}
	go m.run()
	return nil
}

// Observe takes notice of what happened. It does no I/O and keeps at most two
// messages for each task and notifier, however much happens.
func (m *Manager) Observe(h ax.Happening) {
	ev, ok := eventOf(h, m.cfg.Redact)
	if !ok {
		return
	}
	m.mu.Lock()
	changed := m.book.observe(h.Task, ev, time.Now())
	m.mu.Unlock()
	if changed {
		m.poke()
	}
}

func (m *Manager) poke() {
	select {
	case m.wake <- struct{}{}:
	default:
	}
}

// run is the loop. It alone writes rows and starts deliveries.
func (m *Manager) run() {
	defer close(m.done)
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		next, err := m.runOnce(context.Background(), time.Now())
		if err != nil {
			m.cfg.Log.Error("cannot keep alerts, will try again", "in", m.savePause, "error", err)
		}
		if timer.Stop(); !next.IsZero() {
			timer.Reset(time.Until(next))
		}
		select {
		case <-m.wake:
		case <-timer.C:
		case <-m.quit:
			return
		}
	}
}

// runOnce writes what has changed and starts the deliveries that are due. next
// is when there will be more to do if nothing happens until then, zero for
// never. After an error nothing that changed is sent.
func (m *Manager) runOnce(ctx context.Context, now time.Time) (next time.Time, err error) {
	m.mu.Lock()
	m.book.release(now)
	m.mu.Unlock()
	again, err := m.save(ctx, now)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.deliverDue(now)
	return earlier(again, m.book.next(now)), err
}

// earlier returns the first of two times, where zero is never.
func earlier(a, b time.Time) time.Time {
	if a.IsZero() || (!b.IsZero() && b.Before(a)) {
		return b
	}
	return a
}

// Stop writes what was gathered and delivers what is due. When ctx ends it cuts
// deliveries off; their messages are sent by the next life. What is observed
// from now on is lost. Call it once, after a Start that brought no error.
func (m *Manager) Stop(ctx context.Context) {
	close(m.quit)
	<-m.done
	m.finish(ctx)
	m.cancel(errStopped)
	cut, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopGrace)
	defer cancel()
	m.awaitDeliveries(cut)
	if err := m.saveAll(cut); err != nil {
		m.cfg.Log.Error("cannot keep alerts: what was gathered last is lost", "error", err)
	}
}

// finish writes everything, and waits until all that is due was tried once.
func (m *Manager) finish(ctx context.Context) {
	if err := m.saveAll(ctx); err != nil {
		return // Stop tries once more, and says so
	}
	for {
		if _, err := m.runOnce(ctx, time.Now()); err != nil || !m.delivering() {
			return
		}
		select {
		case <-m.wake:
		case <-ctx.Done():
			return
		}
	}
}
