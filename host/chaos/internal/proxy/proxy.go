// Package proxy stands between a client and a server on TCP and can make the
// network between them slow, silent or broken.
package proxy

import (
	"context"
	"fmt"
	"net"
	"sync"
	"time"
)

// State is what the network is like.
type State struct {
	// Latency delays what is said, in each direction.
	Latency time.Duration
	// Silent keeps all that is said until this ends, as when packets are lost and
	// sent again. Connections can be made, and nobody answers.
	Silent bool
	// Cut resets all connections, and each new one at once.
	Cut bool
}

// Proxy listens on an address of its own. Its methods are safe for concurrent use.
type Proxy struct {
	listener net.Listener
	target   string
	wg       sync.WaitGroup
	end      context.CancelFunc

	mu      sync.Mutex
	state   State
	changed chan struct{} // closed when the state changes
	conns   map[*net.TCPConn]bool
}

// New starts a proxy in front of target, listening on address.
func New(ctx context.Context, address, target string) (*Proxy, error) {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
	if err != nil {
		return nil, fmt.Errorf("start a proxy: %w", err)
	}
	ctx, end := context.WithCancel(context.WithoutCancel(ctx))
	p := &Proxy{
		listener: listener, target: target, end: end,
		changed: make(chan struct{}), conns: map[*net.TCPConn]bool{},
	}
	p.wg.Go(func() { p.accept(ctx) })
	return p, nil
}

// Addr is where clients reach the proxy.
func (p *Proxy) Addr() string { return p.listener.Addr().String() }

// Set changes the network, also for connections that are there.
func (p *Proxy) Set(s State) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.state = s
	close(p.changed)
	p.changed = make(chan struct{})
	if s.Cut {
		p.reset()
	}
}

// reset ends all connections so that both sides see a reset.
func (p *Proxy) reset() {
	for c := range p.conns {
		_ = c.SetLinger(0) // it is closed all the same
		_ = c.Close()      // it may be closed already
	}
	clear(p.conns)
}

// Close ends the proxy and its connections.
func (p *Proxy) Close() {
	p.listener.Close()
	p.end()
	p.Set(State{Cut: true})
	p.wg.Wait()
}

func (p *Proxy) now() (State, <-chan struct{}) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.state, p.changed
}

func (p *Proxy) accept(ctx context.Context) {
	for {
		client, err := p.listener.Accept()
		if err != nil {
			return // closed
		}
		p.wg.Go(func() { p.serve(ctx, client.(*net.TCPConn)) })
	}
}

// keep takes connections into account, unless all are cut.
func (p *Proxy) keep(conns ...*net.TCPConn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range conns {
		p.conns[c] = true
	}
	if p.state.Cut {
		p.reset()
		return false
	}
	return true
}

func (p *Proxy) drop(conns ...*net.TCPConn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range conns {
		_ = c.Close() // it may be closed already
		delete(p.conns, c)
	}
}

func (p *Proxy) serve(ctx context.Context, client *net.TCPConn) {
	if !p.keep(client) {
		return
	}
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", p.target)
	if err != nil {
		_ = client.SetLinger(0) // the server refuses, and so does the proxy
		p.drop(client)
		return
	}
	server := conn.(*net.TCPConn)
	if !p.keep(server) {
		return
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var copies sync.WaitGroup
	for _, way := range [][2]*net.TCPConn{{server, client}, {client, server}} {
		copies.Go(func() {
			p.copy(ctx, way[0], way[1])
			p.drop(client, server) // when one direction ends, so does the other
			cancel()
		})
	}
	copies.Wait()
}
