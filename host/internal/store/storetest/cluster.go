package storetest

import (
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/axsched/ax/host/internal/ax"
	"github.com/axsched/ax/host/internal/store"
)

var nodeTests = []test{
	{"register, beat, remove", nodeLife},
	{"figures", nodeFigures},
	{"no nodes", nodeNone},
	{"dead nodes go", nodePurge},
	{"numbers for ids", nodeSlots},
}

func nodeLife(b *bed) {
	before, err := b.s.Now(b.Context())
	b.must(err)
	n := ax.Node{
		Incarnation: "host-1-a", Name: "host-1", App: app, Address: "127.0.0.1:7000", Cluster: "10.0.0.1:7946", Version: "1.2.3",
		PID: 77, StartedAt: noon, BeatAt: noon, Draining: true,
	}
	b.must(b.s.RegisterNode(b.Context(), n))
	n.Address, n.Draining = "127.0.0.1:7001", false
	b.must(b.s.RegisterNode(b.Context(), n)) // replaces its own row
	second := ax.Node{Incarnation: "host-2-b", Name: "host-2", App: app, StartedAt: noon.Add(-time.Second)}
	b.must(b.s.RegisterNode(b.Context(), second))
	b.must(b.s.RegisterNode(b.Context(), ax.Node{Incarnation: "x", App: "other", StartedAt: noon}))

	nodes, at, err := b.s.Nodes(b.Context(), app)
	b.must(err)
	equal(b, "nodes", len(nodes), 2)
	if silence := at.Sub(nodes[1].BeatAt); silence < -time.Millisecond || silence > time.Minute {
		b.Errorf("read at %v, %v after the beat", at, silence)
	}
	equal(b, "oldest", nodes[0].Name, "host-2")
	got := nodes[1]
	if got.BeatAt.Before(before.Add(-time.Microsecond)) || got.BeatAt.Equal(noon) {
		b.Errorf("beat at %v, want the time of the database, from %v on", got.BeatAt, before)
	}
	n.BeatAt = got.BeatAt
	equal(b, "node", got, n)

	at, err = b.s.Heartbeat(b.Context(), ax.Node{Incarnation: "host-1-a", Draining: true})
	b.must(err)
	nodes, _, err = b.s.Nodes(b.Context(), app)
	b.must(err)
	equal(b, "beat", nodes[1].BeatAt, at.Truncate(time.Microsecond))
	equal(b, "draining", nodes[1].Draining, true)

	b.must(b.s.RemoveNode(b.Context(), "host-1-a"))
	b.must(b.s.RemoveNode(b.Context(), "host-1-a"))
	_, err = b.s.Heartbeat(b.Context(), ax.Node{Incarnation: "host-1-a"})
	b.wantErr(err, store.ErrNotFound)
	nodes, _, err = b.s.Nodes(b.Context(), app)
	b.must(err)
	equal(b, "nodes", len(nodes), 1)
}

func nodeFigures(b *bed) {
	n := ax.Node{Incarnation: "host-1-a", Name: "host-1", App: app, StartedAt: noon, NodeFigures: ax.NodeFigures{
		Labels: map[string]string{"zone": "华东"}, Offers: []string{"exec", "http"}, Running: 3, Workers: 8,
		CPU: 0.25, Memory: 1 << 30, ConfigHash: "abc", ClockOffset: -time.Second,
	}}
	b.must(b.s.RegisterNode(b.Context(), n))
	check := func(what string, at time.Time) {
		b.Helper()
		nodes, _, err := b.s.Nodes(b.Context(), app)
		b.must(err)
		if !at.IsZero() {
			equal(b, what+": beat", nodes[0].BeatAt, at.Truncate(time.Microsecond))
		}
		n.BeatAt = nodes[0].BeatAt
		equal(b, what, nodes, []ax.Node{n})
	}
	check("registered", time.Time{})
	n.Running, n.Labels, n.Draining = 4, nil, true
	at, err := b.s.Heartbeat(b.Context(), n)
	b.must(err)
	check("heartbeat", at)
	now, err := b.s.Now(b.Context())
	b.must(err)
	if at.After(now) || now.Sub(at) > time.Minute {
		b.Errorf("heartbeat at %v, the database's clock is at %v", at, now)
	}
	gone := n
	gone.Incarnation = "host-1-b"
	_, err = b.s.Heartbeat(b.Context(), gone)
	b.wantErr(err, store.ErrNotFound)
	n.ConfigHash = strings.Repeat("x", store.MaxFigures)
	if _, err := b.s.Heartbeat(b.Context(), n); err == nil {
		b.Error("figures without measure were taken")
	}
	if err := b.s.RegisterNode(b.Context(), n); err == nil {
		b.Error("figures without measure were taken")
	}
}

func nodePurge(b *bed) {
	for _, n := range []ax.Node{
		{Incarnation: "new", Name: "a", App: app, StartedAt: noon}, {Incarnation: "old", Name: "b", App: "other", StartedAt: noon},
	} {
		b.must(b.s.RegisterNode(b.Context(), n))
	}
	n, err := b.s.PurgeNodes(b.Context(), app, time.Hour)
	b.must(err)
	equal(b, "rows of hosts that live", n, 0)
	n, err = b.s.PurgeNodes(b.Context(), app, -time.Hour) // as seen in an hour
	b.must(err)
	equal(b, "rows of dead hosts", n, 1)
	nodes, _, err := b.s.Nodes(b.Context(), "other")
	b.must(err)
	equal(b, "hosts of another app", len(nodes), 1)
}

func nodeNone(b *bed) {
	nodes, at, err := b.s.Nodes(b.Context(), app)
	b.must(err)
	if len(nodes) != 0 || time.Since(at).Abs() > time.Hour {
		b.Errorf("%d nodes at %v", len(nodes), at)
	}
}

func nodeSlots(b *bed) {
	const n = 12
	var mu sync.Mutex
	taken := map[int]string{}
	var wg sync.WaitGroup
	for k := range n {
		wg.Go(func() {
			node := ax.Node{Incarnation: fmt.Sprintf("host-%d", k), App: app, StartedAt: noon}
			if err := b.s.RegisterNode(b.Context(), node); err != nil {
				b.Error(err)
				return
			}
			slot, err := b.s.TakeSlot(b.Context(), node.Incarnation)
			if err != nil || slot < 0 || slot > 2047 {
				b.Errorf("slot %d, %v", slot, err)
			}
			mu.Lock()
			defer mu.Unlock()
			if other := taken[slot]; other != "" {
				b.Errorf("%s and %s have the same slot", node.Incarnation, other)
			}
			taken[slot] = node.Incarnation
		})
	}
	wg.Wait()
	for slot, whose := range taken {
		again, err := b.s.TakeSlot(b.Context(), whose)
		b.must(err)
		equal(b, "slot asked for again", again, slot)
		b.must(b.s.RegisterNode(b.Context(), ax.Node{Incarnation: whose, App: app, StartedAt: noon}))
		again, err = b.s.TakeSlot(b.Context(), whose)
		b.must(err)
		equal(b, "slot after registering again", again, slot)
	}
	_, err := b.s.TakeSlot(b.Context(), "stranger")
	b.wantErr(err, store.ErrNotFound)
}
