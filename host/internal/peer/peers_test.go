package peer

import (
	"net"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/axsched/ax/host/internal/ax"
)

// news of Peers, by what they say.
type news struct{ suspected, trusted chan string }

func watch(t *testing.T, nodes ...ax.Node) (*Peers, news) {
	t.Helper()
	n := news{make(chan string, 100), make(chan string, 100)}
	p, err := NewPeers(PeersConfig{
		Self: Identity{"app", "a"}, Trust: Trust{Secret: secret}, Log: hclog.NewNullLogger(),
		Suspect: func(id string, _ error) { n.suspected <- id },
		Trusted: func(id string) { n.trusted <- id },
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	p.Set(append(nodes, ax.Node{Incarnation: "a", Cluster: "127.0.0.1:1"}, ax.Node{Incarnation: "console"}))
	return p, n
}

func expect(t *testing.T, from chan string, what, want string) {
	t.Helper()
	select {
	case got := <-from:
		if got != want {
			t.Fatalf("%s: %s, want %s", what, got, want)
		}
	case <-time.After(10 * time.Second):
		t.Fatalf("%s: nothing for 10 s", what)
	}
}

// TestKilledPeerIsSuspected in less than a second, and trusted again once it
// answers.
func TestKilledPeerIsSuspected(t *testing.T) {
	t.Parallel()
	at := serve(t, newDesk(1), nil)
	_, n := watch(t, ax.Node{Incarnation: "b", Cluster: at.address})
	expect(t, n.trusted, "trusted", "b")
	at.kill()
	killed := time.Now()
	expect(t, n.suspected, "suspected", "b")
	if gap := time.Since(killed); gap > time.Second {
		t.Errorf("found out after %s", gap)
	}
	serve(t, newDesk(1), nil, at.address)
	expect(t, n.trusted, "trusted", "b")
}

// TestReusedAddress: the next life of a host has its address.
func TestReusedAddress(t *testing.T) {
	t.Parallel()
	at := serve(t, newDesk(1), nil)
	_, n := watch(t, ax.Node{Incarnation: "b", Cluster: at.address})
	expect(t, n.trusted, "trusted", "b")
	at.kill()
	serve(t, newDesk(1), func(c *ServerConfig) { c.Self.Incarnation = "b2" }, at.address)
	expect(t, n.suspected, "suspected", "b")
}

// TestSlowPeerIsNotSuspected: connections are taken, by the kernel, and nobody
// answers, as when a process is stopped.
func TestSlowPeerIsNotSuspected(t *testing.T) {
	t.Parallel()
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	p, n := watch(t, ax.Node{Incarnation: "b", Cluster: l.Addr().String()})
	one := p.all["b"]
	if err := one.ping(); err == nil || Broken(err) {
		t.Errorf("a ping to nobody: %v", err)
	}
	if len(n.suspected)+len(n.trusted) > 0 {
		t.Error("suspected or trusted, with no proof for either")
	}
}

func TestHintsReachAll(t *testing.T) {
	t.Parallel()
	b, c := newDesk(1), newDesk(1)
	atB := serve(t, b, nil)
	atC := serve(t, c, func(cfg *ServerConfig) { cfg.Self.Incarnation = "c" })
	gone, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	gone.Close()
	p, _ := watch(t, ax.Node{Incarnation: "b", Cluster: atB.address}, ax.Node{Incarnation: "c", Cluster: atC.address},
		ax.Node{Incarnation: "d", Cluster: gone.Addr().String()})
	p.Changed(t.Context(), 9)
	p.Leaving(t.Context())
	for name, host := range map[string]*desk{"b": b, "c": c} {
		if got := len(host.heard); got != 3 || host.heard[1] != "9" || host.heard[2] != "a leaves" {
			t.Errorf("%s heard %v", name, host.heard)
		}
	}
	if p.Client("c") == nil || p.Client("a") != nil || p.Client("console") != nil {
		t.Error("there must be a client for c, none for itself, none for a host without an address")
	}
	client := p.Client("c")
	p.Set([]ax.Node{{Incarnation: "b", Cluster: atB.address}})
	if p.Client("c") != nil || client.Ping(t.Context()) == nil {
		t.Error("c has left, and can be reached")
	}
}

func TestManyPeersArePingedLessOften(t *testing.T) {
	t.Parallel()
	p, _ := watch(t)
	if got := p.every(); got != 500*time.Millisecond {
		t.Errorf("every %s", got)
	}
	p.mu.Lock()
	for range 300 {
		p.all[nonce()] = &prober{client: connect(t, "127.0.0.1:1", nil), quit: func() {}}
	}
	p.mu.Unlock()
	if got := p.every(); got != 3*time.Second {
		t.Errorf("300 hosts: every %s, want 3s", got)
	}
}
