package traces

import (
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/axsched/ax/host/internal/ax"
	"github.com/axsched/ax/pluginapi"
)

const traceID = "4bf92f3577b34da6a3ce929d0e0e4736"

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// config is that of a host whose password is hunter2.
func config(url string) Config {
	return Config{
		URL: url, Headers: map[string]string{"Authorization": "Bearer x"}, Percent: 100,
		App: "shop", Node: "host-1", Incarnation: "inc", Version: "1.2.3", Log: hclog.NewNullLogger(),
		Redact: func(text string) string { return strings.ReplaceAll(text, "hunter2", "[secret]") },
	}
}

// ended is the end of an attempt.
func ended(attempt int, status, final ax.Status) ax.Happening {
	begin := noon.Add(time.Duration(attempt) * time.Second)
	return ax.Happening{
		What: ax.AttemptEnded, At: begin.Add(time.Second),
		Instance: ax.Instance{
			ID: 4711, TaskName: "close-day", ScheduledAt: noon, CreatedAt: noon, Kind: ax.KindScheduled,
			Attempt: attempt, Status: final, Node: "host-2", TraceID: traceID,
		},
		Outcome: ax.Outcome{Status: status, Error: "password hunter2", StartedAt: begin, EndedAt: begin.Add(time.Second)},
	}
}

// collect is a collector that keeps what it is sent.
func collect(t *testing.T, got chan<- *collector.ExportTraceServiceRequest) *httptest.Server {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := gzip.NewReader(r.Body)
		if err != nil {
			t.Error(err)
			return
		}
		text, err := io.ReadAll(body)
		if err != nil {
			t.Error(err)
		}
		if r.URL.Path != "/v1/traces" || r.Header.Get("Authorization") != "Bearer x" || r.Header.Get("Content-Type") != "application/x-protobuf" {
			t.Errorf("request %s with %v", r.URL, r.Header)
		}
		req := &collector.ExportTraceServiceRequest{}
		if err := proto.Unmarshal(text, req); err != nil {
			t.Error(err)
		}
		got <- req
	}))
	t.Cleanup(server.Close)
	return server
}

// TestCollector: a run with a retry is one trace, on the ids that its attempts
// were given.
func TestCollector(t *testing.T) {
	t.Parallel()
	got := make(chan *collector.ExportTraceServiceRequest, 1)
	server := collect(t, got)
	traces, err := New(config(server.URL + "/v1/traces"))
	if err != nil {
		t.Fatal(err)
	}
	traces.Observe(ax.Happening{What: ax.AttemptStarted, At: noon})
	traces.Observe(ended(1, ax.StatusFailed, ax.StatusRetrying))
	traces.Observe(ended(2, ax.StatusSuccess, ax.StatusSuccess))
	traces.Stop(t.Context())
	traces.Stop(t.Context()) // does nothing
	req := <-got
	id := func(attempt int) string { return (&pluginapi.Fire{InstanceID: "4711", Attempt: attempt}).SpanID() }
	want := []string{
		fmt.Sprintf("attempt %s below %s from 1s to 2s STATUS_CODE_ERROR password [secret]", id(1), id(0)),
		fmt.Sprintf("dispatch %s below %s from 0s to 1s STATUS_CODE_UNSET ", id(-1), id(0)),
		fmt.Sprintf("attempt %s below %s from 2s to 3s STATUS_CODE_OK ", id(2), id(0)),
		fmt.Sprintf("run %s below  from 0s to 3s STATUS_CODE_OK ", id(0)),
	}
	var lines []string
	for _, s := range req.ResourceSpans[0].ScopeSpans[0].Spans {
		since := func(nanos uint64) time.Duration { return time.Unix(0, int64(nanos)).Sub(noon) }
		lines = append(lines, fmt.Sprintf("%s %x below %x from %v to %v %v %s", s.Name, s.SpanId, s.ParentSpanId,
			since(s.StartTimeUnixNano), since(s.EndTimeUnixNano), s.GetStatus().GetCode(), s.GetStatus().GetMessage()))
		if fmt.Sprintf("%x", s.TraceId) != traceID || !strings.Contains(fmt.Sprint(s.Attributes), "close-day") {
			t.Errorf("span %v", s)
		}
	}
	if !slices.Equal(lines, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(lines, "\n"), strings.Join(want, "\n"))
	}
	if who := fmt.Sprint(req.ResourceSpans[0].Resource); !strings.Contains(who, "shop") || !strings.Contains(who, "host-1") || !strings.Contains(who, "1.2.3") {
		t.Errorf("sent by %s", who)
	}
	if s := traces.Stats(); s != (Stats{Sent: 4}) {
		t.Errorf("counted %+v", s)
	}
}

