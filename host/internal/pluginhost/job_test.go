package pluginhost

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/axsched/ax/host/internal/ax"
	"github.com/axsched/ax/pluginapi"
)

func request() ax.RunRequest {
	return ax.RunRequest{
		App: "shop", Task: "report", Instance: 42, Kind: ax.KindScheduled, Attempt: 1, MaxAttempts: 3,
		ScheduledAt: time.Unix(1_700_000_000, 0), Zone: "Europe/Berlin", Fence: 7, Grace: 100 * time.Millisecond,
	}
}

// work is a job of the good plugin.
func work(h *Host, how, file string) *Job {
	return h.Job(Spec{Use: "work", Settings: fmt.Appendf(nil, `{"how":%q,"file":%q}`, how, file)})
}

// collector is a sink. begun is closed at the first line.
type collector struct {
	begun    chan struct{}
	lines    []string
	progress []ax.Progress
	once     sync.Once
}

func newCollector() *collector { return &collector{begun: make(chan struct{})} }

func (c *collector) take(out ax.Output) {
	for _, l := range out.Lines {
		c.lines = append(c.lines, l.Level+" "+l.Text)
	}
	if out.Progress != nil {
		c.progress = append(c.progress, *out.Progress)
	}
	c.once.Do(func() { close(c.begun) })
}

func (c *collector) text() string { return strings.Join(c.lines, "\n") }

func ignore(ax.Output) {}

func TestJobOutcomes(t *testing.T) {
	t.Parallel()
	th := startHost(t, "ax-plugin-alpha", "good", Policy{})
	tests := map[string]struct {
		status    ax.Status
		err       string
		permanent bool
	}{
		"ok":        {status: ax.StatusSuccess},
		"fail":      {status: ax.StatusFailed, err: "it failed"},
		"permanent": {status: ax.StatusFailed, err: "it cannot work", permanent: true},
		"panic":     {status: ax.StatusFailed, err: "panic: in the job\n"},
		"defer":     {status: ax.StatusRunning},
		"progress":  {status: ax.StatusSuccess},
		"flood":     {status: ax.StatusSuccess},
	}
	for how, want := range tests {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			sink := newCollector()
			out := work(th.Host, how, "").Run(t.Context(), request(), sink.take)
			if out.Status != want.status || !strings.Contains(out.Error, want.err) || out.Permanent != want.permanent {
				t.Errorf("outcome = %+v, want %+v", out, want)
			}
			if out.Deferred != (how == "defer") || out.StartedAt.IsZero() || out.EndedAt.Before(out.StartedAt) {
				t.Errorf("outcome = %+v", out)
			}
			if !strings.Contains(sink.text(), "info running pid=") {
				t.Errorf("lines = %.200q, want the job's log", sink.lines)
			}
			switch how {
			case "ok":
				var data map[string]any
				if err := json.Unmarshal(out.Data, &data); err != nil || data["attempt"] != 1.0 || out.Message != "done by 1.0.0" {
					t.Errorf("message %q, data %s, %v", out.Message, out.Data, err)
				}
			case "progress":
				if len(sink.progress) != 1 || sink.progress[0] != (ax.Progress{Done: 1, Total: 2, Message: "half"}) {
					t.Errorf("progress = %v", sink.progress)
				}
			case "flood":
				if last := sink.lines[len(sink.lines)-1]; last != "output line 19999" {
					t.Errorf("last line = %q, want the last that was written", last)
				}
			}
		})
	}
}

func TestJobEndsItsProcess(t *testing.T) {
	t.Parallel()
	th := startHost(t, "ax-plugin-alpha", "good", Policy{})
	out := work(th.Host, "exit", "").Run(t.Context(), request(), ignore)
	if out.Status != ax.StatusLost || !strings.Contains(out.Error, "exited with status 9") ||
		!strings.Contains(out.Error, "the job takes the process with it") {
		t.Errorf("outcome = %+v, want LOST with the exit status and the last words", out)
	}
}

