package peer

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"sync/atomic"
	"time"
)

const (
	// dialTimeout bounds how long it takes to find out that nobody is there.
	dialTimeout = 3 * time.Second
	// shortCall bounds messages that are answered at once.
	shortCall = 5 * time.Second
)

// ClientConfig is what a Client needs.
type ClientConfig struct {
	Self Identity
	// To is the incarnation to talk to, at Address, host:port.
	To, Address string
	Trust       Trust
}

// Client sends messages to one incarnation of one host. It is safe for
// concurrent use. Make one with NewClient.
type Client struct {
	cfg    ClientConfig
	scheme string
	// calls carry messages, probes only pings, over a connection of their own.
	calls, probes *http.Client
	opening       chan struct{} // held by who opens a session
	session       atomic.Pointer[clientSession]
	dispatches    *batcher
	ends          *batcher
	ctx           context.Context // ends with Close
	close         context.CancelFunc
}

type clientSession struct {
	id     string
	key    []byte
	number atomic.Uint64
}

// NewClient returns a Client that has not connected yet.
func NewClient(cfg ClientConfig) (*Client, error) {
	if err := cfg.Trust.check(); err != nil {
		return nil, err
	}
	c := &Client{cfg: cfg, scheme: "http", opening: make(chan struct{}, 1)}
	if cfg.Trust.TLS != nil {
		c.scheme = "https"
	}
	c.calls, c.probes = c.transport(2*flights), c.transport(1)
	c.ctx, c.close = context.WithCancel(context.Background())
	c.dispatches = newBatcher(c.ctx, c.post("dispatch"))
	c.ends = newBatcher(c.ctx, c.post("ended"))
	return c, nil
}

func (c *Client) transport(conns int) *http.Client {
	t := &http.Transport{
		Proxy:           nil, // never over a proxy of the environment
		DialContext:     (&net.Dialer{Timeout: dialTimeout, KeepAlive: 15 * time.Second}).DialContext,
		MaxConnsPerHost: conns, MaxIdleConnsPerHost: conns, IdleConnTimeout: idleConn / 2,
		DisableCompression: true, TLSHandshakeTimeout: dialTimeout,
	}
	if c.cfg.Trust.TLS != nil {
		t.TLSClientConfig = c.cfg.Trust.TLS.Clone()
		t.TLSClientConfig.NextProtos = []string{"http/1.1"}
	}
	return &http.Client{Transport: t, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

// Close ends the connections. Messages under way end with an error.
func (c *Client) Close() {
	c.close()
	c.calls.CloseIdleConnections()
	c.probes.CloseIdleConnections()
}

// call sends one message and waits for its answer; out may be nil.
func (c *Client) call(ctx context.Context, via *http.Client, name string, in, out any) error {
	if c.ctx.Err() != nil {
		return ErrClosed
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(c.ctx, cancel)()
	body, err := json.Marshal(in)
	if err != nil {
		return fmt.Errorf("encode a message: %w", err)
	}
	answer, code, err := c.try(ctx, via, name, body)
	if err == nil && code == codeSession {
		// The other host has forgotten the session, or is another one now.
		answer, code, err = c.try(ctx, via, name, body)
	}
	switch {
	case err != nil:
		return err
	case code != "":
		return fmt.Errorf("%w: %w", ErrUnconfirmed, ErrStranger)
	case out == nil:
		return nil
	}
	if err := json.Unmarshal(answer, out); err != nil {
		return fmt.Errorf("%w: decode the answer: %w", ErrUnconfirmed, err)
	}
	return nil
}

// try sends a message once. A code says that it was not let in.
func (c *Client) try(ctx context.Context, via *http.Client, name string, body []byte) (answer []byte, code string, err error) {
	s, err := c.open(ctx, via)
	if err != nil {
		return nil, "", err
	}
	number, hash, path := strconv.FormatUint(s.number.Add(1), 10), hashOf(body), Base+name
	header := http.Header{
		headerSession: {s.id}, headerNumber: {number}, headerBody: {hash},
		headerMAC: {requestMAC(s.key, number, http.MethodPost, path, hash)},
	}
	got, err := c.exchange(ctx, via, path, header, body)
	switch {
	case err != nil && notSent(err):
		return nil, "", err
	case err != nil:
		return nil, "", fmt.Errorf("%w: %w", ErrUnconfirmed, err)
	case got.code == codeSession:
		c.session.CompareAndSwap(s, nil)
		return nil, codeSession, nil
	case !equal(got.mac, answerMAC(s.key, number, got.status, hashOf(got.body))):
		return nil, codeStranger, nil
	case got.status != http.StatusOK:
		return nil, "", fmt.Errorf("%s: the other host does not understand it: %s", name, got.body)
	}
	return got.body, "", nil
}

// open returns the session, and begins one if there is none.
func (c *Client) open(ctx context.Context, via *http.Client) (*clientSession, error) {
	if s := c.session.Load(); s != nil {
		return s, nil
	}
	select {
	case c.opening <- struct{}{}:
		defer func() { <-c.opening }()
	case <-ctx.Done():
		return nil, fmt.Errorf("open a session: %w", ctx.Err())
	}
	if s := c.session.Load(); s != nil {
		return s, nil
	}
	s, err := c.hello(ctx, via)
	if err != nil {
		return nil, fmt.Errorf("open a session: %w", err)
	}
	c.session.Store(s)
	return s, nil
}

func (c *Client) hello(ctx context.Context, via *http.Client) (*clientSession, error) {
	ctx, cancel := context.WithTimeout(ctx, shortCall)
	defer cancel()
	secret := c.cfg.Trust.Secret
	h := hello{App: c.cfg.Self.App, From: c.cfg.Self.Incarnation, To: c.cfg.To, Nonce: nonce()}
	h.MAC = h.sign(secret)
	body, err := json.Marshal(h)
	if err != nil {
		return nil, fmt.Errorf("encode a hello: %w", err)
	}
	got, err := c.exchange(ctx, via, Base+"hello", http.Header{}, body)
	if err != nil {
		return nil, err
	}
	var w welcome
	if got.status != http.StatusOK || json.Unmarshal(got.body, &w) != nil || !equal(w.MAC, w.sign(secret, h)) {
		return nil, ErrStranger
	}
	if w.Other {
		return nil, ErrOtherHost
	}
	return &clientSession{id: w.Session, key: sessionKey(secret, h, w)}, nil
}

// reply is an answer that nobody has checked yet.
type reply struct {
	status    int
	code, mac string
	body      []byte
}

func (c *Client) exchange(ctx context.Context, via *http.Client, path string, header http.Header, body []byte) (reply, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.scheme+"://"+c.cfg.Address+path, bytes.NewReader(body))
	if err != nil {
		return reply{}, fmt.Errorf("make a request: %w", err)
	}
	req.Header = header
	resp, err := via.Do(req)
	if err != nil {
		return reply{}, err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(io.LimitReader(resp.Body, maxBody))
	if err != nil {
		return reply{}, fmt.Errorf("read an answer: %w", err)
	}
	return reply{resp.StatusCode, resp.Header.Get(headerCode), resp.Header.Get(headerMAC), text}, nil
}
