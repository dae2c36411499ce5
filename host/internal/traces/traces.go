// Package traces sends a trace of each run to a collector by OTLP over HTTP, such
// as an OpenTelemetry Collector, Jaeger or Tempo. It never holds up a run: what
// cannot be sent in time is dropped, and counted.
package traces

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/go-hclog"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"github.com/axsched/ax/host/internal/ax"
)

const (
	// queueSize is how many happenings may wait for the collector: some seconds of
	// a busy host.
	queueSize = 8192
	// batchSize is about how many spans a request has, batchWait how long a span
	// waits for others.
	batchSize = 512
	batchWait = 2 * time.Second
	// sendTimeout bounds one request with its repetitions.
	sendTimeout = 10 * time.Second
)

// Config says where the traces go, and who sends them.
type Config struct {
	// URL is the whole address, such as http://127.0.0.1:4318/v1/traces.
	URL     string
	Headers map[string]string
	// Percent is how many runs in a hundred have a trace. All hosts agree on them,
	// as the id of the trace decides.
	Percent int

	App, Node, Incarnation, Version string
	Log                             hclog.Logger
	// Redact takes secrets out of a text.
	Redact func(string) string
}

// Stats counts spans since New.
type Stats struct {
	// Sent spans were taken by the collector, Failed ones were not. Dropped are the
	// happenings, of one to three spans each, that found the queue full.
	Sent, Failed, Dropped uint64
}

// Traces makes and sends spans. Make one with New.
type Traces struct {
	cfg      Config
	exporter sdktrace.SpanExporter
	spans    *spans
	queue    chan ax.Happening
	ctx      context.Context // of requests
	cancel   context.CancelFunc
	loop     sync.WaitGroup
	closing  sync.RWMutex // held for reading while something is put into queue
	closed   bool
	away     bool // the collector did not take the last batch; of the loop

	sent, failed, dropped atomic.Uint64
}

// New starts to send what Observe is told. The collector need not be there.
func New(cfg Config) (*Traces, error) {
	exporter, err := otlptracehttp.New(context.Background(),
		otlptracehttp.WithEndpointURL(cfg.URL), otlptracehttp.WithHeaders(cfg.Headers),
		otlptracehttp.WithCompression(otlptracehttp.GzipCompression), otlptracehttp.WithTimeout(sendTimeout),
		otlptracehttp.WithRetry(otlptracehttp.RetryConfig{
			Enabled: true, InitialInterval: time.Second, MaxInterval: sendTimeout / 2, MaxElapsedTime: sendTimeout,
		}))
	if err != nil {
		return nil, fmt.Errorf("send traces to %s: %w", cfg.URL, err)
	}
	return start(cfg, exporter, queueSize), nil
}

func start(cfg Config, exporter sdktrace.SpanExporter, queue int) *Traces {
	t := &Traces{cfg: cfg, exporter: exporter, spans: newSpans(&cfg), queue: make(chan ax.Happening, queue)}
	t.ctx, t.cancel = context.WithCancel(context.Background())
	t.loop.Go(t.run)
	return t
}

// Observe takes note of a happening. It does not wait. A nil *Traces does nothing.
func (t *Traces) Observe(h ax.Happening) {
	if t == nil || !tells(h.What) || !sampled(h.Instance.TraceID, t.cfg.Percent) {
		return
	}
	h.Instance.Params, h.Instance.Data, h.Outcome.Data = nil, nil, nil // these are not sent
	t.closing.RLock()
	defer t.closing.RUnlock()
	if t.closed {
		t.dropped.Add(1)
		return
	}
	select {
	case t.queue <- h:
	default:
		t.dropped.Add(1)
	}
}

// Stats returns the counters, all zero for a nil *Traces.
func (t *Traces) Stats() Stats {
	if t == nil {
		return Stats{}
	}
	return Stats{Sent: t.sent.Load(), Failed: t.failed.Load(), Dropped: t.dropped.Load()}
}

// Stop sends what is waiting, until ctx ends.
func (t *Traces) Stop(ctx context.Context) {
	if t == nil {
		return
	}
	t.closing.Lock()
	if t.closed {
		t.closing.Unlock()
		return
	}
	t.closed = true
	close(t.queue)
	t.closing.Unlock()
	defer context.AfterFunc(ctx, t.cancel)()
	t.loop.Wait()
	t.cancel()
	if err := t.exporter.Shutdown(ctx); err != nil {
		t.cfg.Log.Warn("the connection for traces did not end in good order", "error", err)
	}
}

func (t *Traces) run() {
	tick := time.NewTicker(batchWait)
	defer tick.Stop()
	for {
		select {
		case h, ok := <-t.queue:
			if !ok {
				t.send()
				return
			}
			t.spans.add(&h)
			if t.spans.len() >= batchSize {
				t.send()
			}
		case <-tick.C:
			t.send()
		}
	}
}

// send hands a batch to the collector. While that waits the queue fills up.
func (t *Traces) send() {
	batch := t.spans.take()
	if len(batch) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(t.ctx, sendTimeout)
	defer cancel()
	err := t.exporter.ExportSpans(ctx, batch)
	if err != nil {
		t.failed.Add(uint64(len(batch)))
		if !t.away {
			t.cfg.Log.Warn("the collector does not take traces: they are dropped until it does", "url", t.cfg.URL, "error", err)
		}
		t.away = true
		return
	}
	t.sent.Add(uint64(len(batch)))
	if t.away {
		t.cfg.Log.Info("the collector takes traces again", "url", t.cfg.URL)
	}
	t.away = false
}
