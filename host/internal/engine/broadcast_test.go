package engine_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/axsched/ax/host/internal/ax"
	"github.com/axsched/ax/host/internal/engine"
)

// broadcast makes a task one for all nodes, every ten seconds.
func broadcast(t *ax.Task) {
	t.Strategy, t.Schedule.Every = ax.StrategyBroadcast, 10*time.Second
}

// shards returns what stands in the database of a task: "10:00:10 2/3 n2 SUCCESS".
func (w *world) shards(task string) []string {
	w.t.Helper()
	list, err := w.store.Instances(context.Background(), ax.InstanceFilter{App: "test", Task: task, Limit: 10_000})
	w.must(err)
	var rows []string
	for _, i := range list {
		text := fmt.Sprintf("%s %d/%d %s %s", i.ScheduledAt.UTC().Format("15:04:05"), i.Shard+1, i.Shards, i.Node, i.Status)
		if i.Attempt != 1 {
			text += fmt.Sprintf(" #%d", i.Attempt)
		}
		if i.Kind != ax.KindScheduled {
			text += " " + string(i.Kind)
		}
		rows = append(rows, text)
	}
	slices.Sort(rows)
	return rows
}

func (w *world) wantShards(task string, want ...string) {
	w.t.Helper()
	if got := w.shards(task); !slices.Equal(got, want) {
		w.t.Errorf("%s: rows\n got %q\nwant %q", task, got, want)
	}
}

// onNode is a job that is another one on a node.
func onNode(node string, there, elsewhere jobFunc) jobFunc {
	return func(ctx context.Context, req ax.RunRequest, sink func(ax.Output)) ax.Outcome {
		if want := fmt.Sprintf("n%d", req.Shard+1); req.Node != want || req.Shards == 0 {
			return ax.Outcome{Status: ax.StatusFailed, Error: fmt.Sprintf("shard %d of %d runs on %s", req.Shard, req.Shards, req.Node), Permanent: true}
		}
		if req.Node == node {
			return there(ctx, req, sink)
		}
		return elsewhere(ctx, req, sink)
	}
}

// TestBroadcast: every node has a run of its own, and one that is slow or fails is
// in nobody else's way.
func TestBroadcast(t *testing.T) {
	t.Parallel()
	story(t, func(t *testing.T, w *world) {
		w.nodes = 3
		retry := func(t *ax.Task) {
			t.Retry = ax.Retry{Count: 1, Delays: []time.Duration{5 * time.Second}, On: []ax.Status{ax.StatusFailed}}
		}
		w.open(
			w.task("slow", onNode("n2", takes(15*time.Second), takes(0)), broadcast),
			w.task("bad", onNode("n3", fails(1), takes(0)), broadcast, retry),
		)
		w.at(28 * time.Second)
		w.wantShards("slow",
			"10:00:10 1/3 n1 SUCCESS", "10:00:10 2/3 n2 SUCCESS", "10:00:10 3/3 n3 SUCCESS",
			"10:00:20 1/3 n1 SUCCESS", "10:00:20 2/3 n2 SKIPPED #0", "10:00:20 3/3 n3 SUCCESS")
		w.wantShards("bad",
			"10:00:10 1/3 n1 SUCCESS", "10:00:10 2/3 n2 SUCCESS", "10:00:10 3/3 n3 SUCCESS #2",
			"10:00:20 1/3 n1 SUCCESS", "10:00:20 2/3 n2 SUCCESS", "10:00:20 3/3 n3 SUCCESS #2")
		if n := w.happened(ax.DueSkipped); n != 1 {
			t.Errorf("%d told to be skipped", n)
		}
	})
}

// TestBroadcastAndNodesThatGo: a shard waits for its node, though not forever.
func TestBroadcastAndNodesThatGo(t *testing.T) {
	t.Parallel()
	story(t, func(t *testing.T, w *world) {
		w.nodes = 3
		slow := func(t *ax.Task) {
			t.Schedule.Every = 10 * time.Minute
			t.Retry = ax.Retry{Count: 1, Delays: []time.Duration{20 * time.Second}, On: []ax.Status{ax.StatusFailed}}
		}
		w.open(w.task("a", onNode("n1", takes(0), fails(1)), broadcast, slow))
		w.at(10*time.Minute + 5*time.Second)
		w.dispatch.Update(w.members[0]) // n2 and n3 go, with a retry each to come
		w.at(10*time.Minute + 50*time.Second)
		w.dispatch.Update(w.members[0], w.members[1]) // n2 is back
		w.at(12 * time.Minute)
		w.wantShards("a", "10:10:00 1/3 n1 SUCCESS", "10:10:00 2/3 n2 SUCCESS #2", "10:10:00 3/3 n3 FAILED")
		w.at(20*time.Minute + 30*time.Second)
		if got := w.shards("a")[3:]; !slices.Equal(got, []string{"10:20:00 1/2 n1 SUCCESS", "10:20:00 2/2 n2 SUCCESS #2"}) {
			t.Errorf("of two nodes: %q", got)
		}
	})
}

