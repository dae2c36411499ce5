// Probe is a plugin for the tests of package serve: each component does one
// thing that a host or a test can watch from outside.
package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"log/slog"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/axsched/ax/pluginapi"
	"github.com/axsched/ax/pluginapi/serve"
)

func init() {
	if os.Getenv("PROBE_NOISE") != "" {
		fmt.Println("noise before the handshake")
	}
}

func main() {
	serve.Main(pluginapi.Info{Name: "probe", Version: "1.2.3", Description: "For tests."},
		pluginapi.TriggerOf("every", "Due in fixed steps.", newEvery),
		pluginapi.JobOf("mark", "Leaves files behind.", newMark),
		pluginapi.JobOf("say", "Writes everywhere.", newSay),
		pluginapi.JobOf("crash", "Panics.", newCrash),
	)
}

type everySettings struct {
	Step pluginapi.Duration `json:"step" ax:"default=1m,min=1s" doc:"Time between two due times."`
}

type every struct{ step time.Duration }

func newEvery(s everySettings, _ pluginapi.Env) (pluginapi.Trigger, error) {
	return every{s.Step.Std()}, nil
}

func (e every) Next(_ context.Context, after time.Time) (time.Time, error) {
	return after.Truncate(e.step).Add(e.step), nil
}

type markSettings struct {
	Dir      string `json:"dir" ax:"required"`
	Stubborn bool   `json:"stubborn"`
}

// mark writes a file for each thing that happens to a run.
type mark struct{ markSettings }

func newMark(s markSettings, _ pluginapi.Env) (pluginapi.Job, error) { return mark{s}, nil }

func (m mark) Run(ctx context.Context, run *pluginapi.Run) (pluginapi.Result, error) {
	release := run.OnKill(func() { m.touch("killed") })
	defer release()
	run.Log.Info("started")
	<-ctx.Done()
	m.touch("canceled")
	if m.Stubborn {
		select {} // until the process ends
	}
	run.Log.Info("last words")
	return pluginapi.Result{}, context.Cause(ctx)
}

func (m mark) touch(name string) {
	if err := os.WriteFile(m.Dir+"/"+name, nil, 0o600); err != nil {
		log.Print(err)
	}
}

type say struct{}

func newSay(struct{}, pluginapi.Env) (pluginapi.Job, error) { return say{}, nil }

func (say) Run(_ context.Context, run *pluginapi.Run) (pluginapi.Result, error) {
	fmt.Println("said by fmt")
	fmt.Fprintln(os.Stderr, "said to stderr")
	log.Print("said by log")
	slog.Warn("said by slog", "took", time.Second, "group", slog.GroupValue(slog.Int("n", 1)))
	slog.Debug("said quietly")
	_, cookie := os.LookupEnv("AX_PLUGIN_COOKIE")
	// The descriptors of a program that a job starts; it opens the directory itself.
	files, err := exec.Command("/bin/ls", "/dev/fd/").Output()
	data := map[string]any{"cookie": cookie, "attempt": run.Attempt, "files": strings.Join(strings.Fields(string(files)), " ")}
	return pluginapi.Result{Data: data}, err
}

type crash struct{}

func newCrash(struct{}, pluginapi.Env) (pluginapi.Job, error) { return crash{}, nil }

func (crash) Run(context.Context, *pluginapi.Run) (pluginapi.Result, error) {
	panic(errors.New("on purpose"))
}
