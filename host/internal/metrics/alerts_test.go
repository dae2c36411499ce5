package metrics

import (
	"errors"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/axsched/ax/host/internal/ax"
)

// lines returns the samples of the metrics whose names begin so.
func lines(t *testing.T, m *Metrics, prefix string) string {
	t.Helper()
	w := httptest.NewRecorder()
	m.Handler().ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
	if w.Code != 200 {
		t.Errorf("status %d: %s", w.Code, w.Body)
	}
	var found []string
	for line := range strings.Lines(w.Body.String()) {
		if strings.HasPrefix(line, prefix) {
			found = append(found, line)
		}
	}
	return strings.Join(found, "")
}

// TestAlerts: what was tried here, and what waits in the database.
func TestAlerts(t *testing.T) {
	t.Parallel()
	noon := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	zero := func() float64 { return 0 }
	var down error
	m := New(Gauges{
		Running: zero, Queued: zero, WriterQueue: zero, WriterBatches: zero, WriterChanges: zero, ClockOffset: zero,
		Now: func() time.Time { return noon },
		Alerts: func() ([]ax.AlertQueue, error) {
			return []ax.AlertQueue{
				{Notifier: "dev", Waiting: 1, Since: noon.Add(time.Minute)},
				{Notifier: "old", Dead: 2},
				{Notifier: "ops", Waiting: 3, Since: noon.Add(-90 * time.Second)},
			}, down
		},
	})
	m.AlertTried("ops", ax.AlertFailed)
	m.AlertTried("ops", ax.AlertSent)
	m.AlertTried("ops", ax.AlertSent)
	const want = `ax_alerts_dead{notifier="dev"} 0
ax_alerts_dead{notifier="old"} 2
ax_alerts_dead{notifier="ops"} 0
ax_alerts_oldest_waiting_seconds{notifier="dev"} 0
ax_alerts_oldest_waiting_seconds{notifier="old"} 0
ax_alerts_oldest_waiting_seconds{notifier="ops"} 90
ax_alerts_total{notifier="ops",outcome="failed"} 1
ax_alerts_total{notifier="ops",outcome="sent"} 2
ax_alerts_waiting{notifier="dev"} 1
ax_alerts_waiting{notifier="old"} 0
ax_alerts_waiting{notifier="ops"} 3
`
	if got := lines(t, m, "ax_alerts_"); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	down = errors.New("the database is gone")
	if got := lines(t, m, "ax_"); !strings.Contains(got, "ax_alerts_total") || strings.Contains(got, "ax_alerts_waiting") || !strings.Contains(got, "ax_running 0") {
		t.Errorf("without a database got\n%s", got)
	}
}
