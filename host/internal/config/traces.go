package config

import (
	"net/url"

	"gopkg.in/yaml.v3"
)

// Traces says where a trace of each run goes.
type Traces struct {
	// URL is that of a collector that takes OTLP over HTTP, empty for none.
	URL string
	// Headers go with each request.
	Headers map[string]string
	// Percent is how many runs in a hundred have a trace.
	Percent int
}

// Metrics says what is counted beside the usual.
type Metrics struct {
	// ByTask asks for metrics with a label for the name of the task.
	ByTask bool
}

// defaultTraceURLPath is where collectors take traces.
const defaultTraceURLPath = "/v1/traces"

// tracesDraft is traces: while its keys are read.
type tracesDraft struct {
	to  *Traces
	url *yaml.Node
}

func (t *tracesDraft) rule() rule {
	return section("traces",
		field{"url", noting(text(&t.to.URL), &t.url)},
		field{"headers", textMap(&t.to.Headers)},
		field{"percent", integer(&t.to.Percent, 0, 100)})
}

// finishTraces fills in the path that all collectors use.
func (d *decoder) finishTraces(t *tracesDraft) {
	if t.url == nil {
		return
	}
	u, err := url.Parse(t.to.URL)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || u.RawQuery != "" || u.Fragment != "" || u.User != nil {
		d.fault(t.url, "url: expected the URL of a collector such as http://127.0.0.1:4318, got %s", d.show(t.url))
		return
	}
	if u.Path == "" || u.Path == "/" {
		u.Path = defaultTraceURLPath
	}
	t.to.URL = u.String()
}
