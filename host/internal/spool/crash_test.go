package spool

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/hashicorp/go-hclog"
)

// crashEnv names the file into which a child process puts results until it is
// killed.
const crashEnv = "AX_TEST_SPOOL_CHILD"

func TestMain(m *testing.M) {
	if path := os.Getenv(crashEnv); path != "" {
		os.Exit(putUntilKilled(path))
	}
	os.Exit(m.Run())
}

func putUntilKilled(path string) int {
	s, err := Open(context.Background(), Config{Path: path, Log: hclog.Default()})
	if err != nil {
		fmt.Println(err)
		return 1
	}
	for id := 1; ; id++ {
		if err := s.Put(result(id)); err != nil {
			fmt.Println(err)
			return 1
		}
		fmt.Println(id)
	}
}

// TestKilled: whatever Put has taken is there after the process was killed, and
// the file is sound.
func TestKilled(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "spool.db")
	acknowledged := 0
	for round := range 5 {
		child := exec.Command(os.Args[0])
		child.Env = append(os.Environ(), crashEnv+"="+path)
		out, err := child.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := child.Start(); err != nil {
			t.Fatal(err)
		}
		lines, taken := bufio.NewScanner(out), 0
		for lines.Scan() {
			if taken, err = strconv.Atoi(lines.Text()); err != nil {
				t.Fatalf("the child says %q", lines.Text())
			}
			if taken == 20+7*round {
				if err := child.Process.Kill(); err != nil {
					t.Fatal(err)
				}
			}
		}
		child.Wait() //nolint:errcheck // it was killed
		acknowledged += taken
	}
	b := &bundle{path: path, db: &database{}}
	b.open(t, nil)
	n, _, err := b.Pending(t.Context())
	if err != nil || n < acknowledged || n > acknowledged+5 {
		t.Errorf("%d results in the file (%v), %d were taken", n, err, acknowledged)
	}
	if aside, _ := filepath.Glob(path + ".damaged-*"); len(aside) > 0 {
		t.Errorf("put aside: %s", strings.Join(aside, " "))
	}
}
