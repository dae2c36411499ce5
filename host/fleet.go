package host

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/axsched/ax/host/internal/ax"
	"github.com/axsched/ax/host/internal/cluster"
	"github.com/axsched/ax/host/internal/config"
	"github.com/axsched/ax/host/internal/dispatch"
	"github.com/axsched/ax/host/internal/peer"
	"github.com/axsched/ax/pluginapi"
)

// fleet is this host among the others of its app: who lives, who schedules what,
// and how they talk. With SQLite, or without a port for other hosts, it is the
// only one that gives anything to itself, and all works the same.
type fleet struct {
	h   *Host
	log hclog.Logger
	// sole: no other host can have the database.
	sole     bool
	started  atomic.Bool
	drained  atomic.Bool // a person has taken it out of scheduling, see setDrained
	view     *cluster.View
	dispatch *dispatch.Dispatcher
	again    *dispatch.Again
	peers    *peer.Peers // nil without a port for other hosts
	server   *peer.Server
	listener net.Listener

	changed chan struct{} // hosts came, went or look different
	room    *room
	sends   chan func() // messages on their way to other hosts
	quit    chan struct{}
	loops   sync.WaitGroup
	sending sync.WaitGroup

	machine machine // asked at each sign of life

	// Owned by the loop.
	remotes map[string]*dispatch.Remote // by incarnation
	doubted map[string]bool             // incarnations that may have left something behind
	fenced  bool
	version int64 // of the set of tasks, as last seen
	// retriesAt is when overdue retries were looked for, and retried the last of
	// these if there may be more.
	retriesAt time.Time
	retried   ax.InstanceID
}

const (
	// senders is how many messages to other hosts are under way at once.
	senders = 16
	// unsureAfter is how long an attempt elsewhere may go without news until its
	// row is read.
	unsureAfter = 10 * time.Second
	// handedLimit is how many instances that wait are looked at for those that
	// other hosts have written.
	handedLimit = 500
	// retriesEvery is how often overdue retries are looked for, and how long they
	// must be overdue.
	retriesEvery = 30 * time.Second
	// lookEvery is how often all that is not told by a message is looked for.
	lookEvery = 5 * time.Second
)

// openFleet makes the fleet, of which this host is the only one so far.
func (h *Host) openFleet(cfg *config.Config) error {
	f := &fleet{
		h: h, log: h.log.Named("cluster"), sole: !cfg.Store.Shared(),
		changed: make(chan struct{}, 1), sends: make(chan func(), 4096), quit: make(chan struct{}),
		remotes: map[string]*dispatch.Remote{}, doubted: map[string]bool{}, room: newRoom(),
	}
	h.fleet = f
	f.dispatch = dispatch.New(f.self(cfg))
	f.again = dispatch.NewAgain(dispatch.AgainConfig{
		Dispatcher: f.dispatch, Writer: h.writer, IDs: h.ids, Log: f.log, Node: cfg.Node,
		Moved: func(inst ax.Instance) { h.engine.Moved(inst) },
	})
	self := ax.Node{
		Incarnation: h.incarnation, Name: cfg.Node, App: cfg.App, Address: h.Address(),
		Version: h.opts.Version, PID: os.Getpid(), StartedAt: h.startedAt,
	}
	if cfg.Cluster.Listen != "" {
		if err := f.openPort(&self, cfg); err != nil {
			return err
		}
	}
	f.view = cluster.NewView(cluster.ViewConfig{
		Self: self, Limits: cluster.LimitsOf(cfg.Cluster.Heartbeat, cfg.Cluster.DeadAfter), Table: h.store, Log: f.log, Wall: h.wall,
		Figures:  func() ax.NodeFigures { return f.figures(cfg.Cluster.Labels) },
		OnChange: func(_, _ *cluster.Snapshot) { notify(f.changed) },
	})
	return nil
}

// openPort listens for other hosts and makes what talks to them.
func (f *fleet) openPort(self *ax.Node, cfg *config.Config) error {
	trust := peer.Trust{Secret: []byte(cfg.Cluster.Secret)}
	if cfg.Cluster.TLS != nil {
		var err error
		if trust.TLS, err = mutualTLS(*cfg.Cluster.TLS); err != nil {
			return err
		}
	}
	var err error
	if f.listener, err = new(net.ListenConfig).Listen(context.Background(), "tcp", cfg.Cluster.Listen); err != nil {
		return fmt.Errorf("listen for other hosts: %w; set cluster.listen to a free address", err)
	}
	f.h.onUndo(func() { f.listener.Close() })
	if self.Cluster, err = advertised(cfg.Cluster.Advertise, f.listener.Addr()); err != nil {
		return err
	}
	id := peer.Identity{App: cfg.App, Incarnation: f.h.incarnation}
	if f.server, err = peer.NewServer(peer.ServerConfig{Self: id, Trust: trust, Host: f, Log: f.log}); err != nil {
		return fmt.Errorf("cluster: %w", err)
	}
	f.peers, err = peer.NewPeers(peer.PeersConfig{
		Self: id, Trust: trust, Log: f.log,
		Suspect: func(incarnation string, why error) { f.view.Suspect(incarnation, why) },
		Trusted: func(incarnation string) { f.view.Trust(incarnation) },
	})
	if err != nil {
		return fmt.Errorf("cluster: %w", err)
	}
	return nil
}

