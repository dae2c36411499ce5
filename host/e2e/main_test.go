// Package e2e tests the program from outside, as a person uses it: it writes
// YAML, starts "ax serve", talks to it with the commands and the API, kills it,
// and looks into the database. All programs are real and built once per run.
//
// Environment:
//
//	AX_E2E_KILLS  how often the crash test kills the host; default 8, nightly 50
//	AX_E2E_SEED   seed of what is random; default: a new one, which is logged
package e2e

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"testing"

	"github.com/axsched/ax/host/internal/store/mysqltest"
)

// suite is what all tests share: the programs, built before the first test.
var suite struct {
	bin   string // directory of the programs
	spawn chan func()
}

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "axe2e")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	suite.bin = dir
	if err := build(dir); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	suite.spawn = make(chan func())
	go func() {
		// Hosts are to die with the test binary, however it ends. The system ties
		// that to the thread that starts them, so this one is kept.
		runtime.LockOSThread()
		for f := range suite.spawn {
			f()
		}
	}()
	return mysqltest.Main(m)
}

// plugins are the real ones, by their folders.
func plugins() []string {
	return []string{"jobs/exec", "jobs/http", "notifiers/webhook", "triggers/lastweekday", "triggers/random", "triggers/workday"}
}

// build makes ax, the plugins and those of testdata: worker in two versions, as
// "worker" and "worker2", and bad.
func build(dir string) error {
	args := []string{"build", "-ldflags=-s -w", "-o", dir + "/", "../cmd/ax", "./testdata/worker", "./testdata/bad"}
	for _, p := range plugins() {
		args = append(args, "../../plugins/"+p)
	}
	newer := []string{"build", "-ldflags=-s -w -X main.version=2.0.0", "-o", filepath.Join(dir, "worker2"), "./testdata/worker"}
	for _, args := range [][]string{args, newer} {
		if out, err := exec.Command("go", args...).CombinedOutput(); err != nil {
			return fmt.Errorf("go %v: %w\n%s", args, err, out)
		}
	}
	return nil
}

// seeded returns a source of random numbers whose seed is in the test's log.
func seeded(t *testing.T) *rand.Rand {
	t.Helper()
	seed := rand.Uint64()
	if text := os.Getenv("AX_E2E_SEED"); text != "" {
		var err error
		if seed, err = strconv.ParseUint(text, 10, 64); err != nil {
			t.Fatalf("AX_E2E_SEED: %v", err)
		}
	}
	t.Logf("AX_E2E_SEED=%d", seed)
	return rand.New(rand.NewPCG(seed, 0))
}
