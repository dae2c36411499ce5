package peer

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/axsched/ax/host/internal/ax"
)

var secret = []byte("correct horse battery staple")

// desk is a Host with a bounded queue.
type desk struct {
	room    chan struct{} // one token for each free place
	waiting chan struct{} // told when somebody finds none

	mu       sync.Mutex
	received []Dispatch
	ends     []Ended
	heard    []string
	refusal  error
}

func newDesk(room int) *desk {
	d := &desk{room: make(chan struct{}, 1<<20), waiting: make(chan struct{}, 1)}
	d.free(room)
	return d
}

func (d *desk) free(n int) {
	for range n {
		d.room <- struct{}{}
	}
}

func (d *desk) Receive(ctx context.Context, a Dispatch) error {
	d.mu.Lock()
	refusal := d.refusal
	d.mu.Unlock()
	if refusal != nil {
		return refusal
	}
	select {
	case <-d.room:
	default:
		select {
		case d.waiting <- struct{}{}:
		default:
		}
		select {
		case <-d.room:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.received = append(d.received, a)
	return nil
}

func (d *desk) Cancel(id ax.InstanceID, fence int64, cause string) bool {
	return id == 7 && fence == 3 && cause == "canceled"
}

func (d *desk) Ended(ends []Ended) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.ends = append(d.ends, ends...)
}

func (d *desk) Changed(from string, tasks []ax.TaskID) {
	d.hear("changed by " + from)
	for _, id := range tasks {
		d.hear(id.String())
	}
}

func (d *desk) Leaving(incarnation string) { d.hear(incarnation + " leaves") }

func (d *desk) Drain(undo bool, by string) error {
	if undo {
		return errors.New("it is not drained")
	}
	d.hear("drain for " + by)
	return nil
}

func (d *desk) Run(_ context.Context, r Run) (ax.InstanceID, error) {
	if !r.Force {
		return 0, &RefusalError{Code: Running, Text: r.Task + " runs"}
	}
	d.hear(fmt.Sprintf("%s by %s with %s, %s %s at %s", r.Task, r.By, r.Params, r.Key, r.Digest, r.AskedAt.Format(time.TimeOnly)))
	return 42, nil
}

func (d *desk) hear(text string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.heard = append(d.heard, text)
}

func (d *desk) got() []Dispatch {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.received
}

// site is a server that can be killed.
type site struct {
	*Server
	listener net.Listener
	address  string
	done     chan struct{}
}

// serve brings up the server of incarnation "b" of app "app", on a free port
// unless an address is given.
func serve(t testing.TB, host Host, change func(*ServerConfig), address ...string) *site {
	t.Helper()
	cfg := ServerConfig{Self: Identity{"app", "b"}, Trust: Trust{Secret: secret}, Host: host, Log: hclog.NewNullLogger()}
	if change != nil {
		change(&cfg)
	}
	s, err := NewServer(cfg)
	if err != nil {
		t.Fatal(err)
	}
	address = append(address, "127.0.0.1:0")
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", address[0])
	if err != nil {
		t.Fatal(err)
	}
	at := &site{Server: s, listener: l, address: l.Addr().String(), done: make(chan struct{})}
	go func() {
		defer close(at.done)
		if err := s.Serve(l); err != nil {
			t.Error(err)
		}
	}()
	t.Cleanup(at.kill)
	return at
}

// kill closes the port and all connections, as the end of the process does.
func (s *site) kill() {
	s.http.Close()
	<-s.done
}

// connect returns a client of incarnation "a" that talks to "b".
func connect(t testing.TB, address string, change func(*ClientConfig)) *Client {
	t.Helper()
	cfg := ClientConfig{Self: Identity{"app", "a"}, To: "b", Address: address, Trust: Trust{Secret: secret}}
	if change != nil {
		change(&cfg)
	}
	c, err := NewClient(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

func dispatch(id int) Dispatch {
	return Dispatch{Instance: ax.Instance{ID: ax.InstanceID(id), TaskID: 5, TaskName: "report", Status: ax.StatusDispatched, Fence: 1}}
}

// lines is a log that keeps its lines.
type lines struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

func logTo(l *lines) hclog.Logger { return hclog.New(&hclog.LoggerOptions{Output: l}) }

func within(t testing.TB, d time.Duration) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), d)
	t.Cleanup(cancel)
	return ctx
}
