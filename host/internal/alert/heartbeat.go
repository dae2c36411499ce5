package alert

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"github.com/axsched/ax/host/internal/ax"
)

// Heartbeat is a URL outside that hears of the cluster as long as it is well: a
// dead man's switch. If it hears nothing, the whole cluster is down.
type Heartbeat struct {
	URL   string // empty for none; may hold a secret
	Every time.Duration
}

// Pulse is what the URL gets, JSON. All figures are about the time since the
// last one was due.
type Pulse struct {
	App  string    `json:"app"`
	Node string    `json:"node"`
	At   time.Time `json:"at"`
	// Seconds is how long that time was.
	Seconds float64 `json:"seconds"`
	// Recorded counts the instances recorded by all hosts, by status.
	Recorded map[ax.Status]int `json:"recorded"`
	// Ended and Failed count the attempts that ended on this host, Sent the
	// messages that it has sent.
	Ended  int `json:"ended"`
	Failed int `json:"failed"`
	Sent   int `json:"sent"`
	// Overdue is how many due times have no record although they should.
	Overdue int `json:"overdue"`
}

// figures count what a Pulse tells.
type figures struct {
	ended, failed, sent, overdue int
}

func (f *figures) observe(h *ax.Happening) {
	if h.What != ax.AttemptEnded {
		return
	}
	f.ended++
	if h.Outcome.Status.Failure() {
		f.failed++
	}
}

const (
	// beatTimeout bounds one call of the URL.
	beatTimeout = 10 * time.Second
	// beatCheck is how often it is looked whether there is a URL by now.
	beatCheck = time.Minute
)

// beat calls the URL again and again. Only the host that holds the lease does, so
// that silence means that no host is well.
func (m *Manager) beat() {
	client := &http.Client{Timeout: beatTimeout}
	last, failing := time.Now(), false
	for {
		every := m.cfg.Settings().Heartbeat.Every
		if every <= 0 {
			every = beatCheck
		}
		timer := time.NewTimer(every)
		select {
		case <-timer.C:
		case <-m.quit:
			timer.Stop()
			return
		}
		to := m.cfg.Settings().Heartbeat.URL
		if to == "" || !m.holds() {
			last = time.Now()
			continue
		}
		err := m.pulse(client, to, last)
		switch {
		case err != nil && !failing && m.watching.Err() == nil:
			m.cfg.Log.Error("cannot call the URL of alerts.heartbeat, will go on trying", "error", err)
		case err == nil && failing:
			m.cfg.Log.Info("the URL of alerts.heartbeat answers again")
		}
		last, failing = time.Now(), err != nil
	}
}

// holds reports whether this host holds the lease, as far as it knows.
func (m *Manager) holds() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.holder
}

// pulse sends the figures since a time.
func (m *Manager) pulse(client *http.Client, to string, since time.Time) error {
	ctx, cancel := context.WithTimeout(m.watching, beatTimeout)
	defer cancel()
	now := time.Now()
	recorded, err := m.cfg.Store.CountRecent(ctx, m.cfg.App, since)
	if err != nil {
		return fmt.Errorf("count: %w", err)
	}
	m.mu.Lock()
	f := m.figures
	m.figures = figures{overdue: f.overdue}
	m.mu.Unlock()
	body, err := json.Marshal(Pulse{
		App: m.cfg.App, Node: m.cfg.Node, At: now.UTC(), Seconds: now.Sub(since).Seconds(), Recorded: recorded,
		Ended: f.ended, Failed: f.failed, Sent: f.sent, Overdue: f.overdue,
	})
	if err != nil {
		return fmt.Errorf("encode: %w", err)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, to, bytes.NewReader(body))
	if err != nil {
		return errors.New("its URL is not valid") // which may be a secret as a whole
	}
	req.Header.Set("Content-Type", "application/json")
	res, err := client.Do(req)
	if err != nil {
		if inner, ok := errors.AsType[*url.Error](err); ok {
			err = inner.Err // without the URL
		}
		return fmt.Errorf("call: %w", err)
	}
	defer res.Body.Close()
	io.Copy(io.Discard, io.LimitReader(res.Body, 1<<16)) //nolint:errcheck // only to keep the connection
	if res.StatusCode >= http.StatusMultipleChoices {
		return fmt.Errorf("it answers %s", res.Status)
	}
	return nil
}
