// Package client talks to a host over its HTTP API, for programs in Go; the
// commands of ax use it as well. A Client has methods for what programs do most,
// and Do for every other call of the API.
package client

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"mime"
	"net/http"
	"net/url"
	"strings"
	"time"
)

const (
	// defaultTimeout bounds calls whose context has no deadline.
	defaultTimeout = 30 * time.Second
	// maxAnswer bounds what is read of one answer, in bytes.
	maxAnswer = 64 << 20
	// base is the path of the version of the API that this package speaks.
	base = "/api/v1"
)

// Options say how to talk to a host. The zero value is for one that asks nobody who
// they are.
type Options struct {
	// Token is one of the host's configuration, empty for none.
	Token string
	// Actor is noted with changes by a host that asks nobody who they are; others
	// note whose token it is.
	Actor string
	// CA holds further authorities in PEM that certificates of hosts may come from.
	CA []byte
	// Transport is what calls go through; nil makes one. With it CA has no meaning.
	Transport http.RoundTripper
}

// Client talks to one host. It is safe for use by many goroutines.
type Client struct {
	server string // scheme://host:port
	token  string
	actor  string
	http   *http.Client
}

// New returns a client of the host at a URL without a path, such as
// "https://ax.example".
func New(server string, o Options) (*Client, error) {
	u, err := url.Parse(server)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || strings.Trim(u.Path, "/") != "" || u.RawQuery != "" || u.User != nil {
		return nil, fmt.Errorf("%q is no address of a host: expected one such as https://ax.example or http://127.0.0.1:8090", server)
	}
	c := &Client{server: u.Scheme + "://" + u.Host, token: o.Token, actor: o.Actor, http: &http.Client{Transport: o.Transport}}
	// A token is for the host that was named, and for none that it leads to.
	c.http.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	if o.Transport == nil && len(o.CA) > 0 {
		pool, err := x509.SystemCertPool()
		if err != nil {
			pool = x509.NewCertPool()
		}
		if !pool.AppendCertsFromPEM(o.CA) {
			return nil, errors.New("the authorities: expected certificates in PEM, found none")
		}
		transport := http.DefaultTransport.(*http.Transport).Clone()
		transport.TLSClientConfig = &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}
		c.http.Transport = transport
	}
	return c, nil
}

// Server is the address of the host.
func (c *Client) Server() string { return c.server }

// Call is one call of the API.
type Call struct {
	Method string // GET if empty
	Path   string // such as /api/v1/tasks
	Query  url.Values
	Header http.Header
	// Body is sent as JSON, or as it is if it is YAML; nil sends nothing.
	Body any
}

// YAML is a body that is sent as it is.
type YAML []byte

// Do makes a call and reads the answer into out, unless that is nil. Numbers that
// go into an any are json.Number. The error is a *ProblemError if the host refuses, and
// *UnreachableError if none answers. Without a deadline in ctx it takes 30 seconds at
// most.
func (c *Client) Do(ctx context.Context, call Call, out any) error {
	if _, bounded := ctx.Deadline(); !bounded {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, defaultTimeout)
		defer cancel()
	}
	response, err := c.Open(ctx, call)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if out == nil {
		return nil
	}
	decoder := json.NewDecoder(io.LimitReader(response.Body, maxAnswer))
	decoder.UseNumber()
	if err := decoder.Decode(out); err != nil {
		return fmt.Errorf("read the answer of %s: %w", c.server, err)
	}
	return nil
}

// Open makes a call and returns the answer if it is a good one, for those that are
// read as they come. The caller closes its body. Errors are those of Do.
func (c *Client) Open(ctx context.Context, call Call) (*http.Response, error) {
	request, err := c.request(ctx, call)
	if err != nil {
		return nil, err
	}
	response, err := c.http.Do(request)
	if err != nil && errors.Is(ctx.Err(), context.Canceled) {
		return nil, context.Cause(ctx)
	}
	if err != nil {
		if inner, ok := errors.AsType[*url.Error](err); ok {
			err = inner.Err
		}
		return nil, &UnreachableError{Server: c.server, Err: err}
	}
	if response.StatusCode < http.StatusMultipleChoices {
		return response, nil
	}
	defer response.Body.Close()
	return nil, c.refused(response)
}

func (c *Client) request(ctx context.Context, call Call) (*http.Request, error) {
	var body io.Reader
	kind := "application/json"
	if text, isYAML := call.Body.(YAML); isYAML {
		body, kind = bytes.NewReader(text), "application/yaml"
	} else if call.Body != nil {
		text, err := json.Marshal(call.Body)
		if err != nil {
			return nil, fmt.Errorf("encode request: %w", err)
		}
		body = bytes.NewReader(text)
	}
	address := c.server + call.Path
	if len(call.Query) > 0 {
		address += "?" + call.Query.Encode()
	}
	request, err := http.NewRequestWithContext(ctx, call.Method, address, body)
	if err != nil {
		return nil, fmt.Errorf("make request: %w", err)
	}
	maps.Copy(request.Header, call.Header)
	if c.actor != "" {
		request.Header.Set("Ax-Actor", c.actor)
	}
	if c.token != "" {
		request.Header.Set("Authorization", "Bearer "+c.token)
	}
	if body != nil {
		request.Header.Set("Content-Type", kind)
	}
	return request, nil
}

// refused reads the problem that a host reports.
func (c *Client) refused(response *http.Response) error {
	kind, _, _ := mime.ParseMediaType(response.Header.Get("Content-Type"))
	problem := &ProblemError{Status: response.StatusCode, Path: response.Request.URL.Path}
	if kind != "application/problem+json" {
		return fmt.Errorf("what answers at %s is no ax host: it says %s", c.server, response.Status)
	}
	if err := json.NewDecoder(io.LimitReader(response.Body, maxAnswer)).Decode(problem); err != nil {
		return fmt.Errorf("read the problem that %s reports: %w", c.server, err)
	}
	return problem
}

// ProblemError is what a host answers to a call that it refuses (RFC 9457).
type ProblemError struct {
	Status int
	Title  string
	Detail string
	// Errors are the parts of what is wrong, each with its place.
	Errors []struct{ Message, Location string }
	// Path is that of the call.
	Path string `json:"-"`
}

func (p *ProblemError) Error() string {
	text := p.Detail
	if text == "" {
		text = fmt.Sprintf("the host answers %d %s", p.Status, http.StatusText(p.Status))
	}
	for _, e := range p.Errors {
		text += "; " + strings.TrimPrefix(e.Location+": "+e.Message, ": ")
	}
	return text
}

// UnreachableError says that no host answers.
type UnreachableError struct {
	Server string
	Err    error
}

func (e *UnreachableError) Error() string {
	return fmt.Sprintf("no host answers at %s: %v", e.Server, e.Err)
}

func (e *UnreachableError) Unwrap() error { return e.Err }
