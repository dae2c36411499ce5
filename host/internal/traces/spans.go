package traces

import (
	"context"
	"encoding/hex"
	"strconv"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"github.com/axsched/ax/host/internal/ax"
	"github.com/axsched/ax/pluginapi"
)

// The names of spans are few; which task it is stands in an attribute.
const (
	spanRun      = "run"      // from the due time to the end of the last attempt
	spanDispatch = "dispatch" // from the due time to the start of the first attempt
	spanAttempt  = "attempt"
)

// tells reports whether there is a span for it.
func tells(what ax.HappeningKind) bool {
	return what == ax.AttemptEnded || what == ax.DueMissed || what == ax.DueSkipped
}

// sampled decides by the first 32 random bits of a trace id.
func sampled(traceID string, percent int) bool {
	const digits = 8
	if percent >= 100 {
		return true
	}
	if len(traceID) < digits {
		return false
	}
	n, err := strconv.ParseUint(traceID[:digits], 16, 32)
	return err == nil && n*100>>32 < uint64(max(percent, 0)) //nolint:gosec // not negative
}

// spans turns happenings into spans and gathers them. It is its own span
// processor and source of ids. Not safe for concurrent use.
type spans struct {
	tracer trace.Tracer
	redact func(string) string
	next   trace.SpanContext // of the span that is made next
	ended  []sdktrace.ReadOnlySpan
}

func newSpans(cfg *Config) *spans {
	s := &spans{redact: cfg.Redact}
	provider := sdktrace.NewTracerProvider(
		sdktrace.WithSampler(sdktrace.AlwaysSample()), sdktrace.WithIDGenerator(s), sdktrace.WithSpanProcessor(s),
		sdktrace.WithResource(resource.NewSchemaless(
			attribute.String("service.name", "ax"), attribute.String("service.namespace", cfg.App),
			attribute.String("service.version", cfg.Version), attribute.String("service.instance.id", cfg.Incarnation),
			attribute.String("host.name", cfg.Node),
		)))
	s.tracer = provider.Tracer("github.com/axsched/ax")
	return s
}

// NewIDs implements sdktrace.IDGenerator.
func (s *spans) NewIDs(context.Context) (trace.TraceID, trace.SpanID) {
	return s.next.TraceID(), s.next.SpanID()
}

// NewSpanID implements sdktrace.IDGenerator.
func (s *spans) NewSpanID(context.Context, trace.TraceID) trace.SpanID { return s.next.SpanID() }

// OnStart implements sdktrace.SpanProcessor.
func (*spans) OnStart(context.Context, sdktrace.ReadWriteSpan) {}

// OnEnd implements sdktrace.SpanProcessor.
func (s *spans) OnEnd(span sdktrace.ReadOnlySpan) { s.ended = append(s.ended, span) }

// Shutdown implements sdktrace.SpanProcessor.
func (*spans) Shutdown(context.Context) error { return nil }

// ForceFlush implements sdktrace.SpanProcessor.
func (*spans) ForceFlush(context.Context) error { return nil }

func (s *spans) len() int { return len(s.ended) }

// take returns what has gathered.
func (s *spans) take() []sdktrace.ReadOnlySpan {
	all := s.ended
	s.ended = nil
	return all
}

// span is what a span is made of.
type span struct {
	name       string
	attempt    int // 0 for the run as a whole
	start, end time.Time
	status     ax.Status
	fault      string
}

// add makes the spans of a happening.
func (s *spans) add(h *ax.Happening) {
	inst := &h.Instance
	if h.What != ax.AttemptEnded {
		s.make(inst, span{name: spanRun, start: inst.ScheduledAt, end: h.At, status: inst.Status, fault: h.Text})
		return
	}
	out := &h.Outcome
	s.make(inst, span{name: spanAttempt, attempt: inst.Attempt, start: out.StartedAt, end: out.EndedAt, status: out.Status, fault: out.Error})
	if inst.Attempt == 1 {
		s.make(inst, span{name: spanDispatch, attempt: -1, start: due(inst), end: out.StartedAt})
	}
	if inst.Status.Final() {
		s.make(inst, span{name: spanRun, start: due(inst), end: out.EndedAt, status: inst.Status, fault: out.Error})
	}
}

// due is when the run should have begun. That of a backfill is when it was asked
// for: its due time is long ago.
func due(inst *ax.Instance) time.Time {
	if inst.Kind != ax.KindScheduled && inst.CreatedAt.After(inst.ScheduledAt) {
		return inst.CreatedAt
	}
	return inst.ScheduledAt
}

// make makes a span. That of the run is the parent of the others.
func (s *spans) make(inst *ax.Instance, what span) {
	root, ok := contextOf(inst, 0)
	if !ok {
		return
	}
	s.next, _ = contextOf(inst, what.attempt)
	ctx := context.Background()
	if what.attempt != 0 {
		ctx = trace.ContextWithRemoteSpanContext(ctx, root)
	}
	attributes := []attribute.KeyValue{
		attribute.String("ax.task", inst.TaskName), attribute.String("ax.instance_id", inst.ID.String()),
		attribute.String("ax.kind", string(inst.Kind)), attribute.String("ax.due", inst.ScheduledAt.UTC().Format(time.RFC3339Nano)),
	}
	if what.status != "" {
		attributes = append(attributes, attribute.String("ax.status", string(what.status)))
	}
	if what.attempt > 0 {
		attributes = append(attributes, attribute.Int("ax.attempt", what.attempt), attribute.String("ax.node", inst.Node))
	}
	_, made := s.tracer.Start(ctx, what.name, trace.WithTimestamp(what.start), trace.WithAttributes(attributes...))
	switch what.status {
	case ax.StatusFailed, ax.StatusTimeout, ax.StatusLost, ax.StatusMissed:
		made.SetStatus(codes.Error, s.redact(what.fault))
	case ax.StatusSuccess:
		made.SetStatus(codes.Ok, "")
	}
	made.End(trace.WithTimestamp(what.end))
}

// contextOf returns the ids of an attempt's span, which are those of the header
// traceparent that its job was given.
func contextOf(inst *ax.Instance, attempt int) (trace.SpanContext, bool) {
	fire := pluginapi.Fire{InstanceID: inst.ID.String(), Attempt: attempt, TraceID: inst.TraceID}
	traceID, err := trace.TraceIDFromHex(fire.TraceID)
	if err != nil {
		return trace.SpanContext{}, false
	}
	var id trace.SpanID
	if _, err := hex.Decode(id[:], []byte(fire.SpanID())); err != nil {
		return trace.SpanContext{}, false
	}
	return trace.NewSpanContext(trace.SpanContextConfig{TraceID: traceID, SpanID: id, TraceFlags: trace.FlagsSampled, Remote: true}), true
}
