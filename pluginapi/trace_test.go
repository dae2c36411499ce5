package pluginapi_test

import (
	"strings"
	"testing"

	"github.com/axsched/ax/pluginapi"
)

// TestTraceParent: the ids of attempts differ and stay the same; a trace id that
// W3C Trace Context does not know is not passed on.
func TestTraceParent(t *testing.T) {
	t.Parallel()
	const trace = "4bf92f3577b34da6a3ce929d0e0e4736"
	seen := map[string]bool{}
	for _, f := range []pluginapi.Fire{
		{InstanceID: "7212883712040960", Attempt: 0, TraceID: trace},
		{InstanceID: "7212883712040960", Attempt: 1, TraceID: trace},
		{InstanceID: "7212883712040961", Attempt: 1, TraceID: trace},
	} {
		again := f
		parts := strings.Split(f.TraceParent(), "-")
		if len(parts) != 4 || parts[0] != "00" || parts[1] != trace || len(parts[2]) != 16 || parts[3] != "01" ||
			parts[2] != again.SpanID() || seen[parts[2]] {
			t.Errorf("instance %s, attempt %d: got %q", f.InstanceID, f.Attempt, parts)
		}
		seen[parts[2]] = true
	}
	for _, odd := range []string{"", "abc", strings.Repeat("0", 32), strings.ToUpper(trace), trace + "0"} {
		f := pluginapi.Fire{InstanceID: "1", Attempt: 1, TraceID: odd}
		if got := f.TraceParent(); got != "" {
			t.Errorf("trace id %q: got %q", odd, got)
		}
	}
}
