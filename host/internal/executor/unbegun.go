package executor

import (
	"time"

	"github.com/axsched/ax/host/internal/ax"
)

// unbegun gives back the claim and the place of an attempt whose job cannot have
// begun: its plugin is gone, say. The instance waits for another attempt, which
// does not count as one more.
func (e *Executor) unbegun(a ax.Attempt, why string) {
	e.leave(a.Instance.ID)
	e.pool.release(e.cfg.Jobs.Lane(a.Task), ax.RoomNow)
	inst := unclaimed(a.Instance)
	inst.Status, inst.Owner = ax.StatusTriggered, ""
	if inst.Shards == 0 { // a shard waits for its node
		inst.Node = ""
	}
	inst.Reason = "could not begin: " + why
	for pause := firstPause; ; pause = min(2*pause, lastPause) {
		// Whoever took it from this host meanwhile has moved it on.
		applied, err := e.write(ax.Change{
			Move:   &ax.Move{From: a.Instance.Status, Fence: inst.Fence, New: inst},
			Events: []ax.Event{e.event(&inst, e.cfg.Now(), ax.StageTriggerReady, "warn", inst.Reason)},
		})
		if err == nil {
			if applied {
				e.cfg.Returned(inst)
			}
			return
		}
		e.cfg.Log.Error("cannot give a claim back, will try again",
			"instance_id", inst.ID, "task", a.Task.Name, "in", pause.Round(time.Millisecond), "error", err)
		if !e.pause(pause) {
			e.cfg.Log.Error("a claim was not given back; the instance will be found LOST at the next start",
				"instance_id", inst.ID, "task", a.Task.Name)
			return
		}
	}
}
