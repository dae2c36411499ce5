package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestPlanWithoutHost compares with the database if nobody said where the host
// is and none answers.
func TestPlanWithoutHost(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		args []string
		addr string // AX_ADDR
		code int
		out  string // that the output must hold
		err  string
	}{
		{[]string{"plan", "-c", "new.yaml"}, "", ExitChanges, "- gone\ntasks: 0 to add, 0 to change, 1 to remove, 2 unchanged", "comparing with the database of new.yaml"},
		{[]string{"plan"}, "127.0.0.1:1", ExitUnreachable, "", "no host answers"},
		{[]string{"plan", "-c", "new.yaml", "--addr", "127.0.0.1:1"}, "", ExitUnreachable, "", "no host answers"},
		{[]string{"plan", "-c", "new.yaml"}, "127.0.0.1:1", ExitUnreachable, "", "no host answers"},
		{[]string{"apply", "-c", "new.yaml"}, "", ExitUnreachable, "", "no host answers"},
	} {
		var out, errs bytes.Buffer
		d := testDeps("http://127.0.0.1:1") // nobody listens there
		d.Out, d.Err = &out, &errs
		d.Env = func(name string) string { return map[string]string{"AX_ADDR": tc.addr}[name] }
		if code := Run(t.Context(), d, tc.args); code != tc.code || !strings.Contains(out.String(), tc.out) || !strings.Contains(errs.String(), tc.err) {
			t.Errorf("%v: exit code %d\n%s%s", tc.args, code, out.String(), errs.String())
		}
	}
}

func TestSameFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path, other, link := filepath.Join(dir, "a.yaml"), filepath.Join(dir, "b.yaml"), filepath.Join(dir, "l.yaml")
	for _, name := range []string{path, other} {
		if err := os.WriteFile(name, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(path, link); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		a, b string
		want bool
	}{
		{path, path, true}, {link, path, true}, {other, path, false}, {dir + "/./a.yaml", path, true},
		{"/nowhere/ax.yaml", "/nowhere/ax.yaml", true}, {"/nowhere/ax.yaml", path, false}, {path, "/nowhere/ax.yaml", false},
	} {
		if got := sameFile(tc.a, tc.b); got != tc.want {
			t.Errorf("%s and %s: %v", tc.a, tc.b, got)
		}
	}
}
