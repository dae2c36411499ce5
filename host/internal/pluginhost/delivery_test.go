package pluginhost

import (
	"context"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/axsched/ax/host/internal/ax"
)

// A run that never reached its job costs no attempt: the next process gets it.
func TestRunIsDeliveredAgain(t *testing.T) {
	t.Parallel()
	th := startHost(t, "ax-plugin-alpha", "good", Policy{})
	file := filepath.Join(t.TempDir(), "dead")
	out := work(th.Host, "die-first", file).Run(t.Context(), request(), ignore)
	if out.Status != ax.StatusSuccess {
		t.Errorf("outcome = %+v, want SUCCESS", out)
	}
	if s := th.status("alpha"); s.Restarts != 1 {
		t.Errorf("%d restarts: the first process should have died", s.Restarts)
	}
}

// The same with a process that somebody told to end, and that still waits for
// another run.
func TestDrainingProcessGetsNoRun(t *testing.T) {
	t.Parallel()
	th := startHost(t, "ax-plugin-alpha", "good", Policy{}, func(l *limits) { l.health = time.Hour })
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	sink, done := newCollector(), make(chan struct{})
	go func() {
		defer close(done)
		work(th.Host, "stubborn", "").Run(ctx, request(), sink.take)
	}()
	<-sink.begun
	old := th.status("alpha").PID
	if err := syscall.Kill(old, syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	for !strings.Contains(th.log.String(), "draining") {
		time.Sleep(time.Millisecond) // only the other process knows when
	}
	out := work(th.Host, "ok", "").Run(t.Context(), request(), ignore)
	if out.Status != ax.StatusSuccess {
		t.Errorf("outcome = %+v, want SUCCESS", out)
	}
	if now := th.status("alpha").PID; now == old {
		t.Error("the draining process is still in service")
	}
	cancel()
	<-done
}

// A process that died while it was asked to run may have begun: only the task's
// own retries may do that again.
func TestUncertainRunIsNotDeliveredAgain(t *testing.T) {
	t.Parallel()
	th := newHost(t, map[string]Policy{"never-accepts": {CallTimeout: 100 * time.Millisecond}}, func(l *limits) {
		l.silence = 200 * time.Millisecond
	})
	th.put(filePrefix+"never-accepts", "bad")
	th.start()
	out := th.Job(Spec{Use: "silent"}).Run(t.Context(), request(), ignore)
	if out.Status != ax.StatusLost || strings.Contains(th.log.String(), "handed over again") {
		t.Errorf("outcome = %+v, want LOST after one try", out)
	}
}
