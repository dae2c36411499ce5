package cli

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"time"

	hostclient "github.com/axsched/ax/host/client"
	"github.com/axsched/ax/host/internal/api"
)

// requestTimeout bounds most requests.
const requestTimeout = 30 * time.Second

// client speaks to a host, and turns what goes wrong into errors with an exit code.
type client struct {
	*hostclient.Client
	base string // http://host:port
}

// get reads an answer into out.
func (c *client) get(ctx context.Context, path string, query url.Values, out any) error {
	return withCode(c.Do(ctx, hostclient.Call{Path: path, Query: query}, out))
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
	return withCode(c.Do(ctx, hostclient.Call{Method: method, Path: path, Body: in}, out))
}

func (c *client) callWithin(ctx context.Context, limit time.Duration, method, path string, in, out any, header http.Header) error {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	return withCode(c.Do(ctx, hostclient.Call{Method: method, Path: path, Body: in, Header: header}, out))
}

// open makes a request and returns its answer if that is a good one.
func (c *client) open(ctx context.Context, method, path string, in any, header http.Header) (*http.Response, error) {
	response, err := c.Open(ctx, hostclient.Call{Method: method, Path: path, Body: in, Header: header})
	return response, withCode(err)
}

// withCode gives errors of the client their exit code.
func withCode(err error) error {
	if away, ok := errors.AsType[*hostclient.UnreachableError](err); ok {
		return &unreachable{away}
	}
	if problem, ok := errors.AsType[*hostclient.ProblemError](err); ok {
		return &refusal{problem}
	}
	return err
}

// taskPath is the path of a task, or of an action on it.
func taskPath(name string, action ...string) string { return hostclient.TaskPath(name, action...) }

// instancePath is the path of an instance, or of a part of it.
func instancePath(id string, part ...string) string { return hostclient.InstancePath(id, part...) }

// pluginPath is the path of an action on a plugin.
func pluginPath(name, action string) string {
	return strings.Join([]string{api.Base, "plugins", url.PathEscape(name), action}, "/")
}
