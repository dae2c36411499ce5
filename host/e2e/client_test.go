package e2e

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/axsched/ax/host/internal/api"
)

// result is what a command answered.
type result struct {
	out, err string
	code     int
}

// ax runs a command of the program, which talks to the world's host.
func (w *world) ax(args ...string) result {
	w.t.Helper()
	return w.axWith("", args...)
}

// axWith is ax with something on the standard input.
func (w *world) axWith(input string, args ...string) result {
	w.t.Helper()
	cmd := exec.CommandContext(w.t.Context(), filepath.Join(suite.bin, "ax"), args...)
	cmd.Dir, cmd.Env = w.dir, append(os.Environ(), "AX_ADDR=http://"+w.addr)
	var out, errs bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(input), &out, &errs
	if err := cmd.Run(); err != nil {
		if _, ok := errors.AsType[*exec.ExitError](err); !ok {
			w.t.Fatalf("ax %v: %v", args, err)
		}
	}
	return result{out.String(), errs.String(), cmd.ProcessState.ExitCode()}
}

// axOK is ax for a command that must succeed; it returns its output.
func (w *world) axOK(args ...string) string {
	w.t.Helper()
	r := w.ax(args...)
	if r.code != 0 {
		w.t.Fatalf("ax %v: exit code %d: %s", args, r.code, r.err)
	}
	return r.out
}

// axJSON runs a command with -o json and decodes its output.
func axJSON[T any](w *world, args ...string) T {
	w.t.Helper()
	var v T
	out := w.axOK(append(args, "-o", "json")...)
	if err := json.Unmarshal([]byte(out), &v); err != nil {
		w.t.Fatalf("ax %v: %v in %s", args, err, out)
	}
	return v
}

// tasks returns what "ax tasks" shows, by name.
func (w *world) tasks() map[string]api.TaskView {
	w.t.Helper()
	tasks := map[string]api.TaskView{}
	for _, t := range axJSON[api.TaskList](w, "tasks").Tasks {
		tasks[t.Name] = t
	}
	return tasks
}

// parked waits until a task is parked with all of the texts in the reason.
func (w *world) parked(task string, texts ...string) {
	w.t.Helper()
	eventually(w.t, patience, func() error {
		v := w.tasks()[task]
		if v.State != api.TaskParked || !containsAll(v.Parked, texts) {
			return fmt.Errorf("task %s is %s: %q, want it parked with %q", task, v.State, v.Parked, texts)
		}
		return nil
	})
}

// plugin returns what "ax plugins" shows of one, zero if it does not.
func (w *world) plugin(name string) api.PluginView {
	w.t.Helper()
	for _, p := range axJSON[api.PluginList](w, "plugins").Plugins {
		if p.Name == name {
			return p
		}
	}
	return api.PluginView{}
}

// run starts a task by hand and returns the instance's id.
func (w *world) run(task string) string {
	w.t.Helper()
	return axJSON[api.RunStarted](w, "run", task).Instance
}

// post sends JSON to a URL and returns the status and the body of the answer.
func (w *world) post(url, body string) (status int, answer string) {
	w.t.Helper()
	req, err := http.NewRequestWithContext(w.t.Context(), http.MethodPost, url, strings.NewReader(body))
	w.must(err)
	req.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(req)
	w.must(err)
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	w.must(err)
	return resp.StatusCode, string(text)
}
