package ax_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestAllPartsAreTested: "make test" runs the tests from end to end and those of
// the examples also if an earlier part fails, and fails in the end.
func TestAllPartsAreTested(t *testing.T) {
	t.Parallel()
	for failing, want := range map[string]string{"": "", "./some": ".", "examples": "examples/diskfree"} {
		dir := t.TempDir()
		// In place of go: it notes where it was asked to test, and fails in one place.
		script := `#!/bin/bash
case "$1" in
list) echo ./some ./host/e2e | tr ' ' '\n' ;;
test) echo "$PWD $*" >>` + dir + `/parts; [[ -z "$FAILING" || "$PWD $*" != *"$FAILING"* ]] ;;
esac
`
		path := filepath.Join(dir, "go")
		if err := os.WriteFile(path, []byte(script), 0o700); err != nil {
			t.Fatal(err)
		}
		cmd := exec.CommandContext(t.Context(), "make", "--old-file=test-deps", "test", "GO="+path)
		cmd.Env = append(os.Environ(), "FAILING="+failing, "MAKEFLAGS=")
		out, err := cmd.CombinedOutput()
		if (err != nil) != (want != "") || want != "" && !strings.Contains(string(out), "tests failed in: "+want+"\n") {
			t.Errorf("with a failure of %q: %v\n%s", failing, err, out)
		}
		parts, err := os.ReadFile(filepath.Join(dir, "parts"))
		if err != nil {
			t.Fatal(err)
		}
		for _, part := range []string{"test ./some\n", "/host/e2e test .\n", "/examples/diskfree test ./...\n"} {
			if !strings.Contains(string(parts), part) {
				t.Errorf("with a failure of %q %q is not run, only\n%s", failing, part, parts)
			}
		}
	}
}
