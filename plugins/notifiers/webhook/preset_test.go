package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/axsched/ax/pluginapi"
)

// presets are their settings beside the URL, and what they answer if all is well.
var presets = map[string]struct {
	settings map[string]any
	status   int
	yes      string
}{
	presetWeCom:     {nil, 200, `{"errcode":0,"errmsg":"ok"}`},
	presetFeishu:    {map[string]any{"secret": "s3cret-bot"}, 200, `{"code":0,"msg":"success","data":{}}`},
	presetTeams:     {nil, 202, ""},
	presetPagerDuty: {map[string]any{"secret": "s3cret-routing-key"}, 202, `{"status":"success","message":"Event processed","dedup_key":"ax"}`},
}

// presetSettings are those of a preset at a URL.
func presetSettings(preset, url string) map[string]any {
	settings := map[string]any{"url": url, "preset": preset}
	maps.Copy(settings, presets[preset].settings)
	return settings
}

// sendPreset sends a message and returns the request.
func sendPreset(t *testing.T, settings map[string]any, msg pluginapi.Message) request {
	t.Helper()
	preset := presets[settings["preset"].(string)]
	url, got := newReceiver(t, func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(preset.status)
		fmt.Fprint(w, preset.yes)
	})
	settings["url"] = url
	if err := newNotifier(t, settings).Notify(t.Context(), msg); err != nil {
		t.Fatal(err)
	}
	return <-got
}

// The bodies are in testdata/presets, where they can be held against the
// documentation of the receivers; UPDATE=1 writes them anew. The message holds
// what would be markup, a link or a call for everybody.
func TestPresetBodies(t *testing.T) {
	t.Parallel()
	msg := message()
	msg.Node, msg.InstanceID = "host-1", "7"
	msg.LastError = "boom <@all> **now** [x](http://x) & `y`\n\tat line 2"
	msg.Text = "Task sync of app shop failed 3 times.\nNewest error:\n" + msg.LastError
	for preset := range presets {
		for _, lang := range []string{"en", "zh"} {
			t.Run(preset+" "+lang, func(t *testing.T) {
				t.Parallel()
				settings := presetSettings(preset, "")
				settings["lang"] = lang
				r := sendPreset(t, settings, msg)
				if r.header.Get(signatureHeader) != "" || r.header.Get("Content-Type") != "application/json" {
					t.Errorf("header %v", r.header)
				}
				var indented bytes.Buffer
				if err := json.Indent(&indented, []byte(r.body), "", "  "); err != nil {
					t.Fatal(err)
				}
				indented.WriteByte('\n')
				compare(t, filepath.Join("testdata", "presets", preset+"."+lang+".json"), indented.Bytes())
			})
		}
	}
}

