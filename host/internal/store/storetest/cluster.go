package storetest

import (
	"time"

	"github.com/axsched/ax/host/internal/ax"
	"github.com/axsched/ax/host/internal/store"
)

var nodeTests = []test{
	{"register, beat, remove", nodeLife},
}

func nodeLife(b *bed) {
	before, err := b.s.Now(b.Context())
	b.must(err)
	n := ax.Node{
		Incarnation: "host-1-a", Name: "host-1", App: app, Address: "127.0.0.1:7000", Version: "1.2.3",
		PID: 77, StartedAt: noon, BeatAt: noon, Draining: true,
	}
	b.must(b.s.RegisterNode(b.Context(), n))
	n.Address, n.Draining = "127.0.0.1:7001", false
	b.must(b.s.RegisterNode(b.Context(), n)) // replaces its own row
	second := ax.Node{Incarnation: "host-2-b", Name: "host-2", App: app, StartedAt: noon.Add(-time.Second)}
	b.must(b.s.RegisterNode(b.Context(), second))
	b.must(b.s.RegisterNode(b.Context(), ax.Node{Incarnation: "x", App: "other", StartedAt: noon}))

	nodes, err := b.s.Nodes(b.Context(), app)
	b.must(err)
	equal(b, "nodes", len(nodes), 2)
	equal(b, "oldest", nodes[0].Name, "host-2")
	got := nodes[1]
	if got.BeatAt.Before(before.Add(-time.Microsecond)) || got.BeatAt.Equal(noon) {
		b.Errorf("beat at %v, want the time of the database, from %v on", got.BeatAt, before)
	}
	n.BeatAt = got.BeatAt
	equal(b, "node", got, n)

	at, err := b.s.Beat(b.Context(), "host-1-a", true)
	b.must(err)
	nodes, err = b.s.Nodes(b.Context(), app)
	b.must(err)
	equal(b, "beat", nodes[1].BeatAt, at.Truncate(time.Microsecond))
	equal(b, "draining", nodes[1].Draining, true)

	b.must(b.s.RemoveNode(b.Context(), "host-1-a"))
	b.must(b.s.RemoveNode(b.Context(), "host-1-a"))
	_, err = b.s.Beat(b.Context(), "host-1-a", false)
	b.wantErr(err, store.ErrNotFound)
	nodes, err = b.s.Nodes(b.Context(), app)
	b.must(err)
	equal(b, "nodes", len(nodes), 1)
}
