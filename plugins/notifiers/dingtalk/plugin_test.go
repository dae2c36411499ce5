package main

import (
	"net/http"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/axsched/ax/pluginapi"
	"github.com/axsched/ax/pluginapi/plugintest"
)

func TestSettingsFaults(t *testing.T) {
	t.Parallel()
	const url = "https://oapi.dingtalk.com/robot/send?access_token=s3cret"
	tests := []struct {
		url      string
		settings map[string]any
		want     string
	}{
		{"oapi.dingtalk.com/s3cret", nil, "url: expected a URL beginning with http"},
		{url, map[string]any{"type": "html"}, "type: expected text, markdown or actionCard"},
		{url, map[string]any{"at_mobiles": []string{"@all"}}, "at_mobiles"},
		{url, map[string]any{"at_on": "never"}, "at_on: expected error or always"},
		{url, map[string]any{"lang": "de"}, "lang: expected en or zh"},
		{url, map[string]any{"type": "actionCard"}, "link: is required for an actionCard"},
		{url, map[string]any{"type": "actionCard", "link": "https://h/{{.Titel}}"}, "can't evaluate field Titel"},
		{url, map[string]any{"type": "actionCard", "link": "https://h/{{.Title"}, "unclosed action"},
		{url, map[string]any{"type": "actionCard", "link": "h/{{.ID}}"}, "link: expected a URL beginning with http"},
		{url, map[string]any{"type": "actionCard", "link": "https://h", "at_all": true}, "an actionCard mentions nobody"},
	}
	for _, tt := range tests {
		t.Run(tt.want, func(t *testing.T) {
			t.Parallel()
			_, err := build(component(http.DefaultTransport, now), tt.url, tt.settings)
			if err == nil || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "s3cret") {
				t.Errorf("error %v, want %q", err, tt.want)
			}
		})
	}
}

// The built plugin as a host sees it: described, started, called.
func TestBuiltPlugin(t *testing.T) {
	t.Parallel()
	binary := filepath.Join(t.TempDir(), "ax-plugin-dingtalk")
	if out, err := exec.Command("go", "build", "-o", binary, ".").CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	out, err := exec.Command(binary, "--ax-describe").Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"name": "dingtalk"`, `"kind": "notifier"`, `"at_mobiles"`, `"writeOnly": true`} {
		if !strings.Contains(string(out), want) {
			t.Errorf("no %s in %s", want, out)
		}
	}
	host := plugintest.Start(t, binary)
	r := new(robot)
	url := r.start(t)
	if err := host.Notifier("dingtalk", map[string]any{"url": url}).Notify(t.Context(), message()); err != nil {
		t.Fatal(err)
	}
	if got, body := r.last(); got.Markdown == nil || got.Markdown.Title != "🔴 sync_eu failed 3 times" {
		t.Errorf("body %s", body)
	}
	err = host.Notifier("dingtalk", map[string]any{"url": strings.Replace(url, token, "other", 1)}).Notify(t.Context(), message())
	if !pluginapi.IsPermanent(err) || !strings.Contains(err.Error(), "errcode 300001") {
		t.Errorf("error %v", err)
	}
}
