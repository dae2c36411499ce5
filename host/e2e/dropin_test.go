package e2e

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/axsched/ax/host/internal/api"
	"github.com/axsched/ax/host/internal/ax"
)

// dueJob is a task that is due every second.
const dueJob = "- {name: due, every: 1s, retry: 0, overlap: allow, job: {use: work}}\n"

// begun waits until the journal says that an instance has begun.
func (w *world) begun(id string) {
	w.t.Helper()
	eventually(w.t, patience, func() error {
		if !strings.Contains(w.read("journal"), " "+id+" ") {
			return fmt.Errorf("instance %s has not begun", id)
		}
		return nil
	})
}

// A plugin that appears while the host runs, written slowly, is taken up once
// it is whole, and the tasks that waited for it run.
func TestPluginDroppedIn(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "exec")
	w.config("tasks:\n" + dueJob + "- {name: beats, trigger: {use: beat, with: {every: 1s}}, job: {use: exec, with: {command: [echo]}}}\n")
	h := w.start()
	defer h.stop()
	w.parked("due", "work")
	w.parked("beats", "beat")

	source, err := os.Open(filepath.Join(suite.bin, "worker"))
	w.must(err)
	defer source.Close()
	target, err := os.OpenFile(w.path("plugins", "ax-plugin-worker"), os.O_CREATE|os.O_WRONLY, 0o755)
	w.must(err)
	info, err := source.Stat()
	w.must(err)
	_, err = io.CopyN(target, source, info.Size()/2)
	w.must(err)
	h.logs("plugin file is refused", "ax-plugin-worker") // it was quiet for a while, and is no program
	w.parked("due", "work")
	_, err = io.Copy(target, source)
	w.must(err)
	w.must(target.Close())

	w.some("due", 2, ax.StatusSuccess)
	w.some("beats", 2, ax.StatusSuccess)
	for name, task := range w.tasks() {
		if task.State != api.TaskOn || task.Parked != "" {
			t.Errorf("task %s is %s: %q", name, task.State, task.Parked)
		}
	}
	if p := w.plugin("worker"); p.State != "ready" || p.Version != "1.0.0" || p.PID == 0 {
		t.Errorf("plugin: %+v", p)
	}
}

// A run keeps the process that it began in; the next one gets the new version.
func TestPluginReplacedDuringARun(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "worker")
	w.config(`
tasks:
` + dueJob + `- {name: long, at: "2099-01-01", overlap: allow, retry: 0, job: {use: work, with: {until: "` + w.path("go") + `", journal: "` + w.path("journal") + `"}}}
`)
	h := w.start()
	defer h.stop()
	first := w.run("long")
	w.begun(first)
	w.install("worker", "worker2")
	eventually(t, patience, func() error {
		for _, r := range w.of("due") {
			if r.Message == "done by 2.0.0" {
				return nil
			}
		}
		return fmt.Errorf("the new version does not run")
	})
	second := w.run("long")
	w.begun(second)
	w.instance(first, ax.StatusRunning)
	w.write("go", "")
	if r := w.instance(first, ax.StatusSuccess); r.Message != "done by 1.0.0" {
		t.Errorf("the run under way was %s", r.Message)
	}
	if r := w.instance(second, ax.StatusSuccess); r.Message != "done by 2.0.0" {
		t.Errorf("the run after the change was %s", r.Message)
	}
	for _, r := range w.of("due") {
		if r.Status != ax.StatusSuccess && r.Status != ax.StatusRunning {
			t.Errorf("the due time %s is %s: %s", r.ScheduledAt, r.Status, r.Error)
		}
	}
	eventually(t, patience, func() error {
		if n := len(w.processes()); n != 1 {
			return fmt.Errorf("%d processes, want that of the new version alone", n)
		}
		return nil
	})
}

// A version that cannot be started changes nothing.
func TestPluginReplacedByABrokenOne(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "worker")
	w.config("tasks:\n" + dueJob)
	h := w.start()
	defer h.stop()
	w.some("due", 1, ax.StatusSuccess)
	w.write("plugins/broken", "#!/bin/sh\nexit 1\n")
	w.must(os.Chmod(w.path("plugins", "broken"), 0o755))
	w.must(os.Rename(w.path("plugins", "broken"), w.path("plugins", "ax-plugin-worker")))
	h.logs("plugin file is refused", "older_one_stays=true")
	n := len(w.of("due"))
	w.some("due", n+2, ax.StatusSuccess)
	if task := w.tasks()["due"]; task.State != api.TaskOn {
		t.Errorf("the task is %s: %s", task.State, task.Parked)
	}
}

