package host

import (
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/axsched/ax/host/internal/ax"
)

// runsPerSecond is how many ends of attempts are logged one by one. The rest of
// a busy second becomes one line: each of them is a row of the database anyhow.
const runsPerSecond = 10

// runLog writes a line for each attempt that ends.
type runLog struct {
	log func() hclog.Logger

	mu      sync.Mutex
	second  int64
	written int
	further int
}

func (r *runLog) ended(h ax.Happening) {
	now := time.Now().Unix()
	r.mu.Lock()
	further := 0
	if now != r.second {
		further = r.further
		r.second, r.written, r.further = now, 0, 0
	}
	r.written++
	quiet := r.written > runsPerSecond
	if quiet {
		r.further++
	}
	r.mu.Unlock()
	log := r.log()
	if further > 0 {
		log.Info("further runs ended", "runs", further)
	}
	if quiet {
		return
	}
	fields := []any{
		"task", h.Task.Name, "status", h.Outcome.Status, "instance_id", h.Instance.ID, "attempt", h.Instance.Attempt,
		"took", h.Outcome.EndedAt.Sub(h.Outcome.StartedAt).Round(time.Millisecond),
	}
	if h.Outcome.Error != "" {
		fields = append(fields, "error", firstLine(h.Outcome.Error))
	}
	if h.WillRetry {
		fields = append(fields, "next_attempt", h.Instance.RetryAt.Format(time.RFC3339))
	}
	if h.Outcome.Status.Failure() {
		log.Warn("run ended", fields...)
		return
	}
	log.Info("run ended", fields...)
}

// firstLine returns the first line of a text, cut to a length that a log line
// can bear.
func firstLine(text string) string {
	const limit = 300
	for i, r := range text {
		if r == '\n' || i >= limit {
			return text[:i] + " …"
		}
	}
	return text
}
