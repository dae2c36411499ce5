package host

import (
	"context"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/axsched/ax/host/internal/ax"
	"github.com/axsched/ax/host/internal/config"
	"github.com/axsched/ax/host/internal/pluginhost"
	"github.com/axsched/ax/pluginapi/wire"
)

const (
	// noticeTimeout bounds one call of a listener, beforeTimeout the calls that
	// hold an attempt up.
	noticeTimeout = 10 * time.Second
	beforeTimeout = 2 * time.Second
	// noticeQueue is how many notices may wait for one slow listener.
	noticeQueue = 4096
)

// ended is told of each attempt's end, after it was written.
func (h *Host) ended(end ax.Ended) {
	if h.engine != nil {
		h.fleet.ended(end)
	}
	if end.Instance.Deferred {
		return // it goes on elsewhere
	}
	h.observe(ax.Happening{
		What: ax.AttemptEnded, At: end.Outcome.EndedAt, Task: end.Task, Instance: end.Instance,
		Outcome: end.Outcome, WillRetry: end.WillRetry,
	})
}

// returned is told of attempts that could not begin. Hosts elsewhere that schedule
// the task find it in the database.
func (h *Host) returned(inst ax.Instance) { h.engine.Returned(inst) }

// observe passes on what happens. It does not block.
func (h *Host) observe(what ax.Happening) {
	h.metrics.Observe(what)
	h.listen.observe(what)
	h.alerts.Observe(what)
	h.traces.Observe(what)
	if what.What == ax.AttemptEnded {
		h.runs.ended(what)
	}
}

// listeners tells the listeners of the configuration about runs. Each has a
// queue and a goroutine of its own: a slow one holds up nobody else, and loses
// notices, with a word in the log, once its queue is full.
type listeners struct {
	h   *Host
	log hclog.Logger
	ctx context.Context // of queued notices, until stop gives up on them
	end context.CancelFunc

	mu     sync.Mutex
	queues map[string]chan notice // by name of the listener
	closed bool
	wg     sync.WaitGroup
}

type notice struct {
	component config.Component
	event     string
	req       ax.RunRequest
	outcome   *ax.Outcome
}

func newListeners(h *Host, log hclog.Logger) *listeners {
	l := &listeners{h: h, log: log, queues: map[string]chan notice{}}
	l.ctx, l.end = context.WithCancel(context.Background())
	return l
}

// observe queues the notices of an attempt's end.
func (l *listeners) observe(what ax.Happening) {
	cfg := l.h.live.Load().cfg
	if what.What != ax.AttemptEnded || len(cfg.Listeners) == 0 {
		return
	}
	req := request(what.Task, &what.Instance)
	out := what.Outcome
	out.WillRetry = what.WillRetry
	for _, c := range cfg.Listeners {
		l.queue(notice{c, wire.EventAfter, req, &out})
		if what.Instance.Status.Final() {
			l.queue(notice{c, wire.EventComplete, req, &out})
		}
	}
}

func (l *listeners) queue(n notice) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return
	}
	q := l.queues[n.component.Name]
	if q == nil {
		q = make(chan notice, noticeQueue)
		l.queues[n.component.Name] = q
		l.wg.Go(func() {
			for n := range q {
				if l.ctx.Err() == nil {
					l.tell(l.ctx, noticeTimeout, n)
				}
			}
		})
	}
	select {
	case q <- n:
	default:
		l.log.Error("a listener is too slow, a notice was dropped", "listener", n.component.Name, "event", n.event, "instance_id", n.req.Instance)
	}
}

// notice tells all listeners at once of an attempt that is about to start, and
// waits for them within bounds.
func (l *listeners) notice(ctx context.Context, event string, req ax.RunRequest, outcome *ax.Outcome) {
	var wg sync.WaitGroup
	for _, c := range l.h.live.Load().cfg.Listeners {
		wg.Go(func() { l.tell(ctx, beforeTimeout, notice{c, event, req, outcome}) })
	}
	wg.Wait()
}

func (l *listeners) tell(ctx context.Context, limit time.Duration, n notice) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	listener := l.h.plugins.Listener(pluginhost.Spec{Use: n.component.Use.Name, Settings: n.component.With})
	if err := listener.Notice(ctx, n.event, n.req, n.outcome); err != nil {
		l.log.Error("cannot tell a listener", "listener", n.component.Name, "event", n.event, "instance_id", n.req.Instance, "error", err)
	}
}

// stop delivers what is queued, within bounds, and drops the rest.
func (l *listeners) stop() {
	defer l.end()
	l.mu.Lock()
	if !l.closed {
		l.closed = true
		for _, q := range l.queues {
			close(q)
		}
	}
	l.mu.Unlock()
	done := make(chan struct{})
	go func() { l.wg.Wait(); close(done) }()
	select {
	case <-done:
	case <-time.After(stopLast):
		l.log.Error("listeners did not take all notices in time")
	}
}

// request describes an attempt that is over, for those who want to know.
func request(task *ax.Task, inst *ax.Instance) ax.RunRequest {
	return ax.RunRequest{
		App: inst.App, Task: inst.TaskName, Instance: inst.ID, Kind: inst.Kind,
		Attempt: inst.Attempt, MaxAttempts: task.Retry.MaxAttempts(), ScheduledAt: inst.ScheduledAt,
		Zone: task.Schedule.Timezone, TraceID: inst.TraceID, Node: inst.Node, Params: inst.Params, Fence: inst.Fence,
	}
}