// advertised puts the port of the listener into an address that leaves it open.
func advertised(address string, listening net.Addr) (string, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return "", fmt.Errorf("cluster.advertise: %w", err)
	}
	if tcp, ok := listening.(*net.TCPAddr); ok && port == "0" {
		port = strconv.Itoa(tcp.Port)
	}
	return net.JoinHostPort(host, port), nil
}

func mutualTLS(files config.ClusterTLS) (*tls.Config, error) {
	cert, err := tls.LoadX509KeyPair(files.Cert, files.Key)
	if err != nil {
		return nil, fmt.Errorf("cluster.tls: %w", err)
	}
	ca, err := os.ReadFile(filepath.Clean(files.CA))
	if err != nil {
		return nil, fmt.Errorf("cluster.tls: %w", err)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(ca) {
		return nil, fmt.Errorf("cluster.tls: %s holds no certificate", files.CA)
	}
	return &tls.Config{
		Certificates: []tls.Certificate{cert}, RootCAs: pool, ClientCAs: pool,
		ClientAuth: tls.RequireAndVerifyClientCert, MinVersion: tls.VersionTLS13,
	}, nil
}

// start makes this host known to the others, and them to it.
func (f *fleet) start(ctx context.Context) error {
	if f.server != nil {
		f.loops.Go(func() {
			if err := f.server.Serve(f.listener); err != nil {
				f.log.Error("other hosts cannot reach this one any more", "error", err)
			}
		})
	}
	if err := f.view.Start(ctx); err != nil {
		return err
	}
	f.started.Store(true)
	notify(f.changed) // by the hosts that are there already
	for range senders {
		f.sending.Go(f.send)
	}
	f.h.onUndo(f.stop)
	return nil
}

// drain says that this host leaves, so that others schedule its tasks at once.
func (f *fleet) drain() {
	f.view.Drain()
	if f.peers != nil {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		f.peers.Leaving(ctx)
	}
}

func (f *fleet) stop() {
	ctx, cancel := context.WithTimeout(context.Background(), stopLast)
	defer cancel()
	close(f.quit)
	f.sending.Wait()
	f.again.Stop()
	for _, remote := range f.remotes {
		remote.Stop()
	}
	f.view.Stop(ctx)
	if f.peers != nil {
		f.peers.Close()
		f.server.Close(ctx)
	}
	f.loops.Wait()
}

// self is this host as a node that attempts are given to.
func (f *fleet) self(cfg *config.Config) dispatch.Member {
	workers, _ := f.h.executor.Size()
	return dispatch.Member{
		Name: cfg.Node, Incarnation: f.h.incarnation, Labels: cfg.Cluster.Labels, Workers: workers, Node: f.h.executor,
	}
}

// figures are what this host tells of itself with each sign of life.
func (f *fleet) figures(labels map[string]string) ax.NodeFigures {
	running, queued := f.h.executor.Counts()
	workers, queue := f.h.executor.Size()
	cpu, memory := f.machine.load()
	n := ax.NodeFigures{
		CPU: cpu, Memory: memory,
		Labels: labels, Leaving: f.h.draining.Load(), ConfigHash: f.h.configHash(), Statements: f.h.store.StatementRate(),
		Running: running, Queued: queued, Workers: workers, Queue: queue,
	}
	sick := f.h.sickPlugins()
	for _, c := range f.h.plugins.Components() {
		if sick[c.Plugin] != nil {
			continue // others would hand it runs that cannot begin
		}
		if c.Kind == pluginapi.KindJob || c.Kind == pluginapi.KindTrigger {
			n.Offers = append(n.Offers, c.Name, c.FullName())
		}
	}
	return n
}

// wall is the clock of this machine. Tests put it wrong by AX_CLOCK_OFFSET.
func (h *Host) wall() time.Time { return time.Now().Add(h.clockOffset) }

// clockOffset reads AX_CLOCK_OFFSET, a duration by which tests put the clock of a
// host wrong.
func clockOffset(lookup func(string) (string, bool)) (time.Duration, error) {
	text, ok := lookup("AX_CLOCK_OFFSET")
	if !ok || text == "" {
		return 0, nil
	}
	d, err := time.ParseDuration(text)
	if err != nil {
		return 0, fmt.Errorf("AX_CLOCK_OFFSET: %w", err)
	}
	return d, nil
}

// now is the time by which tasks are due: that of the database, since the clocks
// of the hosts may differ.
func (h *Host) now() time.Time {
	switch f := h.fleet; {
	case f.sole:
		return h.wall()
	case !f.started.Load():
		return h.wall().Add(-h.ahead)
	default:
		return f.view.Now()
	}
}

// freed tells that there may be room in the queue of this host again.
func (h *Host) freed() {
	h.engine.Freed()
	h.fleet.room.Ring()
}

func notify(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
