package serve_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/axsched/ax/pluginapi"
	"github.com/axsched/ax/pluginapi/plugintest"
	pb "github.com/axsched/ax/pluginapi/proto/ax/plugin/v1"
	"github.com/axsched/ax/pluginapi/wire"
)

func TestDescribe(t *testing.T) {
	t.Parallel()
	fastest := time.Hour
	var stdout string
	for range 5 { // the machine may be busy once
		begin := time.Now()
		out, stderr, status := runProbe(t, wire.DescribeFlag)
		fastest = min(fastest, time.Since(begin))
		if status != 0 || stderr != "" {
			t.Fatalf("status %d, stderr %q", status, stderr)
		}
		stdout = out
	}
	if limit := 250 * time.Millisecond; fastest > limit {
		t.Errorf("describing took %s, want at most %s", fastest, limit)
	}
	printed, err := wire.ParseManifest([]byte(stdout))
	if err != nil {
		t.Fatal(err)
	}
	if printed.Name != "probe" || printed.Version != "1.2.3" || len(printed.Components) != 4 {
		t.Errorf("manifest %+v", printed)
	}

	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	told, err := plugintest.Start(t, probe(t)).Client.Plugin.Describe(ctx, &pb.DescribeRequest{})
	if err != nil {
		t.Fatal(err)
	}
	for i, c := range wire.DecodeManifest(told).Components {
		if p := printed.Components[i]; p.Kind != c.Kind || p.Name != c.Name || p.Description != c.Description {
			t.Errorf("component %d is printed as %+v and told as %+v", i, p, c)
		}
	}
}

func TestStartedByHand(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		args           []string
		status         int
		stdout, stderr string // parts
	}{
		"no arguments": {status: 1, stderr: "put it into the plugin directory"},
		"help":         {args: []string{"--help"}, stdout: "trigger   every"},
		"version":      {args: []string{"--version"}, stdout: "probe 1.2.3\n"},
		"unknown":      {args: []string{"--nonsense"}, status: 1, stderr: "put it into the plugin directory"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			stdout, stderr, status := runProbe(t, test.args...)
			if status != test.status {
				t.Errorf("status %d, want %d", status, test.status)
			}
			if !strings.Contains(stdout, test.stdout) || (stdout == "") != (test.stdout == "") {
				t.Errorf("stdout %q, want %q in it", stdout, test.stdout)
			}
			if !strings.Contains(stderr, test.stderr) || (stderr == "") != (test.stderr == "") {
				t.Errorf("stderr %q, want %q in it", stderr, test.stderr)
			}
		})
	}
}

func TestBuiltPlugin(t *testing.T) {
	t.Parallel()
	host := plugintest.Start(t, probe(t))

	crash := host.Job("crash", nil).Run(t.Context(), pluginapi.Fire{})
	problem, ok := errors.AsType[*wire.ProblemError](crash.Err)
	if !ok || problem.Kind != pb.Problem_INTERNAL || !strings.Contains(problem.Stack, "crash.Run") {
		t.Errorf("a panic gave %#v", crash.Err)
	}

	say := host.Job("say", nil).Run(t.Context(), pluginapi.Fire{Attempt: 2})
	if say.Err != nil || say.Result.Data["attempt"] != int64(2) {
		t.Errorf("after a panic: %+v", say)
	}
	plugintest.CheckTrigger(t, host.Trigger("every", map[string]any{"step": "7m"}), time.UTC,
		plugintest.Start(t, probe(t)).Trigger("every", map[string]any{"step": "7m"}))
}

// The plugin that the documentation shows keeps the contract of triggers.
func TestExampleTrigger(t *testing.T) {
	t.Parallel()
	zone, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	host := plugintest.New(t, pluginapi.TriggerOf("month-day", "Due on one day of each month.", NewMonthDay))
	trigger := host.Trigger("month-day", map[string]any{"day": 1}, plugintest.Zone("Europe/Berlin"))
	plugintest.CheckTrigger(t, trigger, zone)
	got, err := trigger.Next(t.Context(), time.Date(2026, 12, 1, 9, 0, 0, 0, zone))
	if want := time.Date(2027, 1, 1, 9, 0, 0, 0, zone); err != nil || !got.Equal(want) {
		t.Errorf("due at %s, %v, want %s", got, err, want)
	}
}