// stuck is a collector that answers when it is let.
type stuck struct {
	entered chan struct{}
	answer  chan error
}

func (s *stuck) ExportSpans(ctx context.Context, _ []sdktrace.ReadOnlySpan) error {
	s.entered <- struct{}{}
	select {
	case err := <-s.answer:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (*stuck) Shutdown(context.Context) error { return nil }

// TestStuckCollector: while the collector hangs, runs go on and what finds no room
// is dropped; all is counted.
func TestStuckCollector(t *testing.T) {
	t.Parallel()
	s := &stuck{entered: make(chan struct{}), answer: make(chan error)}
	const queue = 4
	traces := start(config("http://collector"), s, queue)
	sent := 0
	tell := func() { traces.Observe(ended(2, ax.StatusSuccess, ax.StatusRetrying)); sent++ }
	for entered := false; !entered; {
		tell()
		select {
		case <-s.entered:
			entered = true
		default:
		}
	}
	before := traces.Stats()
	for range 100 {
		tell()
	}
	full := traces.Stats()
	if added := full.Dropped - before.Dropped; added < 100-queue || added > 100 {
		t.Errorf("of 100 happenings %d were dropped beside a queue of %d", added, queue)
	}
	s.answer <- errors.New("503")
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		<-s.entered
		cancel() // no time is left for the rest
	}()
	traces.Stop(ctx)
	end := traces.Stats()
	if end.Sent != 0 || end.Failed+end.Dropped != uint64(sent) {
		t.Errorf("of %d spans: %+v", sent, end)
	}
	traces.Observe(ended(1, ax.StatusSuccess, ax.StatusSuccess))
	if got := traces.Stats().Dropped; got != end.Dropped+1 {
		t.Errorf("after the end %d were dropped", got)
	}
}

// TestOff: without a collector nothing is done.
func TestOff(t *testing.T) {
	t.Parallel()
	var traces *Traces
	traces.Observe(ended(1, ax.StatusSuccess, ax.StatusSuccess))
	traces.Stop(t.Context())
	if s := traces.Stats(); s != (Stats{}) {
		t.Errorf("counted %+v", s)
	}
}

// TestSampled: about as many as wanted, the same ones everywhere.
func TestSampled(t *testing.T) {
	t.Parallel()
	for _, percent := range []int{0, 1, 10, 50, 100} {
		n := 0
		const all = 10_000
		for i := range all {
			id := fmt.Sprintf("%08x", uint32(i)*2654435761) + traceID[8:]
			if sampled(id, percent) {
				n++
			}
		}
		if want := all * percent / 100; n < want-want/5-5 || n > want+want/5+5 {
			t.Errorf("%d%%: %d of %d", percent, n, all)
		}
	}
	if sampled("", 50) || sampled("x", 50) || sampled("zzzzzzzzzzzz", 50) {
		t.Error("no trace id is sampled")
	}
}

// BenchmarkObserve is what a run pays.
func BenchmarkObserve(b *testing.B) {
	s := &stuck{entered: make(chan struct{}), answer: make(chan error)}
	traces := start(config("http://collector"), s, queueSize)
	b.Cleanup(traces.cancel)
	go func() {
		for range s.entered {
			s.answer <- nil
		}
	}()
	h := ended(1, ax.StatusSuccess, ax.StatusSuccess)
	b.ReportAllocs()
	for b.Loop() {
		traces.Observe(h)
	}
}

// BenchmarkSpans is what making the spans of a run takes, beside the runs.
func BenchmarkSpans(b *testing.B) {
	cfg := config("")
	s := newSpans(&cfg)
	h := ended(1, ax.StatusSuccess, ax.StatusSuccess)
	b.ReportAllocs()
	for b.Loop() {
		s.add(&h)
		s.take()
	}
}
