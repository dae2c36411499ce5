// Worker is a plugin whose job takes some time and writes down, in a file of its
// own, when it began and ended: what really ran is seen from outside the host.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/axsched/ax/pluginapi"
	"github.com/axsched/ax/pluginapi/serve"
)

func main() {
	serve.Main(pluginapi.Info{Name: "worker", Version: "1.0.0", Description: "Works under faults."},
		pluginapi.JobOf("work", "Takes some time and writes down what it does.", newWork))
}

type work struct {
	Journal string             `json:"journal" ax:"required" doc:"File for what it does."`
	Takes   pluginapi.Duration `json:"takes" doc:"How long a run takes."`
	Fails   int                `json:"fails" doc:"How many attempts fail."`
}

func newWork(w work, _ pluginapi.Env) (pluginapi.Job, error) { return w, nil }

// Run implements pluginapi.Job.
func (w work) Run(ctx context.Context, run *pluginapi.Run) (pluginapi.Result, error) {
	if err := w.note(run, "begin"); err != nil {
		return pluginapi.Result{}, err
	}
	select {
	case <-time.After(w.Takes.Std()):
	case <-ctx.Done():
		return pluginapi.Result{}, errors.Join(context.Cause(ctx), w.note(run, "stopped"))
	}
	if run.Attempt <= w.Fails {
		return pluginapi.Result{}, errors.Join(fmt.Errorf("attempt %d fails", run.Attempt), w.note(run, "failed"))
	}
	return pluginapi.Result{Message: "done"}, w.note(run, "end")
}

// note appends a line to the journal, in one write.
func (w work) note(run *pluginapi.Run, what string) error {
	f, err := os.OpenFile(w.Journal, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = fmt.Fprintf(f, "%s %s %s %d %d %s %d %d\n", what, run.Task, run.InstanceID,
		run.Attempt, run.Fence, run.Node, os.Getpid(), time.Now().UnixMicro())
	return err
}
