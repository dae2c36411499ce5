package engine

import (
	"fmt"
	"slices"
	"time"

	"github.com/axsched/ax/host/internal/ax"
)

// A task that is broadcast has an instance, a shard, for each node that can take
// it when it is due. A shard stays with its node: it waits for room there, and is
// tried again there. The concurrency limit holds for each node by itself.

const (
	// shardPause is the wait until a shard asks its node for room again.
	shardPause = 500 * time.Millisecond
	// shardPatience is how long a shard waits for a node that has gone: long enough
	// for a restart.
	shardPatience = time.Minute
)

func (t *task) broadcast() bool { return t.def.Strategy == ax.StrategyBroadcast }

// shards makes the rows of a due time, one for each node, which wait for their
// nodes.
func (e *Engine) shards(t *task, due time.Time, kind ax.Kind, now time.Time) []ax.Instance {
	nodes := e.cfg.Dispatch.Nodes(t.def)
	rows := make([]ax.Instance, len(nodes))
	for i, node := range nodes {
		row := e.unbound(t, due, kind, now)
		row.Shard, row.Shards, row.Node = i, len(nodes), node
		row.Status, row.Reason = ax.StatusTriggered, fmt.Sprintf("shard %d of %d, for %s", i+1, len(nodes), node)
		t.bind(&row)
		rows[i] = row
	}
	return rows
}

// dueShards accounts for a due time with a shard for each node; on one where the
// limit is used up it is skipped. s says what else the step accounts for.
func (e *Engine) dueShards(t *task, due time.Time, s step, now time.Time) {
	rows := e.shards(t, due, ax.KindScheduled, now)
	if len(rows) == 0 {
		t.retryLater(now)
		return
	}
	for i := range rows {
		row := &rows[i]
		if t.def.Overlap != ax.OverlapAllow && t.onNode(row.Node)+t.waitingFor(row.Node) >= max(t.def.Concurrency, 1) {
			row.Status, row.EndedAt = ax.StatusSkipped, now
			row.Reason = fmt.Sprintf("skipped: an earlier run has not ended on %s (limit %d)", row.Node, max(t.def.Concurrency, 1))
			s.events = append(s.events, e.event(row, now, ax.StageOutcome, "warn", row.Reason))
			continue
		}
		s.events = append(s.events, e.event(row, now, ax.StageTriggerReady, "info", t.noticed(due, now)+"; "+row.Reason))
	}
	s.last, s.insert = due, append(s.insert, rows...)
	before := s.after
	s.after = func() {
		if before != nil {
			before()
		}
		for _, row := range rows {
			if row.Status == ax.StatusTriggered {
				t.waiting = append(t.waiting, row)
			} else {
				e.observeDropped(ax.DueSkipped, t, row, now)
			}
		}
	}
	e.advance(t, s, now)
}

// onNode counts what runs on a node.
func (t *task) onNode(node string) (n int) {
	for _, a := range t.active {
		if a.node == node {
			n++
		}
	}
	return n
}

// waitingFor counts the shards that wait for a node.
func (t *task) waitingFor(node string) (n int) {
	for i := range t.waiting {
		if t.waiting[i].Shards > 0 && t.waiting[i].Node == node {
			n++
		}
	}
	return n
}

// startShards starts the shards that wait, each on its node: none waits for
// another one.
func (e *Engine) startShards(t *task, now time.Time) {
	t.waiting = slices.DeleteFunc(t.waiting, func(inst ax.Instance) bool { return inst.Shards > 0 && e.begin(t, inst, now) })
}

// placeOfShard asks the node of a shard for room. gone says that the node has been
// away for so long that the shard is given up.
func (e *Engine) placeOfShard(t *task, inst *ax.Instance, now time.Time) (place ax.Place, gone bool) {
	if t.def.Overlap != ax.OverlapAllow && t.onNode(inst.Node) >= max(t.def.Concurrency, 1) {
		return ax.Place{}, false // the end of a run wakes it
	}
	place = e.cfg.Dispatch.ReserveOn(t.def, now, inst.Node)
	if place.Room != ax.RoomNone {
		return place, false
	}
	t.shardsAt = now.Add(shardPause)
	since := inst.CreatedAt
	for _, at := range []time.Time{inst.EndedAt, inst.RetryAt} {
		if at.After(since) {
			since = at
		}
	}
	return place, now.Sub(since) > shardPatience && !slices.Contains(e.cfg.Dispatch.Nodes(t.def), inst.Node)
}

// giveUp ends a shard whose node does not come back.
func (e *Engine) giveUp(t *task, old ax.Instance, now time.Time) {
	row := old
	row.EndedAt, row.RetryAt = now, time.Time{}
	if old.Status == ax.StatusRetrying {
		row.Status, row.Reason = ax.StatusFailed, "no further attempt: "+old.Node+" is not there any more"
	} else { // no attempt of it is known to have failed, even if one was claimed and given back
		row.Status, row.Reason = ax.StatusSkipped, "skipped: "+old.Node+" is not there any more"
	}
	gen := t.owning
	e.submit(ax.Change{
		Move:   &ax.Move{From: old.Status, Fence: old.Fence, New: row},
		Events: []ax.Event{e.event(&row, now, ax.StageOutcome, "error", row.Reason)},
		Done: func(applied bool, err error) {
			e.post(func(now time.Time) {
				switch {
				case gen != t.owning:
				case err != nil:
					e.cfg.Log.Error("cannot give up a shard, will try again", "task", t.def.Name, "instance_id", old.ID, "error", err)
					t.putBack(old)
					t.retryLater(now)
					e.arm(t, now)
				case !applied: // another host moved it on: see what it left
					t.stale = true
					e.visit(t, now)
				case row.Status == ax.StatusSkipped:
					e.observeDropped(ax.DueSkipped, t, row, now)
				}
			})
		},
	})
}

// runShards starts a task by hand on all its nodes, and answers with the first
// shard. What the nodes cannot take yet waits.
func (e *Engine) runShards(t *task, m Manual, now time.Time, answer func(ax.InstanceID, error)) {
	rows := e.shards(t, t.manualAt(now), ax.KindManual, now)
	if len(rows) == 0 {
		answer(0, ErrNoNode)
		return
	}
	task := t.def
	c := ax.Change{Request: m.request(rows[0].ID), Insert: rows}
	for i := range rows {
		m.lay(&rows[i])
		c.Events = append(c.Events, e.event(&rows[i], now, ax.StageTriggerReady, "info",
			fmt.Sprintf("started by hand by %s; %s", m.By, rows[i].Reason)))
	}
	c.Done = func(applied bool, err error) {
		if !applied {
			answer(0, fmt.Errorf("write the instances: %w", err))
			return
		}
		e.post(func(now time.Time) {
			for _, row := range rows {
				e.handIn(t, row, now)
			}
		})
		answer(rows[0].ID, nil)
		e.cfg.Elsewhere(task)
	}
	e.submit(c)
}
