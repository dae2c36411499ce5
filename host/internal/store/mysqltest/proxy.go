package mysqltest

import (
	"bytes"
	"io"
	"net"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

// Fate is what a Proxy does with a COMMIT.
type Fate int

const (
	// Pass lets it through.
	Pass Fate = iota
	// CutBefore cuts the connection instead of passing it on: it is not committed.
	CutBefore
	// CutAfter cuts the connection once the server has answered: it is committed.
	CutAfter
	// CutDuring passes it on and cuts the connection at once: either may happen.
	CutDuring
	// Hold cuts the client off and does not tell the server, whose transaction
	// stays open until Release.
	Hold
	// HoldAway is Hold, and the proxy is away from then on.
	HoldAway
	// NoAnswer passes it on and keeps what the server answers.
	NoAnswer
)

// Proxy stands between a store and its server, and can lose what they say to
// each other. It reads no TLS.
type Proxy struct {
	t        testing.TB
	listener net.Listener
	target   string
	wg       sync.WaitGroup

	away  atomic.Bool
	mu    sync.Mutex
	fates []Fate // of the next commits
	conns []net.Conn
	held  []net.Conn
}

// NewProxy starts a proxy in front of the server of a DSN made by DSN, and
// returns it with the DSN that leads through it.
func NewProxy(t testing.TB, dsn string) (p *Proxy, through string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	rest := strings.TrimPrefix(dsn, "mysql://")
	at := strings.LastIndex(rest, "@") + 1
	address, database, _ := strings.Cut(rest[at:], "/")
	p = &Proxy{t: t, listener: l, target: address}
	p.wg.Go(p.accept)
	t.Cleanup(p.close)
	return p, "mysql://" + rest[:at] + l.Addr().String() + "/" + database
}

// Commits sets what becomes of the next COMMITs, one after the other.
func (p *Proxy) Commits(fates ...Fate) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.fates = append(p.fates, fates...)
}

// Left returns how many fates no COMMIT has met yet.
func (p *Proxy) Left() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.fates)
}

// Away cuts all connections, and refuses new ones until it is called with false.
func (p *Proxy) Away(away bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.away.Store(away); away {
		p.closeAll(&p.conns)
	}
}

// Release tells the server of the connections that Hold has cut.
func (p *Proxy) Release() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closeAll(&p.held)
}

func (*Proxy) closeAll(conns *[]net.Conn) {
	for _, c := range *conns {
		c.Close()
	}
	*conns = nil
}

func (p *Proxy) close() {
	p.listener.Close()
	p.Away(true)
	p.Release()
	p.wg.Wait()
}

func (p *Proxy) accept() {
	for {
		client, err := p.listener.Accept()
		if err != nil {
			return // closed
		}
		p.wg.Go(func() { p.serve(client) })
	}
}

func (p *Proxy) serve(client net.Conn) {
	defer client.Close()
	server, err := net.Dial("tcp", p.target)
	if err != nil {
		return // as if the server were away, which it may be
	}
	if !p.keep(client, server) {
		server.Close()
		return
	}
	answers := make(chan struct{}) // closed when the server sends no more
	l := &link{proxy: p, client: client, server: server}
	p.wg.Go(func() {
		defer close(answers)
		l.answers()
	})
	if hold := l.requests(); hold {
		p.mu.Lock()
		p.held = append(p.held, server)
		p.mu.Unlock()
	} else {
		server.Close()
	}
	client.Close()
	<-answers
}

func (p *Proxy) keep(conns ...net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.away.Load() {
		return false
	}
	p.conns = append(p.conns, conns...)
	return true
}

func (p *Proxy) fate() Fate {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.fates) == 0 {
		return Pass
	}
	next := p.fates[0]
	p.fates = slices.Delete(p.fates, 0, 1)
	return next
}

// link is one connection.
type link struct {
	proxy          *Proxy
	client, server net.Conn

	mu     sync.Mutex
	deaf   bool          // the client hears nothing any more
	spoken chan struct{} // closed when the server says something after that
}

// answers copies what the server says.
func (l *link) answers() {
	buf := make([]byte, 64<<10)
	for {
		n, err := l.server.Read(buf)
		l.mu.Lock()
		if l.deaf && n > 0 && l.spoken != nil {
			close(l.spoken)
			l.spoken = nil
		}
		deaf := l.deaf
		l.mu.Unlock()
		if !deaf && n > 0 {
			if _, err := l.client.Write(buf[:n]); err != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}

// deafen keeps what the server says from now on, and returns what is closed when
// it says something.
func (l *link) deafen() <-chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.deaf = true
	spoken := make(chan struct{})
	l.spoken = spoken
	return spoken
}

// requests passes on what the client says, packet by packet, until the
// connection is to be cut. hold keeps that of the server open.
func (l *link) requests() (hold bool) {
	for {
		packet, err := readPacket(l.client)
		if err != nil {
			return false
		}
		fate := Pass
		if bytes.Equal(packet[4:], []byte("\x03COMMIT")) {
			fate = l.proxy.fate()
		}
		switch fate {
		case CutBefore:
			return false
		case Hold, HoldAway:
			l.deafen()
			if fate == HoldAway {
				l.proxy.away.Store(true)
			}
			return true
		}
		var spoken <-chan struct{}
		if fate == CutAfter || fate == NoAnswer {
			spoken = l.deafen()
		}
		if _, err := l.server.Write(packet); err != nil {
			return false
		}
		switch fate {
		case CutDuring:
			return false
		case CutAfter:
			<-spoken
			return false
		}
	}
}

// readPacket reads a packet of the protocol with its header: three bytes of
// length and one of sequence.
func readPacket(r io.Reader) ([]byte, error) {
	header := make([]byte, 4)
	if _, err := io.ReadFull(r, header); err != nil {
		return nil, err
	}
	packet := make([]byte, 4+int(header[0])+int(header[1])<<8+int(header[2])<<16)
	copy(packet, header)
	_, err := io.ReadFull(r, packet[4:])
	return packet, err
}
