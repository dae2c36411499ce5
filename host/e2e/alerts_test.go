package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/axsched/ax/host/internal/api"
	"github.com/axsched/ax/pluginapi"
)

// receiver takes messages, or refuses them.
type receiver struct {
	*httptest.Server
	mu      sync.Mutex
	refuses bool
	got     map[string]pluginapi.Message // by ID
}

func newReceiver(t *testing.T) *receiver {
	r := &receiver{got: map[string]pluginapi.Message{}}
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		r.mu.Lock()
		defer r.mu.Unlock()
		var msg pluginapi.Message
		switch err := json.NewDecoder(req.Body).Decode(&msg); {
		case err != nil:
			t.Errorf("a message that is no JSON: %v", err)
		case r.refuses:
			w.WriteHeader(http.StatusServiceUnavailable)
		default:
			r.got[msg.ID] = msg
		}
	}))
	t.Cleanup(r.Close)
	return r
}

func (r *receiver) refuse(on bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.refuses = on
}

// failures counts what messages that were taken tell of.
func (r *receiver) failures() (messages, events int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, msg := range r.got {
		if msg.Event != "test" {
			messages, events = messages+1, events+msg.Count
		}
	}
	return messages, events
}

// What fails while the host is killed again and again is told, each failure once,
// and in few messages.
func TestAlertsOfAHostThatIsKilled(t *testing.T) {
	t.Parallel()
	random := seeded(t)
	w, r := newWorld(t, "exec", "webhook"), newReceiver(t)
	var config strings.Builder
	fmt.Fprintf(&config, `
alerts: {window: 2s, gather: 200ms}
notifiers: {ops: {use: webhook, with: {url: %q}, per_minute: 0}}
defaults: {retry: 0, notify: {to: ops, on: [failed, timeout, lost]}}
tasks:
`, r.URL)
	for i := range 8 {
		fmt.Fprintf(&config, "- {name: t%d, every: 200ms, repeat_count: 60, job: {use: exec, with: {shell: \"exit %d\"}}}\n", i, i+1)
	}
	w.config(config.String())
	for range 4 {
		h := w.start()
		time.Sleep(time.Duration(1000+random.IntN(2500)) * time.Millisecond) // any moment will do
		h.kill()
	}
	h := w.start()
	defer h.stop()
	db := w.database()
	defer db.Close()
	count := func(query string) (n int) {
		w.must(db.QueryRowContext(t.Context(), query).Scan(&n))
		return n
	}
	eventually(t, 2*patience, func() error {
		if n := count("SELECT count(*) FROM ax_task WHERE next_at IS NOT NULL"); n > 0 {
			return fmt.Errorf("%d tasks go on", n)
		}
		failed := count("SELECT count(*) FROM ax_instance WHERE status IN ('FAILED', 'TIMEOUT', 'LOST')")
		open := count("SELECT count(*) FROM ax_instance WHERE status IN ('RUNNING', 'DISPATCHED', 'TRIGGERED', 'RETRYING')")
		messages, events := r.failures()
		if failed == 0 || open > 0 || events != failed {
			return fmt.Errorf("%d runs have failed and %d go on, %d messages tell of %d", failed, open, messages, events)
		}
		t.Logf("%d messages tell of %d failures", messages, events)
		return nil
	})
	if n := count("SELECT count(*) FROM ax_alert_event"); n > 0 {
		t.Errorf("%d events are in no message", n)
	}
}

// A notifier that is down is seen, holds nothing up, and loses nothing; a person
// can try it out.
func TestNotifierThatIsDown(t *testing.T) {
	t.Parallel()
	w, r := newWorld(t, "exec", "webhook"), newReceiver(t)
	w.config(fmt.Sprintf(`
alerts: {gather: 0s}
notifiers: {ops: {use: webhook, with: {url: %q}, language: zh, title: "!! {{.Title}}"}}
tasks:
- {name: boom, at: "2099-01-01", retry: 0, notify: ops, job: {use: exec, with: {shell: "exit 3"}}}
`, r.URL))
	h := w.start()
	w.axOK("alerts", "test", "ops")
	r.refuse(true)
	if res := w.ax("alerts", "test", "ops"); res.code != 1 || !strings.Contains(res.err, "503") {
		t.Errorf("a test that is refused: %+v", res)
	}
	w.run("boom")
	eventually(t, patience, func() error {
		list := axJSON[api.NotifierList](w, "alerts", "notifiers")
		if n := list.Notifiers[0]; n.State != "down" || n.Waiting != 1 || !strings.Contains(n.LastError, "503") {
			return fmt.Errorf("%+v", n)
		}
		return nil
	})
	if health := axJSON[api.Health](w, "health"); health.Status != api.HealthDegraded || !strings.Contains(strings.Join(health.Reasons, "\n"), "notifier ops is down") {
		t.Errorf("health %+v", health)
	}
	r.refuse(false)
	h.kill()
	h = w.start()
	defer h.stop()
	eventually(t, patience, func() error {
		if messages, events := r.failures(); messages != 1 || events != 1 {
			return fmt.Errorf("%d messages tell of %d failures", messages, events)
		}
		return nil
	})
	list := axJSON[api.AlertList](w, "alerts", "--task", "boom")
	if len(list.Alerts) != 1 || list.Alerts[0].Title != "!! boom 失败" || list.Alerts[0].State != "sent" {
		t.Errorf("alerts %+v", list)
	}
}

// People hear of a plugin that crashes again and again, and of its end.
func TestAlertsOfAPlugin(t *testing.T) {
	t.Parallel()
	w, r := newWorld(t, "webhook"), newReceiver(t)
	w.install("breaks", "bad")
	w.config(fmt.Sprintf(`
alerts: {to: ops, window: 1s, gather: 0s}
notifiers: {ops: {use: webhook, with: {url: %q}}}
tasks:
- {name: t, retry: 0, %s}
`, r.URL, badJob("breaks", "crash")))
	h := w.start()
	defer h.stop()
	told := func(event string) {
		t.Helper()
		eventually(t, 2*patience, func() error {
			r.mu.Lock()
			defer r.mu.Unlock()
			for _, msg := range r.got {
				if msg.Event == event && msg.Task == "plugin breaks on "+w.node {
					return nil
				}
			}
			return fmt.Errorf("no message of %s among %v", event, r.got)
		})
	}
	told("plugin")
	w.axOK("pause", "t")
	w.axOK("plugins", "reset", "breaks")
	told("recovered")
}
