package e2e

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// axAs runs a command with an environment of its own besides the usual.
func (w *world) axAs(input string, env []string, args ...string) result {
	w.t.Helper()
	cmd := exec.CommandContext(w.t.Context(), filepath.Join(suite.bin, "ax"), args...)
	cmd.Dir, cmd.Env = w.dir, append(append(os.Environ(), "HOME="+w.dir, "AX_ADDR=", "AX_CONFIG="), env...)
	var out, errs bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(input), &out, &errs
	_ = cmd.Run() // the exit code tells
	return result{out: out.String(), err: errs.String(), code: cmd.ProcessState.ExitCode()}
}

// TestAccess goes the way of docs/access.md: a user and a token are made, and the
// commands are let in with the token only.
func TestAccess(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "worker")
	hash := w.axAs("correct horse battery\n", nil, "passwd")
	if hash.code != 0 || !strings.HasPrefix(hash.out, "$2a$12$") {
		t.Fatalf("passwd: %d %s%s", hash.code, hash.out, hash.err)
	}
	made := w.axAs("", nil, "token", "ci", "--role", "operator")
	_, rest, found := strings.Cut(made.err, "not shown again:\n")
	if made.code != 0 || !found {
		t.Fatalf("token: %d %s%s", made.code, made.out, made.err)
	}
	token, _, _ := strings.Cut(rest, "\n")
	if strings.Contains(made.out, token) {
		t.Errorf("the entry has the token: %s", made.out)
	}
	w.config("access:\n  users: [{name: ann, password_hash: \"" + strings.TrimSpace(hash.out) + "\", role: admin}]\n  tokens:\n  " + made.out +
		"tasks:\n- {name: tick, every: 1h, job: {use: work}}\n")
	h := w.start()
	host := "http://" + w.addr
	for _, test := range []struct {
		env  []string
		args []string
		code int
		says string
	}{
		{nil, []string{"tasks", "--server", host}, 6, "give a token with AX_TOKEN"},
		{[]string{"AX_TOKEN=" + token}, []string{"tasks", "--server", host}, 0, "tick"},
		{[]string{"AX_TOKEN=" + token + "0", "AX_SERVER=" + host}, []string{"tasks"}, 6, "the token is not known"},
		{[]string{"AX_TOKEN=" + token, "AX_SERVER=" + host}, []string{"reload"}, 6, "the role admin is needed"},
		{[]string{"AX_TOKEN=" + token, "AX_SERVER=" + host}, []string{"run", "tick", "--wait"}, 0, "SUCCESS"},
	} {
		if r := w.axAs("", test.env, test.args...); r.code != test.code || !strings.Contains(r.out+r.err, test.says) {
			t.Errorf("%q: %d %s%s", test.args, r.code, r.out, r.err)
		}
	}
	if r := w.axAs(token+"\n", nil, "context", "set", "here", "--server", host, "--token-stdin"); r.code != 0 {
		t.Errorf("%d %s", r.code, r.err)
	}
	if r := w.axAs("", nil, "tasks"); r.code != 0 || !strings.Contains(r.out, "tick") {
		t.Errorf("by the context: %d %s", r.code, r.err)
	}
	h.stop()
	if log := h.log(); strings.Contains(log, token) || strings.Contains(log, "$2a$") {
		t.Error("the log has a secret")
	}
}

// TestNobodyFromElsewhere: a host that everybody could use does not listen for the
// world.
func TestNobodyFromElsewhere(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.addr = "0.0.0.0:0"
	w.config("tasks: []\n")
	for _, args := range [][]string{{"validate", "ax.yaml"}, {"serve", "-c", "ax.yaml"}} {
		if r := w.axAs("", nil, args...); r.code != 5 || !strings.Contains(r.out+r.err, "everybody who reaches \"0.0.0.0:0\" could do everything: write access:") {
			t.Errorf("%q: %d %s%s", args, r.code, r.out, r.err)
		}
	}
}