// TestBroadcastThatNeverBegan: a shard that waits for room on a node that goes is
// skipped; what the node has in its own queue is not the engine's to end.
func TestBroadcastThatNeverBegan(t *testing.T) {
	t.Parallel()
	story(t, func(t *testing.T, w *world) {
		w.nodes, w.workers = 2, 1
		many := func(t *ax.Task) { t.Schedule.Every, t.Overlap = time.Minute, ax.OverlapAllow }
		w.open(w.task("a", onNode("n2", takes(time.Hour), takes(0)), broadcast, many))
		w.at(4*time.Minute + 10*time.Second) // on n2 one runs, two are in its queue, one waits for a place
		w.dispatch.Update(w.members[0])
		w.at(6*time.Minute + 10*time.Second)
		w.wantShards("a",
			"10:01:00 1/2 n1 SUCCESS", "10:01:00 2/2 n2 RUNNING",
			"10:02:00 1/2 n1 SUCCESS", "10:02:00 2/2 n2 DISPATCHED #0",
			"10:03:00 1/2 n1 SUCCESS", "10:03:00 2/2 n2 DISPATCHED #0",
			"10:04:00 1/2 n1 SUCCESS", "10:04:00 2/2 n2 SKIPPED #0",
			"10:05:00 1/1 n1 SUCCESS", "10:06:00 1/1 n1 SUCCESS")
		if n := w.happened(ax.DueSkipped); n != 1 {
			t.Errorf("%d told to be skipped", n)
		}
	})
}

// TestBroadcastGivenBack: a shard whose job could not begin on its node, and whose
// node goes then, is skipped as well: no attempt of it failed.
func TestBroadcastGivenBack(t *testing.T) {
	t.Parallel()
	story(t, func(t *testing.T, w *world) {
		w.nodes = 2
		away := func(context.Context, ax.RunRequest, func(ax.Output)) ax.Outcome {
			return ax.Outcome{Status: ax.StatusFailed, Error: "its plugin is not there", NotBegun: true}
		}
		w.open(w.task("a", onNode("n2", away, takes(0)), broadcast, func(t *ax.Task) { t.Schedule.Every = 10 * time.Minute }))
		w.at(10*time.Minute + 10*time.Second)
		w.wantShards("a", "10:10:00 1/2 n1 SUCCESS", "10:10:00 2/2 n2 TRIGGERED #0")
		w.dispatch.Update(w.members[0])
		w.at(12 * time.Minute)
		w.wantShards("a", "10:10:00 1/2 n1 SUCCESS", "10:10:00 2/2 n2 SKIPPED #0")
	})
}

// TestBroadcastByHandLateAndAfterwards: runs by hand, backfills and due times that
// were missed have a shard for each node as well.
func TestBroadcastByHandLateAndAfterwards(t *testing.T) {
	t.Parallel()
	story(t, func(t *testing.T, w *world) {
		w.nodes = 2
		minutes := func(t *ax.Task) {
			t.Schedule.Every = time.Minute
			t.Misfire = ax.Misfire{Policy: ax.MisfireOnce, Threshold: 10 * time.Second}
		}
		task := w.task("a", onNode("", nil, takes(time.Second)), broadcast, minutes)
		w.open(task)
		w.at(10 * time.Second)
		_, err := w.engine.RunNow(t.Context(), engine.Manual{Task: "a", By: "test"})
		w.must(err)
		n, err := w.engine.Backfill(t.Context(), engine.Backfill{Task: "a", Times: []time.Time{start.Add(-time.Hour)}, Limit: 1, By: "test"})
		w.must(err)
		if n != 2 {
			t.Errorf("%d rows of a backfill", n)
		}
		w.at(20 * time.Second)
		w.stop()
		w.at(3*time.Minute + 30*time.Second)
		w.open(task)
		w.at(3*time.Minute + 35*time.Second)
		w.wantShards("a",
			"09:00:00 1/2 n1 SUCCESS backfill", "09:00:00 2/2 n2 SUCCESS backfill",
			"10:00:10 1/2 n1 SUCCESS manual", "10:00:10 2/2 n2 SUCCESS manual",
			"10:01:00 1/0  MISSED #0",
			"10:03:00 1/2 n1 SUCCESS", "10:03:00 2/2 n2 SUCCESS")
	})
}
