package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/axsched/ax/pluginapi"
)

// Row B88 for the others: a status of 200 is not yet a message that was taken,
// and codes come with their cure.
func TestPresetAnswers(t *testing.T) {
	t.Parallel()
	unsigned := map[string]any{"secret": ""}
	tests := []struct {
		preset    string
		settings  map[string]any
		status    int
		body      string
		want      string // none: the message was taken
		permanent bool
	}{
		{presetWeCom, nil, 200, `{"errcode":0,"errmsg":"ok"}`, "", false},
		{presetWeCom, nil, 200, `{"errcode":93000,"errmsg":"invalid webhook url, hint: [1]"}`, "errcode 93000: invalid webhook url, hint: [1] (url: is it a webhook that still exists?)", true},
		{presetWeCom, nil, 200, `{"errcode":45009,"errmsg":"api freq out of limit"}`, "errcode 45009: api freq out of limit (others use the robot as well: it takes 20 messages a minute), retry after 1m0s", false},
		{presetWeCom, nil, 200, `{"errcode":40058,"errmsg":"content exceed max length"}`, "errcode 40058: content exceed max length (the receiver does not understand this plugin: is there a newer one?)", true},
		{presetWeCom, nil, 200, `{"errcode":-1,"errmsg":"system busy"}`, "errcode -1: system busy", false},
		{presetWeCom, nil, 200, `<html>log in</html>`, "the answer is not that of a robot of WeCom", false},
		{presetWeCom, nil, 502, ``, "status 502 Bad Gateway", false},
		{presetFeishu, nil, 200, `{"StatusCode":0,"StatusMessage":"success","code":0,"msg":"success"}`, "", false},
		{presetFeishu, nil, 400, `{"code":9499,"msg":"Bad Request","data":{}}`, "code 9499: Bad Request (the receiver does not understand this plugin: is there a newer one?)", true},
		{presetFeishu, nil, 200, `{"code":19001,"msg":"param invalid: incoming webhook access token invalid"}`, "code 19001: param invalid: incoming webhook access token invalid (url: is it a webhook that still exists?)", true},
		{presetFeishu, nil, 200, `{"code":19021,"msg":"sign match fail"}`, "code 19021: sign match fail (secret: is it the key of this very bot, and is the clock of this host right?)", false},
		{presetFeishu, unsigned, 200, `{"code":19021,"msg":"sign match fail"}`, "code 19021: sign match fail (the bot demands a signature: set secret to its key)", true},
		{presetFeishu, nil, 200, `{"code":19022,"msg":"Ip Not Allowed"}`, "code 19022: Ip Not Allowed (add the public address of this host to the bot's security setting)", true},
		{presetFeishu, nil, 200, `{"code":11232,"msg":"frequency limited"}`, "code 11232: frequency limited (others use the bot as well: it takes 100 messages a minute), retry after 1m0s", false},
		{presetTeams, nil, 202, ``, "", false},
		{presetTeams, nil, 200, `1`, "", false},
		{presetTeams, nil, 200, `Webhook message delivery failed with error: Microsoft Teams endpoint returned HTTP error 429 with ContextId x`, "HTTP error 429: Webhook message delivery failed with error: Microsoft Teams endpoint returned HTTP error 429 with ContextId x, retry after 1m0s", false},
		{presetTeams, nil, 200, `failed: endpoint returned HTTP error 413`, "HTTP error 413: failed: endpoint returned HTTP error 413 (the message is too long)", true},
		{presetTeams, nil, 200, `failed: endpoint returned HTTP error 404`, "HTTP error 404: failed: endpoint returned HTTP error 404 (url: is it a webhook that still exists?)", true},
		{presetTeams, nil, 200, `failed: endpoint returned HTTP error 503`, "HTTP error 503: failed: endpoint returned HTTP error 503", false},
		{presetTeams, nil, 401, `DirectApiAuthorizationRequired`, "status 401 Unauthorized: DirectApiAuthorizationRequired", true},
		{presetPagerDuty, nil, 202, `{"status":"success"}`, "", false},
		{presetPagerDuty, nil, 400, `{"status":"invalid event","message":"Event object is invalid","errors":["'routing_key' is invalid"]}`, "status 400: Event object is invalid: 'routing_key' is invalid (secret: is it the integration key of a service?)", true},
		{presetPagerDuty, nil, 400, `nginx`, "status 400 Bad Request: nginx", true},
		{presetPagerDuty, nil, 429, ``, "status 429: too many events, retry after 1m0s", false},
		{presetPagerDuty, nil, 503, ``, "status 503 Service Unavailable", false},
	}
	for _, tt := range tests {
		t.Run(fmt.Sprintf("%s %d %s", tt.preset, tt.status, tt.body), func(t *testing.T) {
			t.Parallel()
			url, _ := newReceiver(t, func(w http.ResponseWriter, _ *http.Request) {
				w.WriteHeader(tt.status)
				fmt.Fprint(w, tt.body)
			})
			settings := presetSettings(tt.preset, url)
			maps.Copy(settings, tt.settings)
			err := newNotifier(t, settings).Notify(t.Context(), message())
			if tt.want == "" {
				if err != nil {
					t.Errorf("error %v", err)
				}
				return
			}
			if want := "POST " + url + ": " + tt.want; err == nil || err.Error() != want || pluginapi.IsPermanent(err) != tt.permanent {
				t.Errorf("error %v, permanent %v, want %s", err, pluginapi.IsPermanent(err), want)
			}
		})
	}
}

