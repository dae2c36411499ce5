// Worker is a well-behaved plugin for the tests of package e2e.
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

// version is set by the linker.
var version = "1.0.0"

func main() {
	serve.Main(pluginapi.Info{Name: "worker", Version: version, Description: "Works for tests."},
		pluginapi.JobOf("work", "Takes some time and writes down what it does.", newWork),
		pluginapi.TriggerOf("beat", "Due in fixed steps.", newBeat),
	)
}

type work struct {
	Takes    pluginapi.Duration `json:"takes" doc:"How long a run takes."`
	Journal  string             `json:"journal" doc:"File for what it does."`
	Fails    int                `json:"fails" doc:"How many attempts fail."`
	Until    string             `json:"until" doc:"File whose appearance ends a run."`
	Stubborn bool               `json:"stubborn" doc:"Does not end when it is told to."`
}

func newWork(w work, _ pluginapi.Env) (pluginapi.Job, error) { return w, nil }

// beatEvery is the time between two signs of life in the journal.
const beatEvery = 50 * time.Millisecond

// Run implements pluginapi.Job.
func (w work) Run(ctx context.Context, run *pluginapi.Run) (pluginapi.Result, error) {
	w.note(run, "begin")
	if err := w.work(ctx, run); err != nil {
		w.note(run, "stopped")
		return pluginapi.Result{Message: "stopped in " + version}, err
	}
	if run.Attempt <= w.Fails {
		w.note(run, "failed")
		return pluginapi.Result{}, fmt.Errorf("attempt %d fails", run.Attempt)
	}
	w.note(run, "end")
	return pluginapi.Result{Message: "done by " + version, Data: map[string]any{"version": version, "pid": os.Getpid()}}, nil
}

// work takes its time and gives signs of life.
func (w work) work(ctx context.Context, run *pluginapi.Run) error {
	if w.Takes == 0 && w.Until == "" {
		return nil
	}
	end := time.After(w.Takes.Std())
	if w.Until != "" {
		end = nil
	}
	beat := time.NewTicker(beatEvery)
	defer beat.Stop()
	told := ctx.Done()
	for {
		select {
		case <-end:
			return nil
		case <-told:
			if !w.Stubborn {
				return context.Cause(ctx)
			}
			told = nil
		case <-beat.C:
			w.note(run, "beat")
			if _, err := os.Stat(w.Until); w.Until != "" && err == nil {
				return nil
			}
		}
	}
}

// note appends a line to the journal, in one write.
func (w work) note(run *pluginapi.Run, what string) {
	if w.Journal == "" {
		return
	}
	f, err := os.OpenFile(w.Journal, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		run.Log.Error("cannot write the journal", "error", err)
		return
	}
	defer f.Close()
	fmt.Fprintf(f, "%s %s %s %d %d\n", what, run.Task, run.InstanceID, run.Attempt, run.Fence)
}

type beat struct {
	Every pluginapi.Duration `json:"every" ax:"required"`
}

func newBeat(b beat, _ pluginapi.Env) (pluginapi.Trigger, error) {
	if b.Every <= 0 {
		return nil, errors.New("every must be positive")
	}
	return b, nil
}

// Next implements pluginapi.Trigger.
func (b beat) Next(_ context.Context, after time.Time) (time.Time, error) {
	return after.Truncate(b.Every.Std()).Add(b.Every.Std()), nil
}
