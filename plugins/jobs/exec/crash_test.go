package main

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/axsched/ax/pluginapi"
	"github.com/axsched/ax/pluginapi/plugintest"
)

// tree is a job that tells when its processes run, which then never end.
var tree = map[string]any{"shell": "sleep 300 & (sleep 300; :) & echo ready; sleep 300"}

// pluginFile returns the test binary under a name that no other test uses.
func pluginFile(t *testing.T) string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(t.TempDir(), "ax-plugin-exec")
	if err := os.Link(self, name); err != nil {
		t.Fatal(err)
	}
	return name
}

// pidsOf lists the processes of a program, without zombies.
func pidsOf(t *testing.T, binary string, wanted func(cmdline string) bool) []int {
	t.Helper()
	links, err := filepath.Glob("/proc/[0-9]*/exe")
	if err != nil {
		t.Fatal(err)
	}
	var pids []int
	for _, link := range links {
		dir := filepath.Dir(link)
		program, err := os.Readlink(link)
		if err != nil || program != binary {
			continue // has ended meanwhile, or another program
		}
		cmdline, err := os.ReadFile(filepath.Join(dir, "cmdline"))
		if err != nil || !wanted(string(bytes.ReplaceAll(cmdline, []byte{0}, []byte{' '}))) {
			continue
		}
		pid, err := strconv.Atoi(filepath.Base(dir))
		if err != nil {
			t.Fatal(err)
		}
		pids = append(pids, pid)
	}
	return pids
}

func isGuard(cmdline string) bool  { return strings.Contains(cmdline, guardFlag) }
func isPlugin(cmdline string) bool { return !isGuard(cmdline) }
func anyProcess(string) bool       { return true }

// allGone demands that no process of a program is left.
func allGone(t *testing.T, binary string) {
	t.Helper()
	for deadline := time.Now().Add(patience); ; time.Sleep(5 * time.Millisecond) {
		pids := pidsOf(t, binary, anyProcess)
		if len(pids) == 0 {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("processes %v of the plugin are left", pids)
		}
	}
}

func TestPluginIsKilled(t *testing.T) {
	t.Parallel()
	binary := pluginFile(t)
	host := plugintest.Start(t, binary)
	instance := fmt.Sprintf("%s-%d", t.Name(), os.Getpid())
	job := host.Job("exec", tree)
	job.OnLine = func(plugintest.Line) {
		plugins := pidsOf(t, binary, isPlugin)
		if guards := pidsOf(t, binary, isGuard); len(plugins) != 1 || len(guards) != 1 {
			t.Errorf("plugins %v, guards %v", plugins, guards)
		}
		for _, pid := range plugins {
			if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
				t.Error(err)
			}
		}
	}
	if got := job.Run(t.Context(), pluginapi.Fire{InstanceID: instance}); got.Err == nil {
		t.Errorf("attempt %+v", got)
	}
	nobodyLeft(t, instance)
	allGone(t, binary)
}

// hostEnvKey makes a copy of the test binary the host of the plugin that it
// names, with a run of the instance that follows.
const hostEnvKey = "EXEC_TEST_HOST"

func TestHostIsKilled(t *testing.T) {
	if value := os.Getenv(hostEnvKey); value != "" {
		beHost(t, value)
		return
	}
	t.Parallel()
	binary := pluginFile(t)
	instance := fmt.Sprintf("%s-%d", t.Name(), os.Getpid())
	host := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$", "-test.v")
	host.Env = append(os.Environ(), hostEnvKey+"="+binary+":"+instance)
	out, err := host.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := host.Start(); err != nil {
		t.Fatal(err)
	}
	for lines := bufio.NewScanner(out); lines.Scan(); {
		if strings.Contains(lines.Text(), "the run says ready") {
			break
		}
	}
	if n := len(processesOf(t, instance)); n < 3 {
		t.Errorf("only %d processes run before the kill", n)
	}
	if err := host.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = host.Wait() // killed
	nobodyLeft(t, instance)
	allGone(t, binary)
}

func beHost(t *testing.T, value string) {
	binary, instance, _ := strings.Cut(value, ":")
	job := plugintest.Start(t, binary).Job("exec", tree)
	job.OnLine = func(line plugintest.Line) { fmt.Println("the run says", line.Text) }
	t.Errorf("the run ended: %+v", job.Run(t.Context(), pluginapi.Fire{InstanceID: instance}))
}
