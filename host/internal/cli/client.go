package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"mime"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/axsched/ax/host/internal/api"
)

const (
	// requestTimeout bounds all requests but live logs.
	requestTimeout = 30 * time.Second
	// maxAnswer bounds what is read of one answer.
	maxAnswer = 64 << 20
)

// client speaks to a host.
type client struct {
	base  string // http://host:port
	actor string
	http  *http.Client
}

// get reads an answer into out.
func (c *client) get(ctx context.Context, path string, query url.Values, out any) error {
	if len(query) > 0 {
		path += "?" + query.Encode()
	}
	return c.call(ctx, http.MethodGet, path, nil, out)
}

// post sends in, unless it is nil, and reads an answer into out, unless that
// is nil.
func (c *client) post(ctx context.Context, path string, in, out any) error {
	return c.call(ctx, http.MethodPost, path, in, out)
}

// postWithin is post for what may take longer than most requests.
func (c *client) postWithin(ctx context.Context, limit time.Duration, path string, in, out any) error {
	return c.callWithin(ctx, limit, http.MethodPost, path, in, out, nil)
}

func (c *client) call(ctx context.Context, method, path string, in, out any) error {
	return c.callWithin(ctx, requestTimeout, method, path, in, out, nil)
}

func (c *client) callWithin(ctx context.Context, limit time.Duration, method, path string, in, out any, header http.Header) error {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	response, err := c.open(ctx, method, path, in, header)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if out == nil {
		return nil
	}
	decoder := json.NewDecoder(io.LimitReader(response.Body, maxAnswer))
	decoder.UseNumber() // params and data keep all their digits
	if err := decoder.Decode(out); err != nil {
		return fmt.Errorf("read the answer of %s: %w", c.base, err)
	}
	return nil
}

// open makes a request and returns its answer if that is a good one.
func (c *client) open(ctx context.Context, method, path string, in any, header http.Header) (*http.Response, error) {
	var body io.Reader
	kind := "application/json"
	if text, isYAML := in.(yamlText); isYAML {
		body, kind = bytes.NewReader(text), "application/yaml"
	} else if in != nil {
		text, err := json.Marshal(in)
		if err != nil {
			return nil, fmt.Errorf("encode request: %w", err)
		}
		body = bytes.NewReader(text)
	}
	request, err := http.NewRequestWithContext(ctx, method, c.base+path, body)
	if err != nil {
		return nil, fmt.Errorf("make request: %w", err)
	}
	maps.Copy(request.Header, header)
	request.Header.Set(api.ActorHeader, c.actor)
	if in != nil {
		request.Header.Set("Content-Type", kind)
	}
	response, err := c.http.Do(request)
	if err != nil && errors.Is(ctx.Err(), context.Canceled) {
		return nil, context.Cause(ctx)
	}
	if err != nil {
		if inner, ok := errors.AsType[*url.Error](err); ok {
			err = inner.Err
		}
		return nil, &unreachable{addr: c.base, err: err}
	}
	if response.StatusCode < http.StatusMultipleChoices {
		return response, nil
	}
	defer response.Body.Close()
	return nil, c.refused(response)
}

// refused reads the problem that a host reports.
func (c *client) refused(response *http.Response) error {
	kind, _, _ := mime.ParseMediaType(response.Header.Get("Content-Type"))
	problem := &refusal{Status: response.StatusCode, path: response.Request.URL.Path}
	if kind != "application/problem+json" {
		return fmt.Errorf("what answers at %s is no ax host: it says %s", c.base, response.Status)
	}
	if err := json.NewDecoder(io.LimitReader(response.Body, maxAnswer)).Decode(problem); err != nil {
		return fmt.Errorf("read the problem that %s reports: %w", c.base, err)
	}
	return problem
}

// taskPath is the path of a task, or of an action on it.
func taskPath(name string, action ...string) string {
	return strings.Join(append([]string{api.Base, "tasks", url.PathEscape(name)}, action...), "/")
}

// instancePath is the path of an instance, or of a part of it.
func instancePath(id string, part ...string) string {
	return strings.Join(append([]string{api.Base, "instances", url.PathEscape(id)}, part...), "/")
}

// pluginPath is the path of an action on a plugin.
func pluginPath(name, action string) string {
	return strings.Join([]string{api.Base, "plugins", url.PathEscape(name), action}, "/")
}
