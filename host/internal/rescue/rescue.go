// Package rescue ends the attempts of hosts that died: what was RUNNING there
// is LOST, and is tried again if the task's retry policy says so.
package rescue

import (
	"fmt"
	"iter"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/axsched/ax/host/internal/ax"
)

// Writer is the group-commit writer of the store.
type Writer interface{ Submit(ax.Change) }

// Config of a rescue.
type Config struct {
	Writer Writer
	IDs    *ax.IDs
	Log    hclog.Logger
	// Task finds the definition of a task, nil if it is gone.
	Task func(ax.TaskID) *ax.Task
	// Dead reports whether what an incarnation left RUNNING may be given up.
	Dead func(incarnation string) bool
	// Ended is told of each attempt that was ended.
	Ended func(ax.Ended)
}

// Run ends the attempts of dead incarnations among unfinished instances, and
// returns those that are left unfinished afterwards, for the engine to take on:
// those that wait, that run on hosts which live, and runs whose end will be
// reported by a callback. now is the time of death that is written down, since
// nobody knows the real one.
func Run(cfg Config, unfinished iter.Seq2[ax.Instance, error], now time.Time) ([]ax.Instance, error) {
	var left []ax.Instance
	var lost []ax.Instance
	for inst, err := range unfinished {
		if err != nil {
			return nil, fmt.Errorf("read unfinished instances: %w", err)
		}
		switch {
		case inst.Status == ax.StatusRunning && !inst.Deferred && cfg.Dead(inst.Owner):
			lost = append(lost, inst)
		default:
			left = append(left, inst)
		}
	}
	for _, inst := range lost {
		after, err := cfg.end(inst, now)
		if err != nil {
			return nil, err
		}
		if after.Status == ax.StatusRetrying {
			left = append(left, after)
		}
	}
	if len(lost) > 0 {
		cfg.Log.Warn("ended runs of a host that died", "lost", len(lost), "left", len(left))
	}
	return left, nil
}

// end moves one instance from RUNNING to RETRYING or LOST.
func (cfg *Config) end(old ax.Instance, now time.Time) (ax.Instance, error) {
	out := ax.Outcome{
		Status: ax.StatusLost, Error: "the host " + old.Node + " died while the job ran",
		StartedAt: old.StartedAt, EndedAt: now,
	}
	task := cfg.Task(old.TaskID)
	inst := old
	inst.Status, inst.EndedAt, inst.Error = ax.StatusLost, now, out.Error
	var delay time.Duration
	again := false
	if task != nil {
		if delay, again = task.Retry.Next(old.Attempt, out); again {
			inst.Status, inst.RetryAt = ax.StatusRetrying, now.Add(delay)
		}
	}
	done := make(chan error, 1)
	ended := false
	cfg.Writer.Submit(ax.Change{
		Move: &ax.Move{From: old.Status, Fence: old.Fence, New: inst},
		Events: []ax.Event{{
			ID: cfg.IDs.Next(now), InstanceID: inst.ID, TaskID: inst.TaskID, At: now,
			Attempt: inst.Attempt, Stage: ax.StageLost, Level: "error", Node: old.Node, Text: out.Error,
		}},
		Done: func(applied bool, err error) {
			ended = applied
			done <- err
		},
	})
	if err := <-done; err != nil {
		return inst, fmt.Errorf("end lost instance %s: %w", inst.ID, err)
	}
	if !ended { // its host has told of the end after all
		return old, nil
	}
	if task != nil {
		cfg.Ended(ax.Ended{Task: task, Instance: inst, Outcome: out, WillRetry: again})
	}
	return inst, nil
}
