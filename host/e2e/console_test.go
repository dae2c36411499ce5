package e2e

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/axsched/ax/host/internal/ax"
)

// command is a command of the program that knows of no host but by its
// surroundings.
func (w *world) command(env []string, args ...string) *exec.Cmd {
	w.t.Helper()
	cmd := exec.CommandContext(w.t.Context(), filepath.Join(suite.bin, "ax"), args...)
	cmd.Dir, cmd.Env = w.dir, append(append(os.Environ(), "AX_ADDR=", "AX_CONFIG=", "LC_ALL=C"), env...)
	return cmd
}

// Commands find the host by a configuration: one that is named by a flag or the
// environment, or that lies in the current folder.
func TestCommandsFindTheHost(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "worker")
	w.config(twoTasks("1h"))
	h := w.start()
	defer h.stop()
	for _, c := range []struct {
		env  []string
		args []string
	}{
		{nil, []string{"--addr", w.addr}},
		{[]string{"AX_ADDR=" + w.addr}, nil},
		{[]string{"AX_ADDR=127.0.0.1:1"}, []string{"-c", "ax.yaml"}},
		{[]string{"AX_CONFIG=ax.yaml"}, nil},
	} {
		if out, err := w.command(c.env, append([]string{"tasks", "a"}, c.args...)...).CombinedOutput(); err != nil || !strings.Contains(string(out), "in words:  every hour\n") {
			t.Errorf("ax tasks a with %v %v: %v\n%s", c.env, c.args, err, out)
		}
	}
	// A fault elsewhere does not keep one from looking at the host.
	w.write("config.yaml", w.read("ax.yaml")+"- {nme: c}\n")
	if out, err := w.command(nil, "tasks", "a", "--lang", "zh").CombinedOutput(); err != nil || !strings.Contains(string(out), "in words:  每小时\n") {
		t.Errorf("with a config.yaml in the folder: %v\n%s", err, out)
	}
}

// Ctrl-C ends the waiting of "ax run --wait" and says that the run goes on, which
// it does.
func TestInterruptWaiting(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "exec")
	w.config("tasks:\n- {name: slow, at: \"2099-01-01\", grace: 1s, job: {use: exec, with: {command: [sleep, \"600\"]}}}\n")
	h := w.start()
	defer h.stop()
	cmd := w.command(nil, "run", "slow", "--wait", "--addr", w.addr)
	said := &hostLog{}
	cmd.Stderr = said
	w.must(cmd.Start())
	eventually(t, patience, func() error {
		if !strings.Contains(said.since(0), "instance ") {
			return errors.New("the run has not been started")
		}
		return nil
	})
	w.some("slow", 1, ax.StatusRunning)
	w.must(cmd.Process.Signal(os.Interrupt))
	const interrupted = 130
	if err := cmd.Wait(); cmd.ProcessState.ExitCode() != interrupted {
		t.Fatalf("%v: %s", err, said.since(0))
	}
	if !strings.Contains(said.since(0), "the run goes on in the host") {
		t.Errorf("it says %q", said.since(0))
	}
	cancel := regexp.MustCompile(`ax cancel (\d+)`).FindStringSubmatch(said.since(0))
	if cancel == nil {
		t.Fatalf("it does not say how to cancel the run: %q", said.since(0))
	}
	w.instance(cancel[1], ax.StatusRunning)
	w.axOK("cancel", cancel[1])
	w.instance(cancel[1], ax.StatusCanceled)
}

// What a command says of a run that is not there helps to find one that is.
func TestUnknownRun(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "worker")
	w.config(twoTasks("1h"))
	h := w.start()
	defer h.stop()
	for _, args := range [][]string{{"logs", "1"}, {"logs", "-f", "1"}, {"cancel", "1"}, {"instances", "1"}} {
		r := w.ax(args...)
		if r.code != 4 || r.err != "ax: there is no instance \"1\"\n\"ax instances\" lists those that are there\n" {
			t.Errorf("ax %v: exit code %d: %s", args, r.code, r.err)
		}
	}
}
