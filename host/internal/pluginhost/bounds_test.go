package pluginhost

import (
	"errors"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/axsched/ax/host/internal/ax"
)

// TestPluginsAreBrief has a plugin say everything in 800,000 bytes.
func TestPluginsAreBrief(t *testing.T) {
	t.Parallel()
	th := newHost(t, nil)
	th.put(filePrefix+"wordy", "bad")
	th.start()
	check := func(what, text string, limit int) {
		t.Helper()
		if len(text) > limit || !strings.Contains(text, "bytes cut]") || !utf8.ValidString(text) {
			t.Errorf("%s: %d bytes, want at most %d with the mark of a cut: %.80s", what, len(text), limit, text)
		}
	}
	var progress string
	out := th.Job(Spec{Use: "wordy/silent"}).Run(t.Context(), request(), func(o ax.Output) {
		if o.Progress != nil {
			progress = o.Progress.Message
		}
	})
	const mark = 100 // and a few words around it
	check("error of a run", out.Error, maxText+maxStack+2*mark)
	check("message of a run", out.Message, maxText+mark)
	check("progress", progress, maxText+mark)
	_, _, err := th.Trigger(Spec{Use: "wordy/lie", Zone: time.UTC}).Next(t.Context(), time.Now(), time.Now().Add(time.Hour), 1)
	if err == nil {
		t.Fatal("the trigger had nothing to say")
	}
	check("error of a trigger", err.Error(), maxText+mark)
	if log := th.log.String(); len(log) > 20*maxStack {
		t.Errorf("the log has %d bytes", len(log))
	}
}

func TestBoundedErrors(t *testing.T) {
	t.Parallel()
	plain := errors.New(strings.Repeat("x", 2*maxText))
	if got := boundedError(plain); !errors.Is(got, plain) {
		t.Errorf("an error of the host itself became %v", got)
	}
	long := status.Error(codes.Internal, strings.Repeat("x", 2*maxText))
	if got := boundedError(long); status.Code(got) != codes.Internal || len(got.Error()) > maxText+100 {
		t.Errorf("code %s, %d bytes", status.Code(got), len(got.Error()))
	}
}
