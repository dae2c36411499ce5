package main

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/axsched/ax/pluginapi"
)

// runner is what all jobs of the plugin share.
type runner struct {
	host  lookup
	guard *guard
}

// newExec is the builder of the component.
func (r *runner) newExec(cfg settings, _ pluginapi.Env) (pluginapi.Job, error) {
	if err := cfg.check(); err != nil {
		return nil, err
	}
	return &job{runner: r, cfg: cfg}, nil
}

// job runs one command or shell script.
type job struct {
	*runner
	cfg settings
}

// Run implements pluginapi.Job. When it returns, no process of the command's
// group is left, unless keep_children asks for it.
func (j *job) Run(ctx context.Context, run *pluginapi.Run) (pluginapi.Result, error) {
	if ctx.Err() != nil {
		return pluginapi.Result{}, fmt.Errorf("not started: %w", context.Cause(ctx))
	}
	cmd, err := j.command(run)
	if err != nil {
		return pluginapi.Result{}, err
	}
	out := newCapture(run.Output, j.cfg.OutputLimit)
	begin := time.Now()
	p, err := startProcess(cmd, out)
	if err != nil {
		return pluginapi.Result{}, startError(cmd, err)
	}
	if err := j.guard.add(p.group()); err != nil {
		run.Log.Warn("background processes of this run would outlive a crash of the plugin", "error", err)
	}
	state, stopped := p.wait(ctx, &j.cfg)
	if p.finish() {
		run.Log.Warn("a process that left the command's group still holds its output; the rest is not read")
	}
	j.guard.remove(p.group())
	out.finish()
	return j.report(run, &ending{state: state, stopped: stopped, took: time.Since(begin), out: out})
}

// ending is all that is known once a command has ended.
type ending struct {
	state   *os.ProcessState
	stopped error
	took    time.Duration
	out     *capture
}