// compare holds got against a file, or writes it if UPDATE is set.
func compare(t *testing.T, file string, got []byte) {
	t.Helper()
	if os.Getenv("UPDATE") != "" {
		if err := os.WriteFile(file, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s is not what is sent:\n%s", file, got)
	}
}

// Row B90 for the others: whatever is long is cut between two runes, and the
// head stays.
func TestPresetLimits(t *testing.T) {
	t.Parallel()
	limits := map[string]int{presetWeCom: maxWeCom, presetFeishu: maxFeishu, presetTeams: maxTeams, presetPagerDuty: maxPagerDuty}
	for preset, limit := range limits {
		for name, text := range map[string]string{"Chinese": "错", "emoji": "🔥", "escapes": "\"<*_`\\\x01\n", "broken": "a\xff"} {
			t.Run(preset+" "+name, func(t *testing.T) {
				t.Parallel()
				msg := message()
				msg.Text, msg.LastError = "Head.", strings.Repeat(text, 2*maxPagerDuty/len(text))
				body := sendPreset(t, presetSettings(preset, ""), msg).body
				size := len(body)
				if preset == presetWeCom {
					size = len(contentOf(t, body))
				}
				if size > limit || size < limit-100 {
					t.Errorf("%d bytes, the limit is %d", size, limit)
				}
				if !utf8.ValidString(body) || !json.Valid([]byte(body)) || !strings.Contains(body, "…") || !strings.Contains(body, "Head.") || !strings.Contains(body, `sync \"eu\" failed`) {
					t.Errorf("body %.500s", body)
				}
			})
		}
	}
}

func contentOf(t *testing.T, body string) string {
	t.Helper()
	var sent struct{ Text struct{ Content string } }
	if err := json.Unmarshal([]byte(body), &sent); err != nil {
		t.Fatal(err)
	}
	return sent.Text.Content
}

// Names of the greatest length leave no room for anything else.
func TestWeComWithLongNames(t *testing.T) {
	t.Parallel()
	msg := message()
	msg.Task, msg.App, msg.Node = strings.Repeat("名", 300), strings.Repeat("应", 300), strings.Repeat("机", 300)
	settings := presetSettings(presetWeCom, "")
	settings["lang"] = "zh"
	text := contentOf(t, sendPreset(t, settings, msg).body)
	if len(text) > maxWeCom || len(text) < maxWeCom-10 || !utf8.ValidString(text) || !strings.HasPrefix(text, "🔴 名") {
		t.Errorf("%d bytes: %s", len(text), text)
	}
}

// The expected value was computed with
//
//	printf '' | openssl dgst -sha256 -hmac "$(printf '1772359200\ns3cret-bot')" -binary | base64
func TestFeishuSignature(t *testing.T) {
	t.Parallel()
	var sent feishuMessage
	if err := json.Unmarshal([]byte(sendPreset(t, presetSettings(presetFeishu, ""), message()).body), &sent); err != nil {
		t.Fatal(err)
	}
	if sent.Timestamp != "1772359200" || sent.Sign != "4NIbygQha5XtMq7K9x29GPmN0eI0DG1ElYdSTyzuVgI=" {
		t.Errorf("timestamp %s, sign %s", sent.Timestamp, sent.Sign)
	}
	unsigned := sendPreset(t, map[string]any{"preset": presetFeishu}, message()).body
	if strings.Contains(unsigned, `"sign"`) || strings.Contains(unsigned, `"timestamp"`) {
		t.Errorf("body %s", unsigned)
	}
}

// What is told of a task is one alert until it recovers.
func TestPagerDutyAlerts(t *testing.T) {
	t.Parallel()
	sent := func(change func(*pluginapi.Message)) pagerEvent {
		msg := message()
		change(&msg)
		var e pagerEvent
		if err := json.Unmarshal([]byte(sendPreset(t, presetSettings(presetPagerDuty, ""), msg).body), &e); err != nil {
			t.Fatal(err)
		}
		return e
	}
	failed := sent(func(m *pluginapi.Message) {})
	recovered := sent(func(m *pluginapi.Message) { m.ID, m.Event, m.Severity = "m-2", "recovered", "info" })
	if failed.Action != "trigger" || recovered.Action != "resolve" || failed.DedupKey != recovered.DedupKey {
		t.Errorf("%+v and %+v", failed, recovered)
	}
	keys := map[string]bool{failed.DedupKey: true}
	for _, change := range []func(*pluginapi.Message){
		func(m *pluginapi.Message) { m.Task = "other" },
		func(m *pluginapi.Message) { m.App = "bank" },
		func(m *pluginapi.Message) { m.Task, m.ID = "", "m-3" },
		func(m *pluginapi.Message) { m.Task, m.ID = "", "m-4" },
		func(m *pluginapi.Message) { m.Event, m.ID = "test", "m-5" },
	} {
		keys[sent(change).DedupKey] = true
	}
	if len(keys) != 6 || len(failed.DedupKey) > 255 || failed.Payload.Source != "shop" {
		t.Errorf("keys %v", keys)
	}
}
