package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/axsched/ax/pluginapi"
)

// Header fields that this plugin sets.
const (
	ownPrefix      = "X-Ax-"
	callbackHeader = "X-Ax-Callback-Url"
)

// request makes the request of a run.
func (j *job) request(ctx context.Context, run *pluginapi.Run) (*http.Request, error) {
	target := *j.url
	if j.cfg.QueryFrom == fromParams {
		target.RawQuery = addParams(target.Query(), run.Params).Encode()
	}
	body, contentType, err := j.body(run.Params)
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, j.cfg.method(), target.String(), bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	if len(body) == 0 {
		req.Body, req.GetBody = http.NoBody, nil
	}
	if contentType != "" {
		req.Header.Set("Content-Type", contentType)
	}
	req.Header.Set("User-Agent", "ax-http/"+version)
	j.setOwn(req)
	setRun(req.Header, &run.Fire)
	if j.cfg.Async {
		req.Header.Set(callbackHeader, run.CallbackURL)
	}
	return req, nil
}

// setOwn sets what the settings say, over the defaults.
func (j *job) setOwn(req *http.Request) {
	for name, value := range j.cfg.Headers {
		req.Header.Set(name, value)
		if strings.EqualFold(name, "Host") {
			req.Host = value
		}
	}
	if auth := j.cfg.BasicAuth; auth != nil {
		req.SetBasicAuth(auth.Username, auth.Password)
	}
	if j.cfg.BearerToken != "" {
		req.Header.Set("Authorization", "Bearer "+j.cfg.BearerToken)
	}
}

// body returns the body with its type.
func (j *job) body(params map[string]any) (body []byte, contentType string, err error) {
	switch {
	case j.cfg.Body != "":
		return []byte(j.cfg.Body), "text/plain; charset=utf-8", nil
	case !j.cfg.sendsParams() || len(params) == 0 && j.cfg.BodyFrom == "":
		return nil, "", nil
	case params == nil:
		params = map[string]any{}
	}
	body, err = json.Marshal(params)
	if err != nil {
		return nil, "", fmt.Errorf("encode parameters: %w", err)
	}
	return body, "application/json", nil
}

// addParams adds parameters to a query: lists as repeated keys, objects as
// JSON, null as an empty value.
func addParams(query url.Values, params map[string]any) url.Values {
	for _, name := range slices.Sorted(maps.Keys(params)) {
		values, ok := params[name].([]any)
		if !ok {
			values = []any{params[name]}
		}
		for _, value := range values {
			query.Add(name, paramText(value))
		}
	}
	return query
}

func paramText(value any) string {
	switch v := value.(type) {
	case nil:
		return ""
	case string:
		return v
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64)
	}
	raw, err := json.Marshal(value)
	if err != nil { // not possible for what came out of JSON
		return fmt.Sprint(value)
	}
	return string(raw)
}

// setRun tells the service which run it works for. The idempotency key is the
// same for all attempts at a due time.
func setRun(header http.Header, fire *pluginapi.Fire) {
	header.Set("X-Ax-Task", headerText(fire.Task))
	header.Set("X-Ax-Instance", headerText(fire.InstanceID))
	header.Set("X-Ax-Attempt", strconv.Itoa(fire.Attempt))
	header.Set("X-Ax-Scheduled-At", fire.ScheduledAt.Format(time.RFC3339Nano))
	header.Set("X-Ax-Fence", strconv.FormatInt(fire.Fence, 10))
	header.Set("X-Ax-Idempotency-Key", headerText(fire.InstanceID))
	if fire.Shards > 0 {
		header.Set("X-Ax-Shard", strconv.Itoa(fire.Shard))
		header.Set("X-Ax-Shards", strconv.Itoa(fire.Shards))
	}
	if trace := fire.TraceParent(); trace != "" {
		header.Set("Traceparent", trace)
	}
}

// headerText makes text fit for a header: percent-encoded unless it is plain
// ASCII.
func headerText(text string) string {
	odd := func(r rune) bool { return r < ' ' || r > '~' }
	if strings.ContainsFunc(text, odd) {
		return url.PathEscape(text)
	}
	return text
}
