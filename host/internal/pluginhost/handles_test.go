package pluginhost

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/axsched/ax/host/internal/ax"
	"github.com/axsched/ax/pluginapi"
	"github.com/axsched/ax/pluginapi/wire"
)

func TestNotifierParamsAndListener(t *testing.T) {
	t.Parallel()
	th := startHost(t, "ax-plugin-alpha", "good", Policy{})
	file := filepath.Join(t.TempDir(), "notes")
	settings := fmt.Appendf(nil, `{"file":%q}`, file)

	message := pluginapi.Message{ID: "1", Title: "report failed", Count: 3, First: time.Unix(1, 0)}
	if _, err := th.Notifier(Spec{Use: "note", Settings: settings}).Notify(t.Context(), message); err != nil {
		t.Errorf("Notify: %v", err)
	}
	if _, err := th.Notifier(Spec{Use: "note"}).Notify(t.Context(), message); !pluginapi.IsPermanent(err) {
		t.Errorf("Notify = %v, want a permanent error", err)
	}
	listener := th.Listener(Spec{Use: "ear", Settings: settings})
	if err := listener.Notice(t.Context(), wire.EventBefore, request(), nil); err != nil {
		t.Errorf("Notice before: %v", err)
	}
	outcome := ax.Outcome{Status: ax.StatusFailed, Data: []byte(`{"rows":7}`), WillRetry: true}
	if err := listener.Notice(t.Context(), wire.EventAfter, request(), &outcome); err != nil {
		t.Errorf("Notice after: %v", err)
	}
	raw, err := os.ReadFile(file)
	want := "report failed x3\nbefore report\nafter report FAILED {\"rows\":7} retry=true\n"
	if err != nil || string(raw) != want {
		t.Errorf("written: %q, %v, want %q", raw, err, want)
	}

	params, err := th.Params(Spec{Use: "given", Settings: []byte(`{"day":"monday"}`)}).Resolve(t.Context(), request())
	if want := `{"day":"monday","due":"2023-11-14T23:13:20+01:00"}`; err != nil || string(params) != want {
		t.Errorf("Resolve = %s, %v, want %s", params, err, want)
	}
	if params, err := th.Params(Spec{Use: "given"}).Resolve(t.Context(), request()); err != nil || params != nil {
		t.Errorf("Resolve = %s, %v, want none", params, err)
	}
}
