// Package alert tells people about their tasks in few messages. Of each task a
// notifier gets one message at once, and then at most one in any window of ten
// minutes with all that was gathered meanwhile, across hosts and restarts. What
// several tasks say alike within moments is one message.
//
// What happens is written to ax_alert_event in the transaction of the change
// that it belongs to (Journal). One host at a time, the holder of a lease, takes
// these rows into the messages of ax_alert, which is the outbox and the memory
// of what went out when, and sends those that are due. A message is fixed before
// it is sent, and keeps its ID until it has arrived or is given up. A notifier
// that hangs or refuses holds up only itself.
package alert

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"text/template"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/axsched/ax/host/internal/ax"
	"github.com/axsched/ax/pluginapi"
)

const (
	// leaseTTL is how long the others wait for a host that says nothing.
	leaseTTL = 15 * time.Second
	// leaseCheck and soleCheck are how often a host says something, soleCheck one
	// that shares the database with nobody.
	leaseCheck = 5 * time.Second
	soleCheck  = time.Minute
	// stopGrace bounds the last write of Stop, and how long it waits for
	// deliveries that it has cut off.
	stopGrace = 2 * time.Second
)

// Config of a Manager.
type Config struct {
	App, Node, Incarnation string
	// Sole: no other host shares the database, so who holds the lease is dead.
	Sole  bool
	IDs   *ax.IDs
	Store Store
	Log   hclog.Logger
	// Settings returns those in force.
	Settings func() *Settings
	// Task finds the definition of a task by its name, nil if it is gone. The
	// definition is not changed afterwards.
	Task func(name string) *ax.Task
	// Redact takes secrets out of a text; nil leaves texts as they are.
	Redact func(string) string
	// Notify hands a message to a notifier, called by its name in the
	// configuration, and returns what pluginapi.ReceiptNotifier says. It must return when ctx ends. It is called for one message
	// of a notifier at a time. An error that pluginapi.IsPermanent knows gives
	// the message up; any other one has it sent again later, not before the wait
	// that pluginapi.RetryAfter gave it, and for one that is ErrCannot perhaps by
	// another host.
	Notify func(ctx context.Context, notifier string, msg pluginapi.Message) (receipt string, err error)
	// Tried is told of each try to deliver a message: AlertSent, AlertFailed or
	// AlertGivenUp. nil for nothing.
	Tried func(notifier string, outcome ax.AlertState)
	// Overdue is called, on every host, with tasks whose due time has no record
	// although it should, so that a host which is well can take them over. nil
	// for nothing.
	Overdue func(ctx context.Context, tasks []ax.OverdueTask)
	// Nodes returns the hosts of the app whether they live or not; nil for no
	// watch over them.
	Nodes func(ctx context.Context) ([]ax.Node, error)
}

// Settings are what is configured about notifications.
type Settings struct {
	// Window is the time within which a notifier gets at most one message about
	// a task, Gather how long the first one waits for others like it.
	Window, Gather time.Duration
	// MergeFrom is how many tasks must say the same for one message; 0 = never.
	MergeFrom int
	// Expire is how long a message is tried.
	Expire time.Duration
	// To hears of plugins and hosts.
	To []string
	// OverdueAfter is how long a due time may be without a record; 0 = no watch.
	OverdueAfter time.Duration
	Heartbeat    Heartbeat
	// WatchRuns: some task has a WarnAfter or a StartDeadline.
	WatchRuns bool
	// Receivers are the notifiers by their names.
	Receivers map[string]*Receiver
}

// Receiver is how a notifier wants its messages.
type Receiver struct {
	Language string // English or Chinese
	// Title and Text are templates of View; nil for those of the language.
	Title, Text *template.Template
	// Zone of the times in messages; nil for that of the task.
	Zone *time.Location
	// Quiet is when it wants none; nil for never.
	Quiet *Quiet
	// PerMinute bounds how many it gets; 0 for no limit.
	PerMinute int
}

// Manager gathers events and sends messages. Make one with New.
type Manager struct {
	cfg    Config
	ctx    context.Context // of deliveries
	cancel context.CancelCauseFunc
	wake   chan struct{} // there is something to do
	quit   chan struct{}
	// watching is the context of the watch and of the heartbeat, which end at once.
	watching context.Context
	unwatch  context.CancelFunc
	loops    sync.WaitGroup

	// Owned by the loop, and after it by Stop.
	keeper keeper

	mu      sync.Mutex              // guards what follows; never held during I/O
	fresh   bool                    // there are rows to gather
	failing map[ax.TaskID]time.Time // when each task failed here the last time
	loose   map[looseKey]*ax.AlertEvent
	busy    map[string]bool // notifiers with a delivery under way
	results []result
	figures figures
	holder  bool // this host holds the lease
}

