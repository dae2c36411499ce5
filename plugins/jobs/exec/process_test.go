package main

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/axsched/ax/pluginapi"
)

func TestStopKillsTheWholeTree(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		settings string
		cause    error
		within   time.Duration
		want     string // in the error
	}{
		"grandchild holds the pipe": {
			settings: `{"shell": "echo ready; sleep 300 & sleep 300"}`,
			cause:    pluginapi.ErrTimeout, within: 4 * time.Second, want: "signal SIGTERM: ready",
		},
		"everybody ignores SIGTERM": {
			settings: `{"shell": "trap '' TERM; echo ready; sleep 300 & sleep 300; sleep 300", "kill_after": "200ms"}`,
			cause:    pluginapi.ErrCanceled, within: 4 * time.Second, want: "signal SIGKILL",
		},
		"only a grandchild ignores SIGTERM": {
			settings: `{"shell": "(trap '' TERM; sleep 300; sleep 300) & echo ready; wait", "kill_after": "200ms"}`,
			cause:    pluginapi.ErrDrain, within: 4 * time.Second, want: "signal SIGTERM",
		},
		"children kept at a normal end only": {
			settings: `{"shell": "echo ready; sleep 300 & sleep 300", "keep_children": true}`,
			cause:    pluginapi.ErrReplaced, within: 4 * time.Second, want: "replaced by a newer due time",
		},
		"own stop signal": {
			settings: `{"shell": "trap 'echo bye; exit 9' USR1; echo ready; while :; do sleep 0.02; done", "stop_signal": "USR1"}`,
			cause:    pluginapi.ErrTimeout, within: 4 * time.Second, want: "exit status 9: bye",
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, tt.settings)
			stop, end := b.start(t)
			b.out.waitFor(t, "ready")
			begin := time.Now()
			stop(tt.cause)
			_, err := end()
			if took := time.Since(begin); took > tt.within {
				t.Errorf("stopping took %v; log %s", took, b.log)
			}
			if !errors.Is(err, tt.cause) || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v, want %v with %q", err, tt.cause, tt.want)
			}
			nobodyLeft(t, b.run.InstanceID)
		})
	}
}

func TestStopLetsTheGroupTidyUp(t *testing.T) {
	t.Parallel()
	// The outer shell dies of SIGTERM at once, the inner one needs a while.
	b := newBench(t, `{"shell": "sh -c 'trap \"sleep 0.3; echo tidied up; exit 0\" TERM; echo ready; while :; do sleep 0.02; done'; echo never"}`)
	stop, end := b.start(t)
	b.out.waitFor(t, "ready")
	stop(pluginapi.ErrDrain)
	if _, err := end(); !errors.Is(err, pluginapi.ErrDrain) {
		t.Errorf("error %v", err)
	}
	if got := b.out.String(); !strings.HasSuffix(got, "tidied up\n") || strings.Contains(got, "never") {
		t.Errorf("output %q", got)
	}
	nobodyLeft(t, b.run.InstanceID)
}

func TestNormalEndLeavesNobody(t *testing.T) {
	t.Parallel()
	b := newBench(t, `{"shell": "sleep 300 & sleep 300 & echo done"}`)
	begin := time.Now()
	if got := b.must(t).Message; got != "done" {
		t.Errorf("message %q", got)
	}
	if took := time.Since(begin); took > patience {
		t.Errorf("took %v", took)
	}
	nobodyLeft(t, b.run.InstanceID)
}

func TestKeepChildren(t *testing.T) {
	t.Parallel()
	b := newBench(t, `{"shell": "sleep 300 >/dev/null 2>&1 & echo done", "keep_children": true}`)
	defer killAll(t, b.run.InstanceID)
	b.must(t)
	if pids := processesOf(t, b.run.InstanceID); len(pids) != 1 {
		t.Errorf("processes %v are left, want one", pids)
	}
}

// A process that leaves its group cannot be killed with it, but it cannot make
// the run hang either.
func TestRunawayDoesNotBlock(t *testing.T) {
	t.Parallel()
	mark := filepath.Join(t.TempDir(), "away")
	b := newBench(t, `{"shell": "setsid sh -c 'touch $MARK; sleep 300' & until [ -e $MARK ]; do sleep 0.01; done; echo done",
		"env": {"MARK": "`+mark+`"}}`)
	defer killAll(t, b.run.InstanceID)
	begin := time.Now()
	b.must(t)
	if took := time.Since(begin); took < drainDelay || took > patience {
		t.Errorf("took %v, want at least %v", took, drainDelay)
	}
	if !strings.Contains(b.log.String(), "still holds its output") {
		t.Errorf("log %q", b.log)
	}
}

func TestCancelDuringFlood(t *testing.T) {
	t.Parallel()
	b := newBench(t, `{"shell": "yes & yes"}`)
	stop, end := b.start(t)
	b.out.waitFor(t, "y\n")
	stop(pluginapi.ErrCanceled)
	if _, err := end(); !errors.Is(err, pluginapi.ErrCanceled) {
		t.Errorf("error %v", err)
	}
	nobodyLeft(t, b.run.InstanceID)
}

func TestChildSeesOnlyItsOwnFiles(t *testing.T) {
	t.Parallel()
	b := newBench(t, `{"shell": "for f in /proc/$$/fd/*; do echo ${f##*/}; done; read x || echo no input"}`)
	b.must(t)
	// 3 is the directory that the shell itself reads for the pattern.
	if got := strings.Replace(b.out.String(), "3\n", "", 1); got != "0\n1\n2\nno input\n" {
		t.Errorf("descriptors %q", got)
	}
}

func TestEndedContextStartsNothing(t *testing.T) {
	t.Parallel()
	b := newBench(t, `{"shell": "echo started"}`)
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(pluginapi.ErrDrain)
	if _, err := b.job.Run(ctx, b.run); !errors.Is(err, pluginapi.ErrDrain) {
		t.Errorf("error %v", err)
	}
	if b.out.String() != "" {
		t.Errorf("output %q", b.out)
	}
}
