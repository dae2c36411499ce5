package plugintest_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/axsched/ax/pluginapi"
	"github.com/axsched/ax/pluginapi/plugintest"
)

// Hello is a job with one setting.
type Hello struct {
	Name string `json:"name" ax:"required"`
}

// Run does one run.
func (h Hello) Run(_ context.Context, run *pluginapi.Run) (pluginapi.Result, error) {
	fmt.Fprintln(run.Output, "hello,", h.Name)
	return pluginapi.Result{Message: "greeted " + h.Name}, nil
}

// TestHello is what the test of a job looks like.
func TestHello(t *testing.T) {
	t.Parallel()
	host := plugintest.New(t, pluginapi.JobOf("hello", "Greets.",
		func(h Hello, _ pluginapi.Env) (pluginapi.Job, error) { return h, nil }))

	got := host.Job("hello", Hello{Name: "ax"}).Run(t.Context(), pluginapi.Fire{ScheduledAt: time.Unix(0, 0).UTC()})
	if got.Err != nil || got.Result.Message != "greeted ax" || got.Lines[0].Text != "hello, ax" {
		t.Errorf("got %+v", got)
	}
	if _, err := host.Prepare(pluginapi.KindJob, "hello", nil); err == nil {
		t.Error("a missing name was taken")
	}
}
