package apitest

import (
	"context"
	"time"

	"github.com/axsched/ax/host/internal/api"
)

// NodeSample is the api.NodeBackend of a sample: four hosts, of which one answers.
// Without Changed it has only that one, and nothing can be done to it.
type NodeSample struct {
	// Changed notes changes.
	Changed func(change string)
}

// ListNodes implements api.NodeBackend.
func (n *NodeSample) ListNodes(context.Context) (api.NodeList, error) {
	noon := Noon()
	one := api.NodeView{
		Name: "node-1", Incarnation: "7f3a", Self: true, State: api.NodeLive, Address: "10.0.0.1:8090", Cluster: "10.0.0.1:8091",
		Version: "0.2.0", PID: 4711, StartedAt: noon.Add(-time.Hour), BeatAt: noon.Add(-2 * time.Second), Running: 3, Queued: 1,
		Workers: 8, Queue: 128, CPU: 0.25, MemoryBytes: 84 << 20, Share: 0.625, ConfigHash: "9d5e1a7714c2b0aa", ClockOffsetSeconds: 0.0042,
		Labels: map[string]string{"zone": "a", "gpu": "yes"},
	}
	if n.Changed == nil {
		return api.NodeList{Nodes: []api.NodeView{one}}, nil
	}
	two := one
	two.Name, two.Incarnation, two.Self, two.Address, two.Cluster, two.Labels = "node-2", "8b21", false, "10.0.0.2:8090", "10.0.0.2:8091", nil
	two.State, two.SilenceSeconds, two.BeatAt, two.Share = api.NodeDraining, 3.4, noon.Add(-3400*time.Millisecond), 0
	two.ConfigHash, two.ClockOffsetSeconds, two.Version = "1100aa7714c2b0aa", -30.001, "0.1.0"
	three := two
	three.Name, three.Incarnation, three.State, three.SilenceSeconds, three.BeatAt = "node-3", "aa10", api.NodeDead, 812, noon.Add(-812*time.Second)
	return api.NodeList{Nodes: []api.NodeView{one, two, three}}, nil
}

// Drain implements api.NodeBackend.
func (n *NodeSample) Drain(_ context.Context, name string, o api.DrainOptions) (api.Drained, error) {
	switch name {
	case "", "node-1":
		name = "node-1"
	case "node-2":
	case "node-3":
		return api.Drained{}, &api.Conflict{Reason: "node-3 is dead: others have its tasks already"}
	default:
		return api.Drained{}, &api.NotFound{What: "node", Name: name, Near: "node-2"}
	}
	what := "drain "
	switch {
	case o.Undo:
		what = "undrain "
	case o.Force:
		what = "drain by force "
	}
	n.Changed(what + name + " by " + o.Actor)
	return api.Drained{Name: name, Incarnation: "8b21", Draining: !o.Undo, Running: 3, Queued: 1}, nil
}

// NodesCost implements api.NodeBackend.
func (*NodeSample) NodesCost(_ context.Context, span time.Duration) (api.NodesCost, error) {
	return api.NodesCost{
		Seconds: span.Seconds(), ServerCounts: true, Server: 12.4, HostsTogether: 11.9, ThisHost: 3.05, Hosts: 2, Tasks: 10_000,
	}, nil
}
