package host

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/axsched/ax/host/internal/api"
)

// TestNoFaultHidesAnother: what is wrong with a task is told all at once.
func TestNoFaultHidesAnother(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "ax.yaml")
	writeTasks(t, path, `- {name: a, every: 1h, job: {use: exec}}
- {name: a, cron: "0 0 25 * * ?", job: {use: exec}}
- {name: b, cron: "0 0 26 * * ?", timeout: 5, notify: nobody, job: {use: exec}}
`)
	c, err := Check(t.Context(), path, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	var all strings.Builder
	for _, f := range c.Faults {
		all.WriteString(f.String() + "\n")
	}
	for _, want := range []string{
		`:7:10: there is another task "a"`, ":7:24: cron:", ":7:46: no plugin offers", "there is no plugin folder",
		":8:24: cron:", ":8:44: timeout:", ":8:55: notify:", ":8:74: no plugin offers",
	} {
		if !strings.Contains(all.String(), want) {
			t.Errorf("no fault with %q in\n%s", want, all.String())
		}
	}
	if err := os.Mkdir(filepath.Join(filepath.Dir(path), "plugins"), 0o755); err != nil {
		t.Fatal(err)
	}
	empty, err := Check(t.Context(), path, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	defer empty.Close()
	if got := empty.Faults[len(empty.Faults)-1].Message; !strings.Contains(got, "is empty") {
		t.Errorf("of an empty folder: %s", got)
	}
}

// TestPauseThatIsOver: a pause cannot end before it begins.
func TestPauseThatIsOver(t *testing.T) {
	t.Parallel()
	h, _, _ := started(t, "- {name: a, every: 1h, job: {use: exec}}\n")
	err := backend{h}.Pause(t.Context(), "a", time.Now().Add(-time.Minute), "test")
	if invalid, ok := errors.AsType[*api.Invalid](err); !ok || !strings.Contains(invalid.Reason, "is past") {
		t.Errorf("a pause until a minute ago: %v", err)
	}
}
