package main

import (
	"encoding/base64"
	"encoding/json"
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

// talkative are receivers that fail with all that they know of a request.
var talkative = map[string]func(req *http.Request, told string) (*http.Response, error){
	"no connection": func(_ *http.Request, told string) (*http.Response, error) {
		return nil, fmt.Errorf("dial with %s: refused", told)
	},
	"breaks off": func(_ *http.Request, told string) (*http.Response, error) {
		return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(failing{errors.New(told)})}, nil
	},
	"refuses":    answered(http.StatusForbidden, "no: %s"),
	"limits":     answered(http.StatusTooManyRequests, "too many of %s"),
	"redirects":  answered(http.StatusFound, "go with %s elsewhere"),
	"errcode":    answered(http.StatusOK, `{"errcode":93000,"errmsg":%q}`),
	"code":       answered(http.StatusOK, `{"code":19021,"msg":%q}`),
	"connector":  answered(http.StatusOK, "%s: returned HTTP error 400"),
	"bad event":  answered(http.StatusBadRequest, `{"message":%q,"errors":[]}`),
	"log in":     answered(http.StatusOK, "<html>%s"),
	"internally": answered(http.StatusInternalServerError, "%s"),
}

type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

func answered(status int, format string) func(*http.Request, string) (*http.Response, error) {
	return func(_ *http.Request, told string) (*http.Response, error) {
		w := httptest.NewRecorder()
		w.Header().Set("Location", "https://h.example/s3cret-location")
		w.WriteHeader(status)
		fmt.Fprintf(w, format, told)
		return w.Result(), nil
	}
}

type transport func(*http.Request) (*http.Response, error)

func (t transport) RoundTrip(req *http.Request) (*http.Response, error) { return t(req) }

// Row B86: whatever goes wrong, neither the URL's path and query, nor its
// password in any form, nor header values, nor the key show up in the error,
// even if the receiver quotes all of its request.
func TestSecretsAreNeverShown(t *testing.T) {
	t.Parallel()
	basic := base64.StdEncoding.EncodeToString([]byte("me:s3cret-password"))
	for kind, answer := range talkative {
		for _, preset := range []string{"", presetWeCom, presetFeishu, presetTeams, presetPagerDuty} {
			t.Run(kind+" "+preset, func(t *testing.T) {
				t.Parallel()
				settings := map[string]any{
					"url":     "https://me:s3cret-password@h.example/services/s3cret-path/s3cret%20end?sign=s3cret%2Fquery",
					"headers": map[string]string{"X-Key": "s3cret-key"},
				}
				if preset != "" {
					settings["preset"] = preset
				}
				if preset != presetWeCom && preset != presetTeams {
					settings["secret"] = "s3cret-sign"
				}
				raw, err := json.Marshal(settings)
				if err != nil {
					t.Fatal(err)
				}
				built, err := component(transport(func(req *http.Request) (*http.Response, error) {
					told := fmt.Sprintf("%s %s %s %v %v me:s3cret-password", req.URL, req.URL.Path, req.URL.Query().Get("sign"), req.Header, settings["secret"])
					return answer(req, told)
				}), time.Now).Build(raw, pluginapi.Env{})
				if err != nil {
					t.Fatal(err)
				}
				err = built.(pluginapi.Notifier).Notify(t.Context(), message())
				if err == nil {
					if preset == "" || preset == presetTeams || preset == presetPagerDuty {
						return // by their status these were taken
					}
					t.Fatal("no error")
				}
				if text := err.Error(); !strings.HasPrefix(text, "POST https://h.example: ") || strings.Contains(text, "s3cret") || strings.Contains(text, basic) || strings.Contains(text, "services") {
					t.Errorf("error %v", err)
				}
			})
		}
	}
}
