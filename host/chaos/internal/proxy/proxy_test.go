package proxy

import (
	"bufio"
	"errors"
	"io"
	"net"
	"testing"
	"time"
)

// echo starts a server that says everything again, and a proxy in front of it.
func echo(t *testing.T) *Proxy {
	t.Helper()
	server, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { server.Close() })
	go func() {
		for {
			conn, err := server.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close()
				_, _ = io.Copy(conn, conn) // it ends when the test does
			}()
		}
	}()
	p, err := New(t.Context(), "127.0.0.1:0", server.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	return p
}

// client is a connection through a proxy.
type client struct {
	net.Conn
	in *bufio.Reader
}

func dial(t *testing.T, p *Proxy) *client {
	t.Helper()
	conn, err := new(net.Dialer).DialContext(t.Context(), "tcp", p.Addr())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return &client{conn, bufio.NewReader(conn)}
}

// ask says something and returns what comes back.
func (c *client) ask(text string, limit time.Duration) (string, error) {
	if _, err := io.WriteString(c, text+"\n"); err != nil {
		return "", err
	}
	return c.hear(limit)
}

func (c *client) hear(limit time.Duration) (string, error) {
	if err := c.SetReadDeadline(time.Now().Add(limit)); err != nil {
		return "", err
	}
	return c.in.ReadString('\n')
}

const patience = 20 * time.Second

func TestPassesOn(t *testing.T) {
	t.Parallel()
	c := dial(t, echo(t))
	for _, text := range []string{"one", "two"} {
		if got, err := c.ask(text, patience); got != text+"\n" {
			t.Errorf("got %q, %v", got, err)
		}
	}
}

// The delay is that of each direction, and one after the other does not wait
// longer.
func TestLatency(t *testing.T) {
	t.Parallel()
	p := echo(t)
	c := dial(t, p)
	const latency = 150 * time.Millisecond
	p.Set(State{Latency: latency})
	begin := time.Now()
	for range 5 {
		if _, err := io.WriteString(c, "text\n"); err != nil {
			t.Fatal(err)
		}
	}
	for range 5 {
		if _, err := c.hear(patience); err != nil {
			t.Fatal(err)
		}
	}
	if took := time.Since(begin); took < 2*latency || took > 6*latency {
		t.Errorf("five answers took %s, with %s in each direction", took, latency)
	}
	p.Set(State{})
	begin = time.Now()
	if _, err := c.ask("text", patience); err != nil || time.Since(begin) > latency {
		t.Errorf("still slow after %s: %v", time.Since(begin), err)
	}
}

// What is said in the silence arrives once it ends.
func TestSilence(t *testing.T) {
	t.Parallel()
	p := echo(t)
	old := dial(t, p)
	if _, err := old.ask("text", patience); err != nil {
		t.Fatal(err)
	}
	p.Set(State{Silent: true})
	fresh := dial(t, p)
	for _, c := range []*client{old, fresh} {
		if got, err := c.ask("kept", 100*time.Millisecond); !isTimeout(err) {
			t.Errorf("in the silence: %q, %v", got, err)
		}
	}
	p.Set(State{})
	for _, c := range []*client{old, fresh} {
		if got, err := c.hear(patience); got != "kept\n" {
			t.Errorf("after the silence: %q, %v", got, err)
		}
	}
}

func isTimeout(err error) bool {
	timeout, ok := errors.AsType[net.Error](err)
	return ok && timeout.Timeout()
}

func TestCut(t *testing.T) {
	t.Parallel()
	p := echo(t)
	c := dial(t, p)
	if _, err := c.ask("text", patience); err != nil {
		t.Fatal(err)
	}
	p.Set(State{Cut: true})
	if got, err := c.ask("text", patience); err == nil || isTimeout(err) {
		t.Errorf("on a cut connection: %q, %v", got, err)
	}
	refused(t, p)
	p.Set(State{})
	if got, err := dial(t, p).ask("text", patience); got != "text\n" {
		t.Errorf("afterwards: %q, %v", got, err)
	}
}

// When a client dies its server hears of it.
func TestEndIsPassedOn(t *testing.T) {
	t.Parallel()
	server, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	p, err := New(t.Context(), "127.0.0.1:0", server.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	c := dial(t, p)
	conn, err := server.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	c.Close()
	if err := conn.SetReadDeadline(time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	if _, err := conn.Read(make([]byte, 1)); err == nil || isTimeout(err) {
		t.Errorf("the server hears %v", err)
	}
}

// A server that is away is refused by the proxy as well.
func TestServerAway(t *testing.T) {
	t.Parallel()
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l.Close()
	p, err := New(t.Context(), "127.0.0.1:0", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	refused(t, p)
}

// refused wants a new connection to be refused or reset at once.
func refused(t *testing.T, p *Proxy) {
	t.Helper()
	conn, err := new(net.Dialer).DialContext(t.Context(), "tcp", p.Addr())
	if err != nil {
		return
	}
	defer conn.Close()
	c := client{conn, bufio.NewReader(conn)}
	if got, err := c.ask("text", patience); err == nil || isTimeout(err) {
		t.Errorf("on a new connection: %q, %v", got, err)
	}
}