// inProcess hands requests to a handler without a network, which synctest
// could not see through.
type inProcess http.HandlerFunc

func (p inProcess) RoundTrip(req *http.Request) (*http.Response, error) {
	w := httptest.NewRecorder()
	p(w, req)
	return w.Result(), nil
}

// buildOver makes a notifier whose requests go to a handler.
func buildOver(t *testing.T, handle http.HandlerFunc, settings map[string]any) pluginapi.Notifier {
	t.Helper()
	raw, err := json.Marshal(settings)
	if err != nil {
		t.Fatal(err)
	}
	built, err := component(inProcess(handle), time.Now).Build(raw, pluginapi.Env{})
	if err != nil {
		t.Fatal(err)
	}
	return built.(pluginapi.Notifier)
}

// Row B54 for the others: thirty messages at once, and each receiver gets them
// at the pace that it can bear.
func TestPresetPaces(t *testing.T) {
	t.Parallel()
	for preset, took := range map[string]time.Duration{presetWeCom: time.Minute, presetFeishu: 15 * time.Second, presetTeams: 7 * time.Second, presetPagerDuty: 0, "": 0} {
		t.Run(preset, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				settings := presetSettings(preset, "https://h.example/hook")
				if preset == "" {
					delete(settings, "preset")
				}
				n := buildOver(t, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, `{"errcode":0,"code":0}`) }, settings)
				start := time.Now()
				for range 30 {
					if err := n.Notify(t.Context(), message()); err != nil {
						t.Fatal(err)
					}
				}
				if got := time.Since(start); got != took {
					t.Errorf("thirty messages took %v, want %v", got, took)
				}
			})
		})
	}
}

// Whoever is told to wait asks no more until then, and goes on afterwards.
func TestWaitingIsObeyed(t *testing.T) {
	t.Parallel()
	tests := map[string]http.HandlerFunc{
		"": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", "60")
			w.WriteHeader(http.StatusTooManyRequests)
		},
		presetWeCom:     func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, `{"errcode":45009}`) },
		presetFeishu:    func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, `{"code":11232}`) },
		presetTeams:     func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "returned HTTP error 429") },
		presetPagerDuty: func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTooManyRequests) },
	}
	for preset, refuse := range tests {
		t.Run(preset, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				settings := presetSettings(preset, "https://h.example/hook")
				if preset == "" {
					delete(settings, "preset")
				}
				calls := 0
				n := buildOver(t, func(w http.ResponseWriter, r *http.Request) {
					if calls++; calls == 1 {
						refuse(w, r)
						return
					}
					fmt.Fprint(w, `{"errcode":0,"code":0}`)
				}, settings)
				notify := func() error {
					ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
					defer cancel()
					return n.Notify(ctx, message())
				}
				for _, want := range []string{"retry after 1m0s", "retry after 50s", "retry after 40s"} {
					err := notify()
					if err == nil || pluginapi.IsPermanent(err) || !strings.HasSuffix(err.Error(), want) {
						t.Errorf("error %v, want %s", err, want)
					}
					if told := "retry after " + pluginapi.RetryWait(err).String(); told != want {
						t.Errorf("the host is told %s, want %s", told, want)
					}
					time.Sleep(10 * time.Second)
				}
				time.Sleep(30 * time.Second)
				if err := notify(); err != nil || calls != 2 {
					t.Errorf("error %v after %d calls", err, calls)
				}
			})
		})
	}
}

// Where a code says yes, half an answer does not.
func TestBrokenAnswerIsNoYes(t *testing.T) {
	t.Parallel()
	broken := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "100")
		fmt.Fprint(w, `{"errcode":0`)
	})
	for preset, taken := range map[string]bool{presetWeCom: false, presetFeishu: false, presetTeams: true, presetPagerDuty: true} {
		url, _ := newReceiver(t, broken)
		err := newNotifier(t, presetSettings(preset, url)).Notify(t.Context(), message())
		if (err == nil) != taken || errors.Is(err, context.Canceled) || pluginapi.IsPermanent(err) {
			t.Errorf("%s: error %v", preset, err)
		}
	}
}
