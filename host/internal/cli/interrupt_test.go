package cli

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/axsched/ax/host/internal/api"
	"github.com/axsched/ax/host/internal/api/apitest"
	"github.com/axsched/ax/host/internal/ax"
)

// TestInterruptedRequest: an answer that nobody waits for any more is not taken
// for a host that is away.
func TestInterruptedRequest(t *testing.T) {
	t.Parallel()
	for args, want := range map[string]string{
		"run warm-up":   "ax: interrupted before the host had answered; whether the run was started is seen with: ax instances --task warm-up\n",
		"tasks warm-up": "ax: enough\n",
	} {
		backend, _ := apitest.Sample()
		ctx, interrupt := context.WithCancelCause(t.Context())
		hang := func(ctx context.Context) {
			interrupt(errors.New("enough"))
			<-ctx.Done()
		}
		backend.OnRun = func(ctx context.Context, _ string, _ api.RunOptions) (ax.InstanceID, error) {
			hang(ctx)
			return 0, ctx.Err()
		}
		backend.OnTask = func(ctx context.Context, _ string) (api.TaskView, error) {
			hang(ctx)
			return api.TaskView{}, ctx.Err()
		}
		var errs bytes.Buffer
		d := testDeps(newServer(t, backend).URL)
		d.Out, d.Err = &bytes.Buffer{}, &errs
		if code := Run(ctx, d, strings.Fields(args)); code != ExitInterrupted || errs.String() != want {
			t.Errorf("ax %s: exit code %d, %q", args, code, errs.String())
		}
	}
}

// TestInterruptedWaiting: who ends the waiting is told that the run goes on;
// who ends looking at a log is told nothing.
func TestInterruptedWaiting(t *testing.T) {
	t.Parallel()
	for args, want := range map[string]string{
		"run warm-up --wait": `instance 9007199254740993
ax: interrupted; the run goes on in the host
follow its log:  ax logs -f 9007199254740993
see how it is:   ax instances 9007199254740993
cancel it:       ax cancel 9007199254740993
`,
		"logs -f 103": "",
	} {
		backend, _ := apitest.Sample()
		backend.OnInstance = func(_ context.Context, id ax.InstanceID) (ax.Instance, error) {
			return ax.Instance{ID: id, TaskName: "warm-up", Status: ax.StatusRunning}, nil
		}
		ctx, interrupt := context.WithCancel(t.Context())
		backend.OnFollow = func(ctx context.Context, _ ax.InstanceID) (<-chan struct{}, error) {
			interrupt()
			return make(chan struct{}), nil
		}
		var errs bytes.Buffer
		d := testDeps(newServer(t, backend).URL)
		d.Out, d.Err = &bytes.Buffer{}, &errs
		if code := Run(ctx, d, strings.Fields(args)); code != ExitInterrupted || errs.String() != want {
			t.Errorf("ax %s: exit code %d, %q", args, code, errs.String())
		}
	}
}
