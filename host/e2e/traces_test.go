package e2e

import (
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	trace "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/axsched/ax/host/internal/ax"
)

// TestTraces: a collector gets the spans of a run, and its command knows them.
func TestTraces(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	spans := map[string]*trace.Span{} // by name
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, err := gzip.NewReader(r.Body)
		if err != nil {
			t.Error(err)
			return
		}
		text, err := io.ReadAll(body)
		if err != nil {
			t.Error(err)
		}
		req := &collector.ExportTraceServiceRequest{}
		if err := proto.Unmarshal(text, req); err != nil {
			t.Error(err)
		}
		mu.Lock()
		defer mu.Unlock()
		for _, r := range req.ResourceSpans {
			for _, s := range r.ScopeSpans {
				for _, span := range s.Spans {
					spans[span.Name] = span
				}
			}
		}
	}))
	defer server.Close()
	w := newWorld(t, "exec")
	w.config(`
traces: {url: ` + server.URL + `}
tasks:
- name: traced
  at: "2099-01-01"
  job: {use: exec, with: {shell: "echo $TRACEPARENT"}}
`)
	h := w.start()
	id := w.run("traced")
	w.instance(id, ax.StatusSuccess, ax.StatusFailed)
	parent := strings.Split(w.texts(id, ax.StageOutput), "-")
	h.stop() // sends what is waiting
	mu.Lock()
	defer mu.Unlock()
	run, dispatch, attempt := spans["run"], spans["dispatch"], spans["attempt"]
	if run == nil || dispatch == nil || attempt == nil || len(parent) != 4 {
		t.Fatalf("got the spans %v, the command %q", spans, parent)
	}
	if got := fmt.Sprintf("%x-%x", attempt.TraceId, attempt.SpanId); got != parent[1]+"-"+parent[2] {
		t.Errorf("the command was told %q, the collector %s", parent, got)
	}
	for _, child := range []*trace.Span{dispatch, attempt} {
		if string(child.TraceId) != string(run.TraceId) || string(child.ParentSpanId) != string(run.SpanId) {
			t.Errorf("%v is not below %v", child, run)
		}
	}
}
