package alert

import (
	"context"
	"errors"
	"time"

	"github.com/axsched/ax/host/internal/ax"
	"github.com/axsched/ax/pluginapi"
)

const (
	// firstBackoff doubles from try to try, up to lastBackoff.
	firstBackoff = 5 * time.Second
	lastBackoff  = 5 * time.Minute
	// longestWait bounds what a notifier may ask for.
	longestWait = time.Hour
)

var (
	errSlow    = errors.New("the notifier did not answer in time")
	errStopped = errors.New("the host is stopping")
)

// result is the answer of a notifier, until it is written down.
type result struct {
	row     *row
	receipt string
	err     error
	at      time.Time
	cutOff  bool // by Stop: as if it had not been tried
}

// deliver tries a message once and hands the answer to the loop.
func (m *Manager) deliver(r *row) {
	ctx, cancel := context.WithTimeoutCause(m.ctx, deliveryTimeout, errSlow)
	msg := r.msg
	msg.Receipt = r.receipt
	receipt, err := m.cfg.Notify(ctx, r.Notifier, msg)
	cancel()
	m.mu.Lock()
	m.results = append(m.results, result{row: r, receipt: receipt, err: err, at: time.Now(), cutOff: err != nil && m.ctx.Err() != nil})
	m.mu.Unlock()
	m.poke()
}

// settle writes down what became of deliveries.
func (m *Manager) settle(ctx context.Context, now time.Time) error {
	for {
		m.mu.Lock()
		if len(m.results) == 0 {
			m.mu.Unlock()
			return nil
		}
		res := m.results[0]
		m.mu.Unlock()
		err := m.settleOne(ctx, now, &res)
		if err != nil && !errors.Is(err, ax.ErrMoved) && !errors.Is(err, ax.ErrLeaseLost) {
			return err // the answer is kept
		}
		m.mu.Lock()
		m.results = m.results[1:]
		delete(m.busy, res.row.Notifier)
		m.mu.Unlock()
		if err != nil { // somebody else deals with the message by now
			return err
		}
	}
}

func (m *Manager) settleOne(ctx context.Context, now time.Time, res *result) error {
	r, n := *res.row, m.notifier(res.row.Notifier)
	v := m.judge(&r, res)
	r.State, r.LastError, r.NextTryAt = v.state, v.cause, v.again
	if res.err == nil || res.receipt != "" {
		r.receipt = res.receipt
	}
	b := ax.AlertBatch{}
	if !res.cutOff {
		r.Attempts++
		v.mark(&n, res.at)
		r.NextTryAt = newest(r.NextTryAt, n.NextTryAt)
		b.Notifiers = []ax.AlertNotifier{n}
	}
	if v.state != ax.AlertFailed {
		r.WindowEnd, r.NextTryAt = res.at, time.Time{}
		merged := ax.AlertMerged
		if v.state == ax.AlertGivenUp {
			merged = ax.AlertGivenUp
		}
		if len(r.facts.Tasks) > 0 {
			b.Merged = []ax.AlertMerge{{Into: r.ID, State: merged, At: res.at}}
		}
	}
	saved, err := r.saved()
	if err != nil {
		return err
	}
	b.Rows = []ax.AlertRow{saved}
	if err := m.write(ctx, now, b); err != nil {
		return err
	}
	m.keeper.notifiers[n.Name] = &n
	m.keeper.unable = m.keeper.unable || v.cannot
	if !res.cutOff {
		m.cfg.Tried(r.Notifier, v.state)
	}
	m.report(&r, v, res)
	return nil
}

// notifier returns how a notifier fares.
func (m *Manager) notifier(name string) ax.AlertNotifier {
	if n := m.keeper.notifiers[name]; n != nil {
		return *n
	}
	return ax.AlertNotifier{App: m.cfg.App, Name: name}
}

// verdict is what becomes of a message after a try.
type verdict struct {
	state ax.AlertState
	cause string
	again time.Time
	wait  time.Duration // that the notifier asks for
	// cannot: the reason is this host.
	cannot bool
}

// judge says what the answer of a notifier means. r is the row before the try.
func (m *Manager) judge(r *row, res *result) verdict {
	if res.err == nil {
		return verdict{state: ax.AlertSent}
	}
	v := verdict{state: ax.AlertFailed, cause: m.cfg.Redact(res.err.Error())}
	v.wait = min(pluginapi.RetryWait(res.err), longestWait)
	switch {
	case res.cutOff:
		v.cause, v.again = r.LastError, res.at
	case pluginapi.IsPermanent(res.err), res.at.Sub(r.WindowEnd) >= m.cfg.Settings().Expire:
		v.state = ax.AlertGivenUp
	default:
		v.cannot = errors.Is(res.err, ErrCannot)
		v.again = res.at.Add(v.backoff(r.Attempts + 1))
	}
	return v
}

// mark notes how the notifier fares after the try.
func (v *verdict) mark(n *ax.AlertNotifier, at time.Time) {
	if v.state == ax.AlertSent {
		*n = ax.AlertNotifier{App: n.App, Name: n.Name, SentAt: at}
		return
	}
	if n.FailingSince.IsZero() {
		n.FailingSince = at
	}
	n.Failures++
	n.LastError, n.NextTryAt = v.cause, time.Time{}
	if v.state == ax.AlertFailed {
		n.NextTryAt = at.Add(v.backoff(n.Failures))
	}
}

// backoff is the wait after so many tries.
func (v *verdict) backoff(tries int) time.Duration {
	if v.cannot {
		return min(backoff(tries), lastCannot)
	}
	return max(backoff(tries), v.wait)
}

// backoff is the usual wait after so many tries.
func backoff(tries int) time.Duration {
	wait := firstBackoff
	for ; tries > 1 && wait < lastBackoff; tries-- {
		wait *= 2
	}
	return min(wait, lastBackoff)
}

func (m *Manager) report(r *row, v verdict, res *result) {
	log := m.cfg.Log.With("alert_id", r.msg.ID, "task", r.TaskName, "notifier", r.Notifier, "event", r.msg.Event, "count", r.msg.Count)
	switch {
	case res.cutOff:
		log.Warn("the delivery of an alert was cut off, it will be sent again")
	case v.state == ax.AlertSent:
		m.mu.Lock()
		m.figures.sent++
		m.mu.Unlock()
		log.Info("alert sent", "tasks", max(len(r.facts.Tasks)+r.facts.TasksMore, 1))
	case v.state == ax.AlertFailed:
		log.Warn("an alert was not taken, will try again", "in", r.NextTryAt.Sub(res.at), "error", v.cause)
	default:
		log.Error("an alert is given up: its receiver will not hear of it unless it is sent again by hand", "error", v.cause)
	}
}

func (m *Manager) delivering() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.busy) > 0
}

// awaitDeliveries waits until no delivery is under way.
func (m *Manager) awaitDeliveries(ctx context.Context) {
	for {
		m.mu.Lock()
		waiting := len(m.busy) > len(m.results)
		m.mu.Unlock()
		if !waiting {
			return
		}
		select {
		case <-m.wake:
		case <-ctx.Done():
			m.cfg.Log.Error("a notifier does not return; its message will be sent again")
			return
		}
	}
}
