package host

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/axsched/ax/pluginapi"
)

// configured returns a host that was made of a configuration and not started,
// and its log.
func configured(t *testing.T, yaml string) (*Host, *bytes.Buffer) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "config.yaml")
	if err := os.WriteFile(path, []byte(yaml), 0o600); err != nil {
		t.Fatal(err)
	}
	log := &bytes.Buffer{}
	h, err := New(Options{Config: path, Log: hclog.New(&hclog.LoggerOptions{Output: log})})
	if err != nil {
		t.Fatal(err)
	}
	return h, log
}

func TestLogNotifier(t *testing.T) {
	t.Parallel()
	h, log := configured(t, `
app: demo
notifiers:
  ops: {use: log}
  odd: {use: log, with: {color: red}}
`)
	faults := h.live.Load().cfg.CheckComponents(h.catalog())
	if len(faults) != 1 || !strings.Contains(faults[0].Message, "color") {
		t.Errorf("faults %v, want one about color", faults)
	}
	h.redactor.Set([]string{"hunter2"})
	at := time.Date(2026, 3, 1, 10, 0, 0, 0, time.UTC)
	for severity, level := range map[string]string{"error": "[ERROR]", "warning": "[WARN]", "info": "[INFO]"} {
		log.Reset()
		_, err := h.notify(t.Context(), "ops", pluginapi.Message{
			ID: "7", Task: "report", Event: "failed", Severity: severity, Title: "report failed",
			Text: "login with hunter2 refused", Count: 1, First: at, Last: at,
		})
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{level, "report failed", "notifier=ops", "login with [secret] refused"} {
			if !strings.Contains(log.String(), want) {
				t.Errorf("%s: the log does not have %q:\n%s", severity, want, log)
			}
		}
	}
	_, err := h.notify(t.Context(), "gone", pluginapi.Message{})
	if err == nil || pluginapi.IsPermanent(err) {
		t.Errorf("a notifier that is not configured: %v, want an error that may pass", err)
	}
}
