package main

import (
	"encoding/json"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/axsched/ax/pluginapi"
	"github.com/axsched/ax/pluginapi/plugintest"
)

// TestRun calls the job over gRPC in this process.
func TestRun(t *testing.T) {
	t.Parallel()
	host := plugintest.New(t, components()...)
	dir := t.TempDir()
	for name, test := range map[string]struct {
		settings  Settings
		message   string
		fault     string
		permanent bool
	}{
		"room":    {settings: Settings{Paths: []string{dir, "/proc"}}, message: "2 file systems have room"},
		"no room": {settings: Settings{Paths: []string{dir}, Percent: 100}, fault: dir + " has "},
		"missing": {settings: Settings{Paths: []string{dir + "/none"}}, fault: "look at " + dir + "/none", permanent: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := host.Job("diskfree", test.settings).Run(t.Context(), pluginapi.Fire{})
			if got.Result.Message != test.message {
				t.Errorf("message %q, expected %q", got.Result.Message, test.message)
			}
			if test.fault == "" {
				if got.Err != nil || len(got.Progress) == 0 || fmt.Sprint(got.Result.Data["/proc"]) != "100" {
					t.Errorf("attempt %+v", got)
				}
				return
			}
			if got.Err == nil || !strings.HasPrefix(got.Err.Error(), test.fault) || pluginapi.IsPermanent(got.Err) != test.permanent {
				t.Errorf("error %v (permanent %t), expected %q (permanent %t)", got.Err, pluginapi.IsPermanent(got.Err), test.fault, test.permanent)
			}
		})
	}
}

func TestSettings(t *testing.T) {
	t.Parallel()
	host := plugintest.New(t, components()...)
	for _, test := range []struct{ settings, fault string }{
		{`{"paths": ["/"]}`, ""},
		{`{}`, "paths"},
		{`{"paths": ["data"]}`, "not an absolute path"},
		{`{"paths": ["/"], "percent": 101}`, "percent"},
		{`{"paths": ["/"], "percentage": 5}`, "percentage"},
	} {
		_, err := host.Prepare(pluginapi.KindJob, "diskfree", json.RawMessage(test.settings))
		if (err == nil) != (test.fault == "") || err != nil && !strings.Contains(err.Error(), test.fault) {
			t.Errorf("%s: %v, expected %q", test.settings, err, test.fault)
		}
	}
}

// TestBinary does what a host does: it builds, starts and calls the program.
func TestBinary(t *testing.T) {
	t.Parallel()
	binary := filepath.Join(t.TempDir(), "ax-plugin-diskfree")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-buildvcs=false", "-o", binary, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	got := plugintest.Start(t, binary).Job("diskfree", Settings{Paths: []string{"/"}, Percent: 0}).Run(t.Context(), pluginapi.Fire{})
	if got.Err != nil {
		t.Error(got.Err)
	}
}
