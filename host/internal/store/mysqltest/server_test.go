package mysqltest

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// ownerOfServer makes the test binary a process that starts a server, tells
// where it is, and waits to be killed.
const ownerOfServer = "AX_TEST_OWNER_OF_SERVER"

func TestMain(m *testing.M) {
	if os.Getenv(ownerOfServer) == "" {
		os.Exit(Main(m))
	}
	s, err := Start(context.Background(), Options{})
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	fmt.Println(s.Process().Pid, s.dir)
	io.Copy(io.Discard, os.Stdin) //nolint:errcheck // nothing comes
}

// TestServerEndsWithItsOwner: a test that is killed leaves no server behind.
func TestServerEndsWithItsOwner(t *testing.T) {
	t.Parallel()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), ownerOfServer+"=1")
	if _, err := cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	number, dir, _ := strings.Cut(strings.TrimSpace(line), " ")
	pid, err := strconv.Atoi(number)
	if err != nil {
		t.Fatalf("the owner says %q", line)
	}
	defer os.RemoveAll(dir)
	if err := syscall.Kill(pid, 0); err != nil {
		t.Fatalf("the server does not run: %v", err)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	cmd.Wait() //nolint:errcheck // killed
	for end := time.Now().Add(10 * time.Second); alive(pid); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("the server still runs")
		}
	}
}

// alive is false for zombies too: whoever inherits them may not look after them.
func alive(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	_, state, _ := strings.Cut(string(stat), ") ")
	return err == nil && !strings.HasPrefix(state, "Z")
}

func TestKillAndResume(t *testing.T) {
	t.Parallel()
	s, dsn := Private(t, Options{})
	for _, end := range []func(){s.Kill, s.Halt} {
		end()
		if err := s.Resume(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Create(t.Context(), "ax"); err == nil {
		t.Errorf("%s was gone after the server came back", dsn)
	}
}

func TestMissingPrograms(t *testing.T) {
	t.Parallel()
	_, err := find("ax-no-such-program")
	if !errors.Is(err, ErrMissing) || !strings.Contains(err.Error(), "scripts/test-deps.sh") || !strings.Contains(err.Error(), EnvDSN) {
		t.Errorf("%v, want what to do", err)
	}
}
