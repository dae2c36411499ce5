package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/axsched/ax/pluginapi"
)

// talkative fails with all that it knows of a request.
type talkative func(told string) (*http.Response, error)

func (f talkative) RoundTrip(req *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return nil, err
	}
	req.Body = io.NopCloser(bytes.NewReader(body))
	if err := req.ParseForm(); err != nil {
		return nil, err
	}
	return f(fmt.Sprintf("%s %s token %s %v", req.URL, req.URL.Path, req.PostForm.Get("token"), req.Header))
}

type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

func answered(status int, retryAfter, format, told string) (*http.Response, error) {
	w := httptest.NewRecorder()
	w.Header().Set("Retry-After", retryAfter)
	w.WriteHeader(status)
	fmt.Fprintf(w, format, told)
	return w.Result(), nil
}

// Row B86: whatever goes wrong, neither the token nor the webhook's path shows
// up in the error or in the log, even if Slack, or a proxy on the way, quotes
// all of the request.
func TestSecretsAreNeverShown(t *testing.T) {
	t.Parallel()
	for name, fail := range map[string]talkative{
		"no connection": func(told string) (*http.Response, error) { return nil, errors.New("dial for " + told + ": refused") },
		"breaks off": func(told string) (*http.Response, error) {
			return &http.Response{StatusCode: http.StatusForbidden, Body: io.NopCloser(failing{errors.New(told)})}, nil
		},
		"refuses": func(told string) (*http.Response, error) { return answered(200, "", `{"ok":false,"error":%q}`, told) },
		"scope": func(told string) (*http.Response, error) {
			return answered(200, "", `{"ok":false,"error":"missing_scope","needed":%q}`, told)
		},
		"details": func(told string) (*http.Response, error) {
			return answered(200, "", `{"ok":false,"error":"invalid_blocks","response_metadata":{"messages":[%q]}}`, told)
		},
		"forbidden": func(told string) (*http.Response, error) { return answered(403, "", "%s", told) },
		"limits":    func(told string) (*http.Response, error) { return answered(429, "7", "%s", told) },
		"for ever":  func(told string) (*http.Response, error) { return answered(429, "", "%s", told) },
		"down":      func(told string) (*http.Response, error) { return answered(503, "", "%s", told) },
		"log in":    func(told string) (*http.Response, error) { return answered(200, "", "<html>%s", told) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := component(fail, time.Now)
			b, log := newBot(t, c, nil)
			for _, n := range []pluginapi.Notifier{b, newHook(t, c, nil)} {
				err := n.Notify(t.Context(), message())
				if _, hooks := n.(*hook); hooks && (name == "refuses" || name == "scope" || name == "details") {
					continue // a webhook's status says it all
				}
				if err == nil || strings.Contains(err.Error()+log.String(), "s3cret") {
					t.Errorf("error %v, log %s", err, log.String())
				}
			}
		})
	}
}

// What is only logged shows no secret either.
func TestSecretsAreNotLogged(t *testing.T) {
	t.Parallel()
	s := &workspace{t: t}
	s.refuse = func(w http.ResponseWriter, method string) bool {
		if method == "chat.update" {
			fmt.Fprintf(w, `{"ok":false,"error":"fatal_error %s"}`, testToken)
		}
		return method == "chat.update"
	}
	h := newKeepingHost(s, nil)
	h.mustSend(t, message())
	h.mustSend(t, recovery())
	if text := h.log; !strings.Contains(text, "fatal_error [hidden]") || strings.Contains(text, "s3cret") {
		t.Errorf("log %s", text)
	}
}