func TestJobEndsBecauseItsContextDid(t *testing.T) {
	t.Parallel()
	th := startHost(t, "ax-plugin-alpha", "good", Policy{})
	for cause, want := range map[error]ax.Status{
		pluginapi.ErrTimeout: ax.StatusTimeout, pluginapi.ErrCanceled: ax.StatusCanceled,
		pluginapi.ErrReplaced: ax.StatusCanceled, pluginapi.ErrDrain: ax.StatusLost,
	} {
		ctx, cancel := context.WithCancelCause(t.Context())
		sink := newCollector()
		done := make(chan ax.Outcome)
		req := request()
		req.Grace = 20 * time.Second
		go func() { done <- work(th.Host, "polite", "").Run(ctx, req, sink.take) }()
		<-sink.begun
		cancel(cause)
		out := <-done
		if out.Status != want || !strings.Contains(out.Error, cause.Error()) {
			t.Errorf("%v: outcome = %+v, want %s", cause, out, want)
		}
		if !strings.Contains(sink.text(), "last words") {
			t.Errorf("%v: lines = %q, want what was written after the cancel", cause, sink.lines)
		}
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	sink := newCollector()
	done := make(chan ax.Outcome)
	go func() { done <- work(th.Host, "finish", "").Run(ctx, request(), sink.take) }()
	<-sink.begun
	cancel(pluginapi.ErrTimeout)
	if out := <-done; out.Status != ax.StatusSuccess {
		t.Errorf("a job that finished although it was canceled: %+v, want SUCCESS", out)
	}
}

// A cancel may overtake the request to run: then it is said again, and no run
// goes on to the end of its grace.
func TestEarlyCancelIsNotLost(t *testing.T) {
	t.Parallel()
	th := startHost(t, "ax-plugin-alpha", "good", Policy{})
	req := request()
	req.Grace = time.Hour
	job := work(th.Host, "polite", "")
	for i := range 400 {
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(time.Duration(i)*5*time.Microsecond, func() { cancel(pluginapi.ErrCanceled) })
		if out := job.Run(ctx, req, ignore); out.Status != ax.StatusCanceled {
			t.Fatalf("canceled after %d µs: outcome = %+v, want CANCELED", 5*i, out)
		}
	}
}

func TestJobDeadlineIsKeptByThePlugin(t *testing.T) {
	t.Parallel()
	th := startHost(t, "ax-plugin-alpha", "good", Policy{})
	req := request()
	req.Deadline = time.Now().Add(300 * time.Millisecond)
	if out := work(th.Host, "polite", "").Run(t.Context(), req, ignore); out.Status != ax.StatusTimeout {
		t.Errorf("outcome = %+v, want TIMEOUT", out)
	}
}

// A stuck run costs its process its life: new runs go to a fresh process, other
// runs of the old one finish, and the stuck run returns only after the kill.
func TestStuckRun(t *testing.T) {
	t.Parallel()
	th := startHost(t, "ax-plugin-alpha", "good", Policy{})
	fifo := filepath.Join(t.TempDir(), "fifo")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	innocent, stuck := make(chan ax.Outcome, 1), make(chan ax.Outcome, 1)
	innocentSink, stuckSink := newCollector(), newCollector()
	go func() { innocent <- work(th.Host, "wait", fifo).Run(t.Context(), request(), innocentSink.take) }()
	ctx, cancel := context.WithCancelCause(t.Context())
	go func() { stuck <- work(th.Host, "stubborn", "").Run(ctx, request(), stuckSink.take) }()
	<-innocentSink.begun
	<-stuckSink.begun
	old := th.status("alpha").PID
	cancel(pluginapi.ErrTimeout)
	th.await("alpha", func(s PluginStatus) bool { return s.PID != old })

	th.use()
	if s := th.status("alpha"); s.PID == old || s.PID == 0 || s.InFlight != 2 {
		t.Errorf("status = %+v, want a new process beside the 2 runs of process %d", s, old)
	}
	select {
	case out := <-stuck:
		t.Fatalf("the stuck run returned %+v while its process still lives", out)
	default:
	}
	if err := os.WriteFile(fifo, []byte("go"), 0o600); err != nil {
		t.Fatal(err)
	}
	if out := <-innocent; out.Status != ax.StatusSuccess {
		t.Errorf("the other run = %+v, want SUCCESS", out)
	}
	out := <-stuck
	if out.Status != ax.StatusTimeout || !strings.Contains(out.Error, "did not end within its grace of 100ms") {
		t.Errorf("the stuck run = %+v, want TIMEOUT", out)
	}
	if err := syscall.Kill(old, 0); !errors.Is(err, syscall.ESRCH) {
		t.Errorf("process %d is still there: %v", old, err)
	}
	if s := th.status("alpha"); s.Restarts != 0 {
		t.Errorf("the kill counts as a crash: %+v", s)
	}
}

func TestStuckRunWaitsForOthersNoLongerThanTheDrainTimeout(t *testing.T) {
	t.Parallel()
	th := startHost(t, "ax-plugin-alpha", "good", Policy{DrainTimeout: 200 * time.Millisecond})
	other, stuck := make(chan ax.Outcome, 1), make(chan ax.Outcome, 1)
	otherSink, stuckSink := newCollector(), newCollector()
	go func() { other <- work(th.Host, "stubborn", "").Run(t.Context(), request(), otherSink.take) }()
	ctx, cancel := context.WithCancelCause(t.Context())
	go func() { stuck <- work(th.Host, "stubborn", "").Run(ctx, request(), stuckSink.take) }()
	<-otherSink.begun
	<-stuckSink.begun
	cancel(pluginapi.ErrCanceled)
	if out := <-stuck; out.Status != ax.StatusCanceled {
		t.Errorf("the stuck run = %+v, want CANCELED", out)
	}
	if out := <-other; out.Status != ax.StatusLost || !strings.Contains(out.Error, "time to drain was over") {
		t.Errorf("the other run = %+v, want LOST", out)
	}
}

func TestJobThatCannotBegin(t *testing.T) {
	t.Parallel()
	th := newHost(t, map[string]Policy{"never-accepts": {CallTimeout: 100 * time.Millisecond}}, func(l *limits) {
		l.silence = 200 * time.Millisecond
	})
	for _, name := range []string{"exits", "never-accepts"} {
		th.put(filePrefix+name, "bad")
	}
	th.put("ax-plugin-alpha", "good")
	th.start()
	for use, want := range map[string]string{
		"nobody":               "no plugin offers",
		"exits/silent":         "exited with status 3",
		"never-accepts/silent": "no sign of life",
	} {
		out := th.Job(Spec{Use: use}).Run(t.Context(), request(), ignore)
		if out.Status != ax.StatusLost || !strings.Contains(out.Error, want) {
			t.Errorf("%s: outcome = %+v, want LOST with %q", use, out, want)
		}
		if asked := use == "never-accepts/silent"; out.NotBegun == asked {
			t.Errorf("%s: NotBegun is %v", use, out.NotBegun)
		}
	}
	out := th.Job(Spec{Use: "work", Settings: []byte(`{"hwo":"ok"}`)}).Run(t.Context(), request(), ignore)
	if out.Status != ax.StatusFailed || !out.Permanent {
		t.Errorf("refused settings: outcome = %+v, want FAILED for good", out)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(pluginapi.ErrCanceled)
	if out := work(th.Host, "ok", "").Run(ctx, request(), ignore); out.Status != ax.StatusCanceled {
		t.Errorf("canceled before the start: outcome = %+v, want CANCELED", out)
	}
}

func TestJobThatBreaksTheContract(t *testing.T) {
	t.Parallel()
	th := newHost(t, nil, func(l *limits) {
		l.silence, l.healthCall = 200*time.Millisecond, time.Second
		l.health = time.Hour
	})
	wants := map[string]string{
		"silent":         "no sign of life",
		"numb":           "no answer to a health check",
		"ends-early":     "without an outcome",
		"sends-too-much": "stream of the run broke",
	}
	for name := range wants {
		th.put(filePrefix+name, "bad")
	}
	th.start()
	var wg sync.WaitGroup
	for name, want := range wants {
		wg.Go(func() {
			out := th.Job(Spec{Use: name + "/silent"}).Run(t.Context(), request(), ignore)
			if out.Status != ax.StatusLost || !strings.Contains(out.Error, want) {
				t.Errorf("%s: outcome = %+v, want LOST with %q", name, out, want)
			}
		})
	}
	wg.Wait()
}

func TestSlowSinkIsNoSilence(t *testing.T) {
	t.Parallel()
	th := startHost(t, "ax-plugin-alpha", "good", Policy{}, func(l *limits) { l.silence = 50 * time.Millisecond })
	first := true
	out := work(th.Host, "flood", "").Run(t.Context(), request(), func(ax.Output) {
		if first {
			first = false
			<-time.After(500 * time.Millisecond) // what is tested is this slowness
		}
	})
	if out.Status != ax.StatusSuccess {
		t.Errorf("outcome = %+v, want SUCCESS", out)
	}
}

// A job that ends as it was told is not stuck because the host is slow to take
// its output.
func TestSlowSinkIsNoGrace(t *testing.T) {
	t.Parallel()
	th := startHost(t, "ax-plugin-alpha", "good", Policy{})
	ctx, cancel := context.WithCancelCause(t.Context())
	out := work(th.Host, "polite", "").Run(ctx, request(), func(ax.Output) {
		cancel(pluginapi.ErrCanceled)
		<-time.After(4 * request().Grace) // what is tested is this slowness
	})
	if out.Status != ax.StatusCanceled {
		t.Errorf("outcome = %+v, want CANCELED", out)
	}
	if log := th.log.String(); strings.Contains(log, "a run does not end") {
		t.Error("the job was taken for stuck")
	}
}

func TestStoppedProcessIsFoundByItsRun(t *testing.T) {
	t.Parallel()
	th := startHost(t, "ax-plugin-alpha", "good", Policy{}, func(l *limits) {
		l.silence, l.healthCall, l.health = 200*time.Millisecond, 200*time.Millisecond, time.Hour
	})
	sink := newCollector()
	done := make(chan ax.Outcome)
	go func() { done <- work(th.Host, "polite", "").Run(t.Context(), request(), sink.take) }()
	<-sink.begun
	if err := syscall.Kill(th.status("alpha").PID, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	if out := <-done; out.Status != ax.StatusLost || !strings.Contains(out.Error, "no answer to a health check") {
		t.Errorf("outcome = %+v, want LOST", out)
	}
	th.use() // a new process serves
}

func TestMaxInflight(t *testing.T) {
	t.Parallel()
	th := startHost(t, "ax-plugin-alpha", "good", Policy{MaxInflight: 1})
	sink := newCollector()
	running, cancelRun := context.WithCancelCause(t.Context())
	done := make(chan ax.Outcome)
	go func() { done <- work(th.Host, "polite", "").Run(running, request(), sink.take) }()
	<-sink.begun
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, _, err := every(th.Host).Next(ctx, time.Unix(0, 0), time.Time{}, 1)
	wantError[*UnavailableError](t, err, "1 calls and runs are in progress")
	cancelRun(pluginapi.ErrCanceled)
	<-done
	th.use()
}
