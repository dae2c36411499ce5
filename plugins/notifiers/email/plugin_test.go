package main

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/axsched/ax/pluginapi"
	"github.com/axsched/ax/pluginapi/plugintest"
)

func TestDefaultMode(t *testing.T) {
	t.Parallel()
	for port, want := range map[int]string{25: modeTry, 465: modeTLS, 587: modeSTARTTLS, 2525: modeSTARTTLS} {
		if got := (&settings{Port: port}).mode(); got != want {
			t.Errorf("port %d: %s, want %s", port, got, want)
		}
	}
	if got := (&settings{Port: 465, Mode: modeSTARTTLS}).mode(); got != modeSTARTTLS {
		t.Errorf("a given mode became %s", got)
	}
}

func TestSettingsFaults(t *testing.T) {
	t.Parallel()
	empty := filepath.Join(t.TempDir(), "empty.pem")
	if err := os.WriteFile(empty, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		key   string
		value any
		want  string
	}{
		{"host", "", "host: expected at least 1 character"},
		{"port", 70000, "port: expected at most 65535"},
		{"mode", "ssl", "mode: expected none, starttls or tls"},
		{"auth", "ntlm", "auth: expected auto, plain"},
		{"lang", "de", "lang: expected en or zh"},
		{"to", []string{}, "to: expected at least 1 element"},
		{"to", []string{"ops"}, `to: "ops" is no mail address`},
		{"from", "a@b\r\nBcc: c@d", "from: "},
		{"bcc", []string{"a@b", "x\r\nRCPT TO:<c@d>"}, "bcc: "},
		{"password", "s3cret", "username and password need each other"},
		{"hello_name", "a\r\nb", "hello_name: expected a host name"},
		{"tls", map[string]any{"ca_file": "/no/such/file"}, "tls.ca_file: open /no/such/file"},
		{"tls", map[string]any{"ca_file": empty}, "tls.ca_file: no certificate"},
		{"tls", map[string]any{"server_name": "x"}, "tls: makes no sense with mode: none"},
		{"subject", "{{.Titel}}", "can't evaluate field Titel"},
		{"text", "{{.Title", "text:1: unclosed action"},
		{"html", "<a href={{.Title}}", "html"},
	}
	for _, tt := range tests {
		t.Run(tt.want, func(t *testing.T) {
			t.Parallel()
			_, err := build(map[string]any{tt.key: tt.value}, io.Discard)
			if err == nil || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "s3cret") {
				t.Errorf("error %v, want %q", err, tt.want)
			}
		})
	}
}

// The built plugin as a host sees it: described, started, called.
func TestBuiltPlugin(t *testing.T) {
	t.Parallel()
	binary := filepath.Join(t.TempDir(), "ax-plugin-email")
	if out, err := exec.Command("go", "build", "-o", binary, ".").CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	out, err := exec.Command(binary, "--ax-describe").Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"name": "email"`, `"kind": "notifier"`, `"starttls"`, `"writeOnly": true`} {
		if !strings.Contains(string(out), want) {
			t.Errorf("no %s in %s", want, out)
		}
	}
	host := plugintest.Start(t, binary)
	box := new(mailbox).start(t, modeNone, authority{})
	settings := map[string]any{"host": "127.0.0.1", "port": box.port, "mode": modeNone, "from": "ax@example.com", "to": []string{"ops@example.com"}}
	if err := host.Notifier("email", settings).Notify(t.Context(), message()); err != nil {
		t.Fatal(err)
	}
	if letter := read(t, box.one().raw); letter.subject != "[shop] sync failed 3 times" {
		t.Errorf("subject %q", letter.subject)
	}
	settings["mode"] = modeSTARTTLS
	if err := host.Notifier("email", settings).Notify(t.Context(), message()); !pluginapi.IsPermanent(err) {
		t.Errorf("error %v", err)
	}
	settings["to"] = []string{"nobody"}
	if _, err := host.Prepare(pluginapi.KindNotifier, "email", settings); err == nil || !strings.Contains(err.Error(), `to: "nobody"`) {
		t.Errorf("error %v", err)
	}
}
