package host

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// TestLockNamesItsHolder: who finds a data directory in use is told by whom.
func TestLockNamesItsHolder(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	unlock, err := lockDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	want := fmt.Sprintf("in use by another host, process %d of user %s; stop it, or give this one a data_dir of its own", os.Getpid(), userName(os.Geteuid()))
	if _, err := lockDir(dir); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%v, want %q", err, want)
	}
	unlock()
	unlock, err = lockDir(dir)
	if err != nil {
		t.Fatalf("after the first host has ended: %v", err)
	}
	unlock()
}