// New returns a Manager that sends nothing yet.
func New(cfg Config) *Manager {
	if cfg.Redact == nil {
		cfg.Redact = func(s string) string { return s }
	}
	if cfg.Tried == nil {
		cfg.Tried = func(string, ax.AlertState) {}
	}
	m := &Manager{
		cfg: cfg, wake: make(chan struct{}, 1), quit: make(chan struct{}),
		failing: map[ax.TaskID]time.Time{}, loose: map[looseKey]*ax.AlertEvent{}, busy: map[string]bool{},
		keeper: newKeeper(),
	}
	m.ctx, m.cancel = context.WithCancelCause(context.Background())
	m.watching, m.unwatch = context.WithCancel(context.Background())
	return m
}

// Start goes on with what an earlier life, or another host, left to be told, and
// begins to send.
func (m *Manager) Start(ctx context.Context) error {
	if err := m.learnFailing(ctx); err != nil {
		return fmt.Errorf("load how tasks fare: %w", err)
	}
	m.fresh = true
	m.loops.Go(m.run)
	m.loops.Go(m.watch)
	m.loops.Go(m.beat)
	return nil
}

// Wake lets the Manager look at the database, where a person has changed
// something.
func (m *Manager) Wake() { m.poke() }

func (m *Manager) poke() {
	select {
	case m.wake <- struct{}{}:
	default:
	}
}

// run is the loop. It alone writes messages and starts deliveries.
func (m *Manager) run() {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		next, err := m.runOnce(context.Background(), time.Now())
		if err != nil {
			m.cfg.Log.Error("cannot keep alerts, will try again", "in", time.Until(next).Round(time.Millisecond), "error", err)
		}
		timer.Reset(max(time.Until(next), 0))
		select {
		case <-m.wake:
			if err != nil { // the database has a rest even if there is more to do
				m.rest(next)
			}
		case <-timer.C:
		case <-m.quit:
			return
		}
	}
}

// rest waits until a time, or the end.
func (m *Manager) rest(until time.Time) {
	timer := time.NewTimer(time.Until(until))
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-m.quit:
	}
}

// runOnce does all there is to do. next is when there will be more if nothing
// happens until then.
func (m *Manager) runOnce(ctx context.Context, now time.Time) (next time.Time, err error) {
	k := &m.keeper
	next, err = m.turn(ctx, now)
	switch {
	case errors.Is(err, ax.ErrLeaseLost):
		m.cfg.Log.Info("another host sends the alerts from now on")
		k.lose()
		m.setHolder(false)
		return now.Add(leaseCheck), nil
	case errors.Is(err, ax.ErrMoved): // a person was faster: look again
		return now.Add(gatherPause), nil
	case err != nil:
		k.pause = min(max(2*k.pause, firstPause), lastPause)
		return now.Add(k.pause), err
	}
	k.pause = 0
	return next, nil
}

func (m *Manager) turn(ctx context.Context, now time.Time) (next time.Time, err error) {
	m.flushLoose()
	held, err := m.hold(ctx, now)
	if err != nil || !held {
		return now.Add(leaseCheck), err
	}
	if err := m.settle(ctx, now); err != nil {
		return now, err
	}
	if goOn, err := m.giveWay(ctx, now); err != nil || !goOn {
		return now.Add(leaseCheck), err // or once a delivery has ended
	}
	again, err := m.gather(ctx, now)
	if err != nil {
		return now, err
	}
	due, err := m.send(ctx, now)
	if err != nil {
		return now, err
	}
	return earlier(earlier(again, due), now.Add(m.lookEvery())), nil
}

// Stop gathers what has happened and delivers what is due. When ctx ends it cuts
// deliveries off; their messages are sent by the next life or another host. Call
// it once, after a Start that brought no error.
func (m *Manager) Stop(ctx context.Context) {
	close(m.quit)
	m.unwatch()
	m.loops.Wait()
	m.finish(ctx)
	m.cancel(errStopped)
	cut, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopGrace)
	defer cancel()
	m.awaitDeliveries(cut)
	if !m.keeper.held {
		return
	}
	err := m.settle(cut, time.Now())
	if err == nil {
		err = m.cfg.Store.LeaveAlertLease(cut, m.keeper.lease)
	}
	if err != nil {
		m.cfg.Log.Error("cannot leave the alerts in good order: the next life, or another host, goes on with them", "error", err)
	}
}

// finish gathers everything, and waits until all that is due was tried once.
func (m *Manager) finish(ctx context.Context) {
	m.mu.Lock()
	m.fresh = true
	m.mu.Unlock()
	m.keeper.stopping, m.keeper.gatherAt = true, time.Time{}
	for {
		_, err := m.turn(ctx, time.Now())
		switch {
		case err != nil || !m.keeper.held || ctx.Err() != nil:
			return
		case m.more():
			continue
		case !m.delivering():
			return
		}
		select {
		case <-m.wake:
		case <-ctx.Done():
			return
		}
	}
}
