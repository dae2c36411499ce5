package alert

import (
	"context"
	"errors"
	"time"

	"github.com/axsched/ax/host/internal/ax"
	"github.com/axsched/ax/pluginapi"
)

const (
	// deliveryTimeout bounds one try.
	deliveryTimeout = 30 * time.Second
	// firstBackoff doubles from try to try, up to lastBackoff.
	firstBackoff = 5 * time.Second
	lastBackoff  = 5 * time.Minute
	// giveUpAfter is how long a message is tried.
	giveUpAfter = 48 * time.Hour
)

var (
	errSlow    = errors.New("the notifier did not answer in time")
	errStopped = errors.New("the host is stopping")
)

// verdict is what becomes of a message after a try.
type verdict struct {
	state ax.AlertState
	cause string
	again time.Time
}

// judge says what the answer of a notifier means. r is the row before the try.
func judge(r *row, err error, cause string, now time.Time) verdict {
	switch {
	case err == nil:
		return verdict{state: ax.AlertSent}
	case pluginapi.IsPermanent(err), now.Sub(r.WindowEnd) >= giveUpAfter:
		return verdict{state: ax.AlertGivenUp, cause: cause}
	}
	return verdict{state: ax.AlertFailed, cause: cause, again: now.Add(backoff(r.Attempts + 1))}
}

// backoff is the wait after so many tries.
func backoff(tries int) time.Duration {
	wait := firstBackoff
	for ; tries > 1 && wait < lastBackoff; tries-- {
		wait *= 2
	}
	return min(wait, lastBackoff)
}

// deliverDue starts the deliveries that are due; m.mu is held.
func (m *Manager) deliverDue(now time.Time) {
	for notifier, r := range m.book.due(now, m.busy) {
		m.busy[notifier] = true
		msg := r.msg
		go m.deliver(notifier, r, msg)
	}
}

// deliver tries a message once and notes the answer.
func (m *Manager) deliver(notifier string, r *row, msg pluginapi.Message) {
	ctx, cancel := context.WithTimeoutCause(m.ctx, deliveryTimeout, errSlow)
	err := m.cfg.Notify(ctx, notifier, msg)
	cancel()
	now, cause := time.Now(), ""
	if err != nil {
		cause = m.cfg.Redact(err.Error())
	}
	m.mu.Lock()
	delete(m.busy, notifier)
	cutOff := err != nil && m.ctx.Err() != nil // by Stop: as if it had not been tried
	var v verdict
	if !cutOff {
		v = judge(r, err, cause, now)
		m.book.settle(r, v, now)
	}
	m.mu.Unlock()
	m.poke()
	log := m.cfg.Log.With("alert_id", msg.ID, "task", msg.Task, "notifier", notifier, "event", msg.Event, "count", msg.Count)
	switch {
	case cutOff:
		log.Warn("the delivery of an alert was cut off, the next start will send it again")
	case v.state == ax.AlertSent:
		log.Info("alert sent")
	case v.state == ax.AlertFailed:
		log.Warn("an alert was not taken, will try again", "in", v.again.Sub(now), "error", cause)
	default:
		log.Error("an alert is given up: its receiver will not hear of it", "error", cause)
	}
}

func (m *Manager) delivering() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.busy) > 0
}

// awaitDeliveries waits until no delivery is under way.
func (m *Manager) awaitDeliveries(ctx context.Context) {
	for m.delivering() {
		select {
		case <-m.wake:
		case <-ctx.Done():
			m.cfg.Log.Error("a notifier does not return; its message will be sent again by the next start")
			return
		}
	}
}