// A plugin that is removed ends what it has begun; its tasks wait.
func TestPluginRemoved(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "worker")
	w.config(`
tasks:
` + dueJob + `- {name: long, at: "2099-01-01", retry: 0, job: {use: work, with: {until: "` + w.path("go") + `", journal: "` + w.path("journal") + `"}}}
`)
	h := w.start()
	defer h.stop()
	long := w.run("long")
	w.begun(long)
	w.must(os.Remove(w.path("plugins", "ax-plugin-worker")))
	w.parked("due", "work")
	w.instance(long, ax.StatusRunning)
	w.write("go", "")
	w.instance(long, ax.StatusSuccess)
	w.gone(w.processes(), patience)
	if r := w.ax("run", "long"); r.code == 0 {
		t.Errorf("a task without its plugin was started: %s", r.out)
	}
	w.install("worker", "worker")
	n := len(w.of("due"))
	w.some("due", n, ax.StatusSuccess)
}

// Runs that wait in the queue while their plugin is removed are not lost: they run
// once it is there again.
func TestQueuedRunsOutliveTheirPlugin(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "worker", "exec")
	w.config(`
executor: {workers: 1}
tasks:
- {name: long, at: "2099-01-01", retry: 0, job: {use: exec, with: {shell: "until [ -e ` + w.path("go") + ` ]; do sleep 0.05; done"}}}
- {name: hold, at: "2099-01-01", retry: 0, overlap: allow, job: {use: work, with: {until: "` + w.path("go") + `", journal: "` + w.path("journal") + `"}}}
`)
	h := w.start()
	defer h.stop()
	w.run("long")
	first := w.run("hold") // a lane may always start one
	w.begun(first)
	waiting := []string{w.run("hold"), w.run("hold"), w.run("hold")}
	w.must(os.Remove(w.path("plugins", "ax-plugin-worker")))
	w.parked("hold", "work")
	w.write("go", "")
	w.instance(first, ax.StatusSuccess)
	for _, id := range waiting {
		if r := w.instance(id, ax.StatusTriggered); !strings.Contains(r.Reason, "no plugin offers") || r.Attempt != 0 {
			t.Errorf("run %s: attempt %d, %q", id, r.Attempt, r.Reason)
		}
	}
	w.install("worker", "worker")
	for _, id := range waiting {
		if r := w.instance(id, ax.StatusSuccess); r.Attempt != 1 {
			t.Errorf("run %s needed %d attempts", id, r.Attempt)
		}
	}
}

// What is no plugin is left alone, and the log says why.
func TestOtherFilesInThePluginDirectory(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "worker")
	harmful := "#!/bin/sh\ntouch " + w.path("harm") + "\n"
	for name, mode := range map[string]os.FileMode{
		"README": 0o644, "ax-plugin-worker.bak": 0o755, "ax-plugin-worker~": 0o755, ".ax-plugin-x": 0o755,
		"ax-plugin-loose": 0o777, "ax-plugin-data": 0o644, "ax-plugin-Odd_Name": 0o755,
	} {
		w.must(os.WriteFile(w.path("plugins", name), []byte(harmful), mode))
		w.must(os.Chmod(w.path("plugins", name), mode)) // past the umask
	}
	w.must(os.WriteFile(w.path("plugins", "ax-plugin-text"), []byte("I am a text.\n"), 0o755))
	w.must(os.Mkdir(w.path("plugins", "ax-plugin-dir"), 0o755))
	w.must(os.Symlink("/bin/true", w.path("plugins", "ax-plugin-link")))
	w.config("tasks:\n" + dueJob)
	h := w.start()
	w.some("due", 1, ax.StatusSuccess)
	for name, reason := range map[string]string{
		"README": "its name", "ax-plugin-worker.bak": "its name", "ax-plugin-worker~": "its name", ".ax-plugin-x": "its name",
		"ax-plugin-Odd_Name": "its name", "ax-plugin-loose": "others than its owner may write", "ax-plugin-data": "not executable",
		"ax-plugin-text": "", "ax-plugin-dir": "", "ax-plugin-link": "symbolic link",
	} {
		h.logs(name, reason)
	}
	if _, err := os.Stat(w.path("harm")); err == nil {
		t.Error("a file that is no plugin was executed")
	}
	if out := w.axOK("plugins"); strings.Contains(out, ".bak") || !strings.Contains(out, "worker") {
		t.Errorf("ax plugins shows %s", out)
	}
	h.stop()
}
