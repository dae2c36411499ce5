package main

import (
	"errors"
	"fmt"
	"net/http"
	"net/textproto"
	"net/url"
	"slices"
	"strings"

	"github.com/axsched/ax/pluginapi"
	"github.com/axsched/ax/plugins/internal/webcall"
)

// Values of settings that are words.
const (
	fromParams = "params"

	redirectsSafe   = "safe"
	redirectsNever  = "never"
	redirectsAlways = "always"
)

// settings are what a task gives in `with:`.
type settings struct {
	URL             string             `json:"url" ax:"required,format=uri" doc:"Absolute http or https URL. User, password and query are not shown in errors."`
	Method          string             `json:"method" ax:"enum=GET|HEAD|POST|PUT|PATCH|DELETE|OPTIONS" doc:"Default: POST if there is a body, else GET."`
	Headers         map[string]string  `json:"headers" ax:"secret" doc:"Header fields of the request. Names beginning with X-Ax- are taken."`
	QueryFrom       string             `json:"query_from" ax:"enum=none|params,default=none" doc:"params adds the run's parameters to the query of the URL."`
	Body            string             `json:"body" doc:"Body of the request. Its Content-Type is text/plain unless headers say otherwise."`
	BodyFrom        string             `json:"body_from" ax:"enum=none|params" doc:"params sends the run's parameters as a JSON object. Default: params for POST, PUT and PATCH without body, if there are parameters."`
	ExpectStatus    []string           `json:"expect_status" ax:"min=1,pattern=^[1-5](xx|[0-9][0-9])$" doc:"Statuses that count as success, such as 2xx or 304. Default: 2xx, or 202 if async."`
	Timeout         pluginapi.Duration `json:"timeout" ax:"default=30s,min=1ms" doc:"For one exchange, redirects included. The task's own timeout holds too; if async, that one alone is for the work."`
	FollowRedirects string             `json:"follow_redirects" ax:"enum=safe|never|always,default=safe" doc:"safe follows for GET and HEAD only. always follows for every method: 307 and 308 repeat method and body, 301, 302 and 303 become a GET without body."`
	Async           bool               `json:"async" doc:"The service answers at once and reports the end of the work later, by POST to the URL in the header X-Ax-Callback-Url."`
	BasicAuth       *basicAuth         `json:"basic_auth" doc:"User and password for HTTP basic authentication."`
	BearerToken     string             `json:"bearer_token" ax:"secret" doc:"Token for the header Authorization: Bearer."`
	TLS             webcall.TLS        `json:"tls" doc:"Trust and identity for https."`
}

type basicAuth struct {
	Username string `json:"username" ax:"required" doc:"User name."`
	Password string `json:"password" ax:"required,secret" doc:"Password."`
}

// method is the method to use, given or by default.
func (s *settings) method() string {
	switch {
	case s.Method != "":
		return s.Method
	case s.Body != "" || s.BodyFrom == fromParams:
		return http.MethodPost
	}
	return http.MethodGet
}

// sendsParams says whether parameters, if there are any, make the body.
func (s *settings) sendsParams() bool {
	if s.BodyFrom == "" && s.Body == "" {
		return slices.Contains([]string{http.MethodPost, http.MethodPut, http.MethodPatch}, s.method())
	}
	return s.BodyFrom == fromParams
}

// expected reports whether a status counts as success.
func (s *settings) expected(status int) bool {
	text := fmt.Sprint(status)
	return slices.ContainsFunc(s.expectations(), func(want string) bool {
		return want == text || strings.HasSuffix(want, "xx") && want[0] == text[0]
	})
}

func (s *settings) expectations() []string {
	switch {
	case len(s.ExpectStatus) > 0:
		return s.ExpectStatus
	case s.Async:
		return []string{"202"}
	}
	return []string{"2xx"}
}

// check reports all faults that the schema cannot express, none of which
// quotes a secret.
func (s *settings) check() (*url.URL, error) {
	u, err := webcall.ParseURL(s.URL)
	if err != nil {
		err = fmt.Errorf("url: %w", err)
	}
	errs := []error{err}
	if s.Body != "" && s.BodyFrom == fromParams {
		errs = append(errs, errors.New("body and body_from: params exclude each other"))
	}
	if s.BasicAuth != nil && s.BearerToken != "" {
		errs = append(errs, errors.New("basic_auth and bearer_token exclude each other"))
	}
	for name, value := range s.Headers {
		errs = append(errs, checkHeader(name, value))
	}
	return u, errors.Join(errs...)
}

func checkHeader(name, value string) error {
	if err := webcall.ValidHeader(name, value); err != nil {
		return fmt.Errorf("headers: %w", err)
	}
	canonical := textproto.CanonicalMIMEHeaderKey(name)
	taken := []string{"Content-Length", "Transfer-Encoding", "Connection", "Trailer"}
	if strings.HasPrefix(canonical, ownPrefix) || slices.Contains(taken, canonical) {
		return fmt.Errorf("headers: %s is set by the plugin", name)
	}
	return nil
}
