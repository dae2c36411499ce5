// Good is a plugin for the tests of package pluginhost, made with package
// serve. It takes its name from that of its file.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/axsched/ax/pluginapi"
	"github.com/axsched/ax/pluginapi/serve"
)

// version is set by the linker.
var version = "1.0.0"

func main() {
	name, _, _ := strings.Cut(strings.TrimPrefix(filepath.Base(os.Args[0]), "ax-plugin-"), "_")
	serve.Main(pluginapi.Info{Name: name, Version: version, Description: "For tests."},
		pluginapi.TriggerOf("every", "Due in fixed steps.", newEvery),
		pluginapi.TriggerOf("naughty", "Does what no trigger may.", newNaughty),
		pluginapi.JobOf("work", "Does what its settings say.", newWork),
		pluginapi.NotifierOf("note", "Writes messages to a file.", newNote),
		pluginapi.ParamsOf("given", "Gives the due time and the settings back.", newGiven),
		pluginapi.ListenerOf("ear", "Writes events to a file.", newEar),
	)
}

type everySettings struct {
	Seconds int `json:"seconds" ax:"required,min=1"`
	Count   int `json:"count" doc:"Exhausted after that many since 1970, 0 = never."`
}

type every struct{ everySettings }

func newEvery(s everySettings, _ pluginapi.Env) (pluginapi.Trigger, error) { return every{s}, nil }

func (e every) Next(_ context.Context, after time.Time) (time.Time, error) {
	n := after.Unix()/int64(e.Seconds) + 1
	if e.Count > 0 && n > int64(e.Count) {
		return time.Time{}, nil
	}
	return time.Unix(n*int64(e.Seconds), 0), nil
}

type naughtySettings struct {
	How string `json:"how" ax:"required"`
}

type naughty struct{ naughtySettings }

func newNaughty(s naughtySettings, _ pluginapi.Env) (pluginapi.Trigger, error) {
	if s.How == "refuse" {
		return nil, errors.New("no such way")
	}
	return naughty{s}, nil
}

func (n naughty) Next(ctx context.Context, after time.Time) (time.Time, error) {
	switch n.How {
	case "past":
		return after, nil
	case "now":
		return time.Now(), nil
	case "panic":
		panic("naughty")
	case "exit":
		fmt.Fprintln(os.Stderr, "leaving for no reason")
		os.Exit(7)
	case "crash":
		go func() { panic("boom in a goroutine") }()
		select {}
	case "hang":
		select {}
	case "fail":
		return time.Time{}, errors.New("try again later")
	}
	return time.Time{}, pluginapi.Permanent(errors.New("never again"))
}

type workSettings struct {
	How  string `json:"how"`
	File string `json:"file" doc:"A FIFO to wait for, or a file to write."`
}

type work struct{ workSettings }

func newWork(s workSettings, _ pluginapi.Env) (pluginapi.Job, error) {
	if s.How == "die-first" { // the process that makes the file ends before it is asked to run
		if f, err := os.OpenFile(s.File, os.O_CREATE|os.O_EXCL, 0o600); err == nil {
			f.Close()
			os.Exit(5)
		}
	}
	return work{s}, nil
}

func (w work) Run(ctx context.Context, run *pluginapi.Run) (pluginapi.Result, error) {
	run.Log.Info("running", "pid", os.Getpid(), "version", version)
	result := pluginapi.Result{Message: "done by " + version, Data: map[string]any{"pid": os.Getpid(), "attempt": run.Attempt}}
	switch w.How {
	case "fail":
		return result, errors.New("it failed")
	case "permanent":
		return result, pluginapi.Permanent(errors.New("it cannot work"))
	case "panic":
		panic("in the job")
	case "exit":
		fmt.Fprintln(os.Stderr, "the job takes the process with it")
		os.Exit(9)
	case "wait": // until the test opens the FIFO, whatever the context says
		_, err := os.ReadFile(w.File)
		return result, err
	case "polite":
		<-ctx.Done()
		run.Log.Info("last words")
		return result, context.Cause(ctx)
	case "stubborn":
		select {}
	case "finish": // although it was canceled
		<-ctx.Done()
		return result, nil
	case "defer":
		result.Deferred = true
	case "progress":
		run.Progress(1, 2, "half")
	case "family":
		return result, startFamily(w.File)
	case "flood":
		for i := range 20_000 {
			fmt.Fprintf(run.Output, "line %d\n", i)
		}
	}
	return result, nil
}

// startFamily leaves a child in a group of its own behind, which holds stderr.
func startFamily(file string) error {
	cmd := exec.Command("sleep", "1000")
	cmd.Stderr = os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		return err
	}
	return os.WriteFile(file, []byte(fmt.Sprint(cmd.Process.Pid)), 0o600)
}

type noteSettings struct {
	File string `json:"file"`
}

type note struct{ noteSettings }

func newNote(s noteSettings, _ pluginapi.Env) (pluginapi.Notifier, error) { return note{s}, nil }

func (n note) Notify(_ context.Context, msg pluginapi.Message) error {
	if n.File == "" {
		return pluginapi.Permanent(errors.New("no file to write"))
	}
	return appendLine(n.File, msg.Title+" x"+fmt.Sprint(msg.Count))
}

var appending sync.Mutex

func appendLine(path, line string) error {
	appending.Lock()
	defer appending.Unlock()
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = fmt.Fprintln(f, line)
	return err
}

type given struct{ settings map[string]any }

func newGiven(settings struct {
	Day string `json:"day"`
}, _ pluginapi.Env) (pluginapi.ParamProvider, error) {
	return given{map[string]any{"day": settings.Day}}, nil
}

func (g given) Params(_ context.Context, fire pluginapi.Fire) (map[string]any, error) {
	if g.settings["day"] == "" {
		return nil, nil
	}
	return map[string]any{"day": g.settings["day"], "due": fire.ScheduledAt.Format(time.RFC3339)}, nil
}

type ear struct {
	pluginapi.NopListener
	file string
}

func newEar(s noteSettings, _ pluginapi.Env) (pluginapi.Listener, error) {
	return ear{file: s.File}, nil
}

func (e ear) Before(_ context.Context, fire pluginapi.Fire) error {
	return appendLine(e.file, "before "+fire.Task)
}

func (e ear) After(_ context.Context, fire pluginapi.Fire, outcome pluginapi.Outcome) error {
	raw, err := json.Marshal(outcome.Data)
	if err != nil {
		return err
	}
	return appendLine(e.file, fmt.Sprintf("after %s %s %s retry=%v", fire.Task, outcome.Status, raw, outcome.WillRetry))
}
