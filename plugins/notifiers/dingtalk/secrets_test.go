package main

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// transport answers requests in process.
type transport func(*http.Request) (*http.Response, error)

func (t transport) RoundTrip(req *http.Request) (*http.Response, error) { return t(req) }

type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

func answered(status int, format, told string) (*http.Response, error) {
	w := httptest.NewRecorder()
	w.WriteHeader(status)
	fmt.Fprintf(w, format, told)
	return w.Result(), nil
}

// Row B86: whatever goes wrong, neither the token nor the key nor a signature
// shows up in the error, even if DingTalk, or a proxy on the way, quotes all of
// the request.
func TestSecretsAreNeverShown(t *testing.T) {
	t.Parallel()
	for name, answer := range map[string]func(told string) (*http.Response, error){
		"no connection": func(told string) (*http.Response, error) { return nil, errors.New("dial for " + told + ": refused") },
		"breaks off": func(told string) (*http.Response, error) {
			return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(failing{errors.New(told)})}, nil
		},
		"security": func(told string) (*http.Response, error) {
			return answered(200, `{"errcode":310000,"errmsg":%q}`, told)
		},
		"token": func(told string) (*http.Response, error) {
			return answered(200, `{"errcode":300001,"errmsg":%q}`, told)
		},
		"too fast": func(told string) (*http.Response, error) {
			return answered(200, `{"errcode":130101,"errmsg":%q}`, told)
		},
		"unknown":   func(told string) (*http.Response, error) { return answered(200, `{"errcode":7,"errmsg":%q}`, told) },
		"log in":    func(told string) (*http.Response, error) { return answered(200, "<html>%s", told) },
		"forbidden": func(told string) (*http.Response, error) { return answered(403, "%s", told) },
		"down":      func(told string) (*http.Response, error) { return answered(502, "%s", told) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var signature string
			n, err := build(component(transport(func(req *http.Request) (*http.Response, error) {
				signature = req.URL.Query().Get("sign")
				return answer(fmt.Sprintf("%s, token %s, key %s, sign %s", req.URL, req.URL.Query().Get("access_token"), secret, signature))
			}), time.Now), "https://oapi.dingtalk.example/robot/send?access_token=s3cret%2Ftoken", map[string]any{"secret": secret})
			if err != nil {
				t.Fatal(err)
			}
			err = n.Notify(t.Context(), message())
			if err == nil || !strings.HasPrefix(err.Error(), "POST https://oapi.dingtalk.example: ") || strings.Contains(err.Error(), "s3cret") {
				t.Errorf("error %v", err)
			}
			if signature == "" || strings.Contains(err.Error(), signature) {
				t.Errorf("the signature %q is shown: %v", signature, err)
			}
		})
	}
}
