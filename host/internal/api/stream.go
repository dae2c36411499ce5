package api

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"strconv"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/axsched/ax/host/internal/ax"
)

const streamPath = Base + "/instances/{id}/log/stream"

// Names of the events of a live log.
const (
	StreamLog = "log" // data is an EventView, id its id
	StreamEnd = "end" // data is the final InstanceView; nothing follows
)

const (
	// heartbeat keeps proxies from closing a silent stream and finds out that a
	// client has gone.
	heartbeat = 15 * time.Second
	// streamStall is how long a client may take to accept what is sent.
	streamStall = 30 * time.Second
	// streamPage is how many events are read at once.
	streamPage = 500
)

var errStopped = errors.New("the host is stopping")

func streamOperation(schemas huma.Registry) *huma.Operation {
	event := schemas.Schema(reflect.TypeFor[EventView](), true, "EventView")
	return &huma.Operation{
		OperationID: "follow-log", Method: http.MethodGet, Path: streamPath, Tags: []string{"instances"},
		Summary: "Follow the log of an instance",
		Description: "Server-sent events: all lines so far, then new ones as they come. Events named log hold an EventView; " +
			"the last one is named end and holds the final InstanceView. Comments are sent as heartbeats. " +
			"A client that was cut off goes on where it was by sending Last-Event-ID.",
		Parameters: []*huma.Param{
			{Name: "id", In: "path", Required: true, Schema: &huma.Schema{Type: huma.TypeString, Pattern: "^[0-9]{1,19}$"}},
			{Name: "Last-Event-ID", In: "header", Schema: &huma.Schema{Type: huma.TypeString}},
		},
		Responses: map[string]*huma.Response{
			"200": {Description: "OK", Content: map[string]*huma.MediaType{"text/event-stream": {Schema: event}}},
			"404": {Description: "Not Found"},
		},
	}
}

// serveStream serves streamPath.
func (s *server) serveStream(w http.ResponseWriter, r *http.Request) {
	ctx := r.Context()
	f, signals, err := s.openStream(ctx, r)
	if err != nil {
		writeProblem(w, s.problem(ctx, "follow-log", err))
		return
	}
	live := &stream{server: s, w: w, conn: http.NewResponseController(w), filter: f}
	if err := live.run(ctx, signals); err != nil && ctx.Err() == nil && !errors.Is(err, errStopped) {
		s.log.Debug("live log ended", "instance_id", f.Instance, "error", err)
	}
}

// openStream reads the request, before anything is sent.
func (s *server) openStream(ctx context.Context, r *http.Request) (ax.EventFilter, <-chan struct{}, error) {
	id, err := parseID(r.PathValue("id"))
	if err != nil {
		return ax.EventFilter{}, nil, err
	}
	f := ax.EventFilter{Instance: id, Limit: streamPage}
	if last := r.Header.Get("Last-Event-ID"); last != "" {
		if f.After, err = strconv.ParseInt(last, 10, 64); err != nil {
			return f, nil, &Invalid{Reason: "Last-Event-ID is no id of an event"}
		}
	}
	if _, err := s.backend.Instance(ctx, id); err != nil {
		return f, nil, err
	}
	signals, err := s.backend.Follow(ctx, id)
	return f, signals, err
}

// stream is one client that follows a log.
type stream struct {
	server *server
	w      http.ResponseWriter
	conn   *http.ResponseController
	filter ax.EventFilter // After is the newest event sent
}

// run sends events until the instance is final, the client is gone or the host
// stops.
func (s *stream) run(ctx context.Context, signals <-chan struct{}) error {
	if err := s.begin(); err != nil {
		return err
	}
	beat := time.NewTicker(heartbeat)
	defer beat.Stop()
	for final := false; ; {
		if err := s.sendEvents(ctx); err != nil {
			return err
		}
		if final {
			return s.sendEnd(ctx)
		}
		select {
		case _, open := <-signals:
			final = !open
		case <-beat.C:
			if err := s.send(": beat\n\n"); err != nil {
				return err
			}
		case <-s.server.stop:
			return errStopped
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

func (s *stream) begin() error {
	header := s.w.Header()
	header.Set("Content-Type", "text/event-stream")
	header.Set("Cache-Control", "no-store")
	header.Set("X-Accel-Buffering", "no") // of a proxy in between
	s.w.WriteHeader(http.StatusOK)
	return s.send("retry: 2000\n\n")
}

func (s *stream) sendEvents(ctx context.Context) error {
	for {
		events, err := s.server.backend.Events(ctx, s.filter)
		if err != nil {
			return fmt.Errorf("read events: %w", err)
		}
		if len(events) == 0 {
			return nil
		}
		text := make([]byte, 0, 256*len(events))
		for _, e := range events {
			data, err := json.Marshal(newEventView(e))
			if err != nil {
				return fmt.Errorf("encode event: %w", err)
			}
			text = fmt.Appendf(text, "id: %d\nevent: %s\ndata: %s\n\n", e.ID, StreamLog, data)
			s.filter.After = e.ID
		}
		if err := s.send(string(text)); err != nil {
			return err
		}
		if len(events) < streamPage {
			return nil
		}
	}
}

func (s *stream) sendEnd(ctx context.Context) error {
	instance, err := s.server.backend.Instance(ctx, s.filter.Instance)
	if err != nil {
		return fmt.Errorf("read the final instance: %w", err)
	}
	data, err := json.Marshal(newInstanceView(instance))
	if err != nil {
		return fmt.Errorf("encode instance: %w", err)
	}
	return s.send(fmt.Sprintf("event: %s\ndata: %s\n\n", StreamEnd, data))
}

// send writes and flushes, within the time that a client may stall.
func (s *stream) send(text string) error {
	if err := s.conn.SetWriteDeadline(time.Now().Add(streamStall)); err != nil {
		return fmt.Errorf("set write deadline: %w", err)
	}
	if _, err := s.w.Write([]byte(text)); err != nil {
		return fmt.Errorf("write to stream: %w", err)
	}
	if err := s.conn.Flush(); err != nil {
		return fmt.Errorf("flush stream: %w", err)
	}
	return nil
}
