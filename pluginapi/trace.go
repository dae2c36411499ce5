package pluginapi

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"regexp"
	"strings"
)

// traceForm is how a trace id looks in W3C Trace Context.
var traceForm = regexp.MustCompile(`^[0-9a-f]{32}$`)

// SpanID is the id of the attempt's span in 16 hex digits. It follows from the
// instance and the number of the attempt, so that a host and the programs that the
// job calls agree on it. Attempt 0 is the span of the run as a whole.
func (f *Fire) SpanID() string {
	const spanBytes = 8
	sum := sha256.Sum256(fmt.Appendf(nil, "%s/%d", f.InstanceID, f.Attempt))
	return hex.EncodeToString(sum[:spanBytes])
}

// TraceParent is the header traceparent of W3C Trace Context
// (https://www.w3.org/TR/trace-context/) for what the attempt calls, or empty if
// the run's trace id is of another form.
func (f *Fire) TraceParent() string {
	if !traceForm.MatchString(f.TraceID) || strings.Trim(f.TraceID, "0") == "" {
		return ""
	}
	return "00-" + f.TraceID + "-" + f.SpanID() + "-01"
}
