package cli

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/axsched/ax/host/internal/api"
)

const (
	// firstPause and maxPause are waits before a broken live log is taken up
	// again, and patience how long that is tried without a single event.
	firstPause = 200 * time.Millisecond
	maxPause   = 5 * time.Second
	patience   = 2 * time.Minute
	// silence is how long a host may send nothing: it sends a heartbeat every
	// 15 seconds.
	silence = 45 * time.Second
	// maxLine bounds a line of the stream.
	maxLine = 8 << 20
)

var errBroken = errors.New("the connection broke")

// follow calls show for all events of an instance, old and new, until it has
// ended, and returns its end. It outlives broken connections and restarts of
// the host.
func (c *client) follow(ctx context.Context, id string, show func(api.EventView) error) (api.InstanceView, error) {
	live := &liveLog{client: c, id: id, show: show}
	pause, lastEvent := firstPause, time.Now()
	for {
		before := live.lastID
		end, err := live.read(ctx)
		if err == nil {
			return end, nil
		}
		if !live.canRetry(ctx, err) {
			return end, err
		}
		if live.lastID != before {
			pause, lastEvent = firstPause, time.Now()
		}
		if time.Since(lastEvent) > patience {
			return end, fmt.Errorf("the live log was lost: %w", err)
		}
		select {
		case <-ctx.Done():
			return end, context.Cause(ctx)
		case <-time.After(pause):
			pause = min(2*pause, maxPause)
		}
	}
}

// liveLog is a log that is followed, over many connections.
type liveLog struct {
	*client
	id     string
	show   func(api.EventView) error
	lastID string // the newest event shown
	opened bool   // the host has answered once
}

// canRetry reports whether an error may go away by itself. A host that never
// answered is rather not there.
func (l *liveLog) canRetry(ctx context.Context, err error) bool {
	if ctx.Err() != nil || !l.opened {
		return false
	}
	if _, ok := errors.AsType[*unreachable](err); ok {
		return true
	}
	refused, ok := errors.AsType[*refusal](err)
	return errors.Is(err, errBroken) || ok && refused.Status == http.StatusServiceUnavailable
}

// read follows the log over one connection. It returns errBroken if that ends
// before the instance does.
func (l *liveLog) read(ctx context.Context) (api.InstanceView, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	header := http.Header{"Accept": {"text/event-stream"}}
	if l.lastID != "" {
		header.Set("Last-Event-ID", l.lastID)
	}
	response, err := l.open(ctx, http.MethodGet, instancePath(l.id, "log", "stream"), nil, header)
	if err != nil {
		return api.InstanceView{}, err
	}
	defer response.Body.Close()
	l.opened = true
	watchdog := time.AfterFunc(silence, func() { cancel(errBroken) })
	defer watchdog.Stop()
	return l.readEvents(response.Body, func() { watchdog.Reset(silence) })
}

// readEvents reads server-sent events; alive is called for every line.
func (l *liveLog) readEvents(body io.Reader, alive func()) (api.InstanceView, error) {
	lines := bufio.NewScanner(body)
	lines.Buffer(nil, maxLine)
	var id, kind, data string
	for lines.Scan() {
		alive()
		name, value, _ := strings.Cut(lines.Text(), ":")
		value = strings.TrimPrefix(value, " ")
		switch name {
		case "id":
			id = value
		case "event":
			kind = value
		case "data":
			data += value
		case "": // the end of an event, or a comment
			if lines.Text() != "" || data == "" {
				continue
			}
			if kind == api.StreamEnd {
				var end api.InstanceView
				err := json.Unmarshal([]byte(data), &end)
				return end, err
			}
			if err := l.event(id, data); err != nil {
				return api.InstanceView{}, err
			}
			id, kind, data = "", "", ""
		}
	}
	return api.InstanceView{}, errBroken
}

func (l *liveLog) event(id, data string) error {
	var event api.EventView
	if err := json.Unmarshal([]byte(data), &event); err != nil {
		return fmt.Errorf("read event %s: %w", id, err)
	}
	if err := l.show(event); err != nil {
		return err
	}
	l.lastID = id
	return nil
}
