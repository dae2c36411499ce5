package api_test

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/axsched/ax/host/internal/api"
	"github.com/axsched/ax/host/internal/api/apitest"
	"github.com/axsched/ax/host/internal/ax"
)

// job is an instance whose log a test writes.
type job struct {
	mu      sync.Mutex
	events  []ax.Event
	final   bool
	signals chan struct{}
}

func newJob() *job { return &job{signals: make(chan struct{}, 1)} }

func (j *job) say(text string) {
	j.mu.Lock()
	j.events = append(j.events, ax.Event{ID: int64(len(j.events) + 1), Text: text, Stage: ax.StageOutput})
	j.mu.Unlock()
	select {
	case j.signals <- struct{}{}:
	default:
	}
}

func (j *job) end() {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.final = true
	close(j.signals)
}

func (j *job) backend() *apitest.Backend {
	return &apitest.Backend{
		OnInstance: func(_ context.Context, id ax.InstanceID) (ax.Instance, error) {
			j.mu.Lock()
			defer j.mu.Unlock()
			status := ax.StatusRunning
			if j.final {
				status = ax.StatusSuccess
			}
			return ax.Instance{ID: id, Status: status}, nil
		},
		OnFollow: func(context.Context, ax.InstanceID) (<-chan struct{}, error) { return j.signals, nil },
		OnEvents: func(_ context.Context, f ax.EventFilter) ([]ax.Event, error) {
			j.mu.Lock()
			defer j.mu.Unlock()
			rest := j.events[min(int(f.After), len(j.events)):]
			return slices.Clone(rest[:min(len(rest), f.Limit)]), nil
		},
	}
}

// pipeNet is a network in memory, so that servers run on a bubble's time.
type pipeNet struct {
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
}

func newPipeNet() *pipeNet { return &pipeNet{conns: make(chan net.Conn), closed: make(chan struct{})} }

func (p *pipeNet) Accept() (net.Conn, error) {
	select {
	case conn := <-p.conns:
		return conn, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p *pipeNet) Close() error {
	p.once.Do(func() { close(p.closed) })
	return nil
}

func (p *pipeNet) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 8090} }

func (p *pipeNet) dial(context.Context, string, string) (net.Conn, error) {
	client, server := net.Pipe()
	p.conns <- server
	return client, nil
}

// unguarded lets everybody do everything.
func unguarded(s *api.Site) http.Handler { return s }

// follow starts a server of the job and a client of its live log; the lines it
// returns end when the stream does.
func (j *job) follow(t *testing.T, lastID string) (*http.Server, <-chan string) {
	t.Helper()
	network := newPipeNet()
	server := api.NewServer(api.Config{Backend: j.backend(), Log: hclog.NewNullLogger(), Version: "0"}, unguarded)
	go func() { _ = server.Serve(network) }() // ends with ErrServerClosed
	t.Cleanup(func() { _ = server.Close() })
	transport := &http.Transport{DialContext: network.dial, DisableKeepAlives: true}
	request, err := http.NewRequestWithContext(t.Context(), "GET", "http://127.0.0.1:8090/api/v1/instances/7/log/stream", nil)
	if err != nil {
		t.Fatal(err)
	}
	if lastID != "" {
		request.Header.Set("Last-Event-ID", lastID)
	}
	response, err := transport.RoundTrip(request)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = response.Body.Close() })
	if response.StatusCode != 200 || response.Header.Get("Content-Type") != "text/event-stream" {
		t.Fatalf("%d %v", response.StatusCode, response.Header)
	}
	lines := make(chan string, 10_000)
	go func() {
		defer close(lines)
		for scanner := bufio.NewScanner(response.Body); scanner.Scan(); {
			if line := scanner.Text(); line != "" {
				lines <- line
			}
		}
	}()
	return server, lines
}

// received empties a channel of lines as far as they have come.
func received(lines <-chan string) []string {
	synctest.Wait()
	var out []string
	for {
		select {
		case line, open := <-lines:
			if !open {
				return append(out, "EOF")
			}
			out = append(out, line)
		default:
			return out
		}
	}
}

func TestStreamFollowsToTheEnd(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		j := newJob()
		j.say("one")
		_, lines := j.follow(t, "")
		got := strings.Join(received(lines), "\n")
		if !strings.Contains(got, "id: 1\nevent: log\ndata: {") || !strings.Contains(got, `"text":"one"`) {
			t.Errorf("what was there before: %s", got)
		}
		// Longer than any timeout of the server: only heartbeats come.
		time.Sleep(10 * time.Minute)
		beats := received(lines)
		if len(beats) != 40 || beats[0] != ": beat" {
			t.Errorf("%d lines in ten quiet minutes: %q", len(beats), beats)
		}
		j.say("two")
		if got := strings.Join(received(lines), "\n"); !strings.Contains(got, `"text":"two"`) {
			t.Errorf("a new line: %s", got)
		}
		j.say("three")
		j.end()
		got = strings.Join(received(lines), "\n")
		if !strings.Contains(got, `"text":"three"`) || !strings.Contains(got, "event: end\ndata: {") ||
			!strings.Contains(got, `"status":"SUCCESS"`) || !strings.HasSuffix(got, "EOF") {
			t.Errorf("the end: %s", got)
		}
	})
}

func TestStreamResumes(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		j := newJob()
		for i := range 1200 { // more than one page
			j.say(fmt.Sprintf("line %d", i+1))
		}
		j.end()
		_, lines := j.follow(t, "3")
		var ids []string
		for _, line := range received(lines) {
			if id, ok := strings.CutPrefix(line, "id: "); ok {
				ids = append(ids, id)
			}
		}
		if len(ids) != 1197 || ids[0] != "4" || ids[1196] != "1200" {
			t.Errorf("%d events after the third, %v …", len(ids), ids[:min(3, len(ids))])
		}
	})
}

func TestStreamEndsWithTheServer(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		server, lines := newJob().follow(t, "")
		received(lines)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := server.Shutdown(ctx); err != nil {
			t.Errorf("a live log holds up the shutdown: %v", err)
		}
		if got := received(lines); len(got) != 1 || got[0] != "EOF" {
			t.Errorf("after the shutdown: %q", got)
		}
	})
}

func TestStreamDropsAStalledClient(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		j := newJob()
		network := newPipeNet()
		server := api.NewServer(api.Config{Backend: j.backend(), Log: hclog.NewNullLogger(), Version: "0"}, unguarded)
		go func() { _ = server.Serve(network) }()
		defer server.Close()
		conn, err := network.dial(t.Context(), "", "")
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		// A client that asks and never reads.
		if _, err := conn.Write([]byte("GET /api/v1/instances/7/log/stream HTTP/1.1\r\nHost: localhost\r\n\r\n")); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		if err := server.Shutdown(ctx); err != nil {
			t.Errorf("the connection is still open: %v", err)
		}
	})
}
