package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/axsched/ax/pluginapi"
	"github.com/axsched/ax/pluginapi/plugintest"
)

// The same as a host sees it: over gRPC, with the run's deadline and Cancel.
func TestOverTheWire(t *testing.T) {
	t.Parallel()
	r := &runner{host: hostEnv, guard: &guard{}}
	host := plugintest.New(t, pluginapi.JobOf("exec", "Runs a command.", r.newExec))
	fire := pluginapi.Fire{Task: "sync", InstanceID: t.Name(), Params: map[string]any{"n": 3}}

	t.Run("success", func(t *testing.T) {
		job := host.Job("exec", map[string]any{"shell": `echo "n is $AX_PARAM_N"; echo '::ax-result {"n": 3}'`}, plugintest.Zone("Asia/Tokyo"))
		got := job.Run(t.Context(), fire)
		if got.Err != nil || got.Result.Message != "n is 3" || fmt.Sprint(got.Result.Data["exit_code"], got.Result.Data["n"]) != "0 3" {
			t.Errorf("attempt %+v", got)
		}
		if len(got.Lines) != 2 || got.Lines[0].Level != "output" || got.Lines[0].Text != "n is 3" {
			t.Errorf("lines %+v", got.Lines)
		}
	})
	t.Run("permanent failure", func(t *testing.T) {
		got := host.Job("exec", map[string]any{"command": []string{"no-such-program-x"}}).Run(t.Context(), fire)
		if !pluginapi.IsPermanent(got.Err) {
			t.Errorf("error %v", got.Err)
		}
	})
	t.Run("deadline", func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
		defer cancel()
		begin := time.Now()
		got := host.Job("exec", map[string]any{"shell": "sleep 300 & sleep 300"}).Run(ctx, fire)
		if got.EndedBy != "timeout" || !strings.Contains(got.Err.Error(), pluginapi.ErrTimeout.Error()) {
			t.Errorf("attempt %+v", got)
		}
		if took := time.Since(begin); took > 4*time.Second {
			t.Errorf("took %v", took)
		}
		nobodyLeft(t, fire.InstanceID)
	})
	t.Run("cancel", func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(t.Context())
		job := host.Job("exec", map[string]any{"shell": "echo ready; sleep 300 & sleep 300; echo never"})
		job.OnLine = func(line plugintest.Line) { cancel(pluginapi.ErrReplaced) }
		got := job.Run(ctx, fire)
		if got.EndedBy != "replaced" || len(got.Lines) != 1 {
			t.Errorf("attempt %+v", got)
		}
		nobodyLeft(t, fire.InstanceID)
	})
}

func TestDescribe(t *testing.T) {
	t.Parallel()
	binary := filepath.Join(t.TempDir(), "ax-plugin-exec")
	if out, err := exec.Command("go", "build", "-o", binary, ".").CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	cmd := exec.Command(binary, "--ax-describe")
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	var manifest struct {
		Name, Version string
		Components    []struct {
			Kind, Name string
			Schema     struct{ Properties map[string]any }
		}
	}
	if err := json.Unmarshal(out, &manifest); err != nil {
		t.Fatal(err)
	}
	if manifest.Name != "exec" || len(manifest.Components) != 1 || manifest.Components[0].Kind != "job" {
		t.Fatalf("manifest %s", out)
	}
	var names []string
	for name := range manifest.Components[0].Schema.Properties {
		names = append(names, name)
	}
	slices.Sort(names)
	want := []string{"command", "dir", "env", "keep_children", "kill_after", "no_retry_codes", "output_limit",
		"shell", "stop_signal", "success_codes", "user"}
	if !slices.Equal(names, want) {
		t.Errorf("settings %v", names)
	}
}
