package peer

import (
	"context"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/axsched/ax/host/internal/ax"
)

// PeersConfig is what Peers need.
type PeersConfig struct {
	Self  Identity
	Trust Trust
	Log   hclog.Logger
	// Every is the time between two pings to a host, 0 = half a second. With more
	// than 50 hosts it becomes longer, so that a host never sends more than 100
	// pings a second.
	Every time.Duration
	// Suspect is told that connections to an incarnation are refused or reset,
	// or that its address is another host's; Trusted that it has answered, at
	// first and after trouble. Neither may block.
	Suspect func(incarnation string, why error)
	Trusted func(incarnation string)
}

// Peers are the other hosts of the app, as they can be reached. Each is pinged
// all the time. Make them with NewPeers.
type Peers struct {
	cfg  PeersConfig
	loop sync.WaitGroup

	mu  sync.Mutex
	all map[string]*prober // by incarnation
}

// NewPeers returns Peers without a host.
func NewPeers(cfg PeersConfig) (*Peers, error) {
	if err := cfg.Trust.check(); err != nil {
		return nil, err
	}
	if cfg.Every == 0 {
		cfg.Every = 500 * time.Millisecond
	}
	return &Peers{cfg: cfg, all: map[string]*prober{}}, nil
}

// Set says which hosts there are. Those without an address for the cluster, and
// this one itself, are left out.
func (p *Peers) Set(nodes []ax.Node) {
	p.mu.Lock()
	defer p.mu.Unlock()
	there := make(map[string]bool, len(nodes))
	for _, n := range nodes {
		if n.Incarnation == p.cfg.Self.Incarnation || n.Cluster == "" {
			continue
		}
		there[n.Incarnation] = true
		if p.all[n.Incarnation] == nil {
			p.add(n)
		}
	}
	for incarnation, one := range p.all {
		if !there[incarnation] {
			one.stop()
			delete(p.all, incarnation)
		}
	}
}

func (p *Peers) add(n ax.Node) {
	client, err := NewClient(ClientConfig{Self: p.cfg.Self, To: n.Incarnation, Address: n.Cluster, Trust: p.cfg.Trust})
	if err != nil { // NewPeers has checked all that can be wrong
		p.cfg.Log.Error("cannot talk to a host", "node", n.Name, "error", err)
		return
	}
	one := &prober{client: client, incarnation: n.Incarnation, peers: p, log: p.cfg.Log.With("node", n.Name, "address", n.Cluster)}
	one.ctx, one.quit = context.WithCancel(context.Background())
	p.all[n.Incarnation] = one
	p.loop.Go(one.run)
}

// Client returns what talks to an incarnation, nil if it cannot be reached.
func (p *Peers) Client(incarnation string) *Client {
	p.mu.Lock()
	defer p.mu.Unlock()
	if one := p.all[incarnation]; one != nil {
		return one.client
	}
	return nil
}

// Leaving tells all hosts that this one drains, and returns when they know or
// ctx ends.
func (p *Peers) Leaving(ctx context.Context) {
	p.tell(ctx, "leaving", func(ctx context.Context, c *Client) error { return c.Leaving(ctx) })
}

// Changed tells all hosts that tasks are to be read anew, none meaning any, and
// returns when they know or ctx ends.
func (p *Peers) Changed(ctx context.Context, tasks ...ax.TaskID) {
	p.tell(ctx, "changed", func(ctx context.Context, c *Client) error { return c.Changed(ctx, tasks...) })
}

// tell sends a hint to all hosts at once. Who does not get it will find out by
// itself, later.
func (p *Peers) tell(ctx context.Context, what string, send func(context.Context, *Client) error) {
	p.mu.Lock()
	all := make([]*prober, 0, len(p.all))
	for _, one := range p.all {
		all = append(all, one)
	}
	p.mu.Unlock()
	var sent sync.WaitGroup
	for _, one := range all {
		sent.Go(func() {
			if err := send(ctx, one.client); err != nil {
				one.log.Debug("a hint did not arrive", "what", what, "error", err)
			}
		})
	}
	sent.Wait()
}

// Close ends all connections.
func (p *Peers) Close() {
	p.Set(nil)
	p.loop.Wait()
}

// every returns the time between two pings to one host.
func (p *Peers) every() time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	return max(p.cfg.Every, time.Duration(len(p.all))*10*time.Millisecond)
}
