package main

import (
	"bufio"
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"github.com/axsched/ax/pluginapi"
)

// Flags that make the test binary a plugin that will be killed, with a guard
// and without.
const (
	victimFlag = "--victim"
	bareFlag   = "--bare-victim"
)

// runVictim runs a job whose processes never end, and whose output tells the
// test that they have started.
func runVictim(instance string) {
	j := &job{
		runner: &runner{host: os.Getenv, guard: &guard{}},
		cfg:    settings{Shell: "sleep 300 & (sleep 300; :) & echo ready; sleep 300", OutputLimit: 1024, StopSignal: "TERM"},
	}
	run := &pluginapi.Run{Output: os.Stdout, Log: slog.Default()}
	run.InstanceID = instance
	_, err := j.Run(context.Background(), run)
	fmt.Println("ended:", err)
}

// runBare runs a command that no guard knows of.
func runBare(instance string) {
	j := &job{runner: &runner{host: os.Getenv}, cfg: settings{Command: []string{"sleep", "300"}}}
	run := &pluginapi.Run{}
	run.InstanceID = instance
	cmd, err := j.command(run)
	if err != nil {
		fmt.Println(err)
		return
	}
	p, err := startProcess(cmd, os.Stdout)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("ready")
	<-p.exited
}

func startVictim(t *testing.T, flag, instance string) *exec.Cmd {
	t.Helper()
	victim := exec.Command("/proc/self/exe", flag, instance)
	victim.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	out, err := victim.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := victim.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil || line != "ready\n" {
		t.Fatalf("victim says %q, %v", line, err)
	}
	return victim
}

// The host may kill the plugin's group with SIGKILL, or the kernel the plugin
// when memory is short: nothing of its commands may live on.
func TestGuardKillsTreesOfADeadPlugin(t *testing.T) {
	t.Parallel()
	instance := fmt.Sprintf("%s-%d", t.Name(), os.Getpid())
	victim := startVictim(t, victimFlag, instance)
	if n := len(processesOf(t, instance)); n < 3 {
		t.Errorf("only %d processes run before the kill", n)
	}
	if err := syscall.Kill(-victim.Process.Pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	_ = victim.Wait() // killed
	nobodyLeft(t, instance)
}

// Pdeathsig is the belt for the moment before the guard knows of a command.
func TestCommandDiesWithItsPlugin(t *testing.T) {
	t.Parallel()
	instance := fmt.Sprintf("%s-%d", t.Name(), os.Getpid())
	victim := startVictim(t, bareFlag, instance)
	if pids := processesOf(t, instance); len(pids) != 1 {
		t.Errorf("processes %v before the kill, want one", pids)
	}
	if err := victim.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = victim.Wait() // killed
	nobodyLeft(t, instance)
}

func TestGuardIsReplacedWhenItDies(t *testing.T) {
	t.Parallel()
	sleeper := exec.Command("sleep", "300")
	sleeper.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := sleeper.Start(); err != nil {
		t.Fatal(err)
	}
	g := &guard{groups: map[int]struct{}{}}
	broken, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	broken.Close() // a guard that is gone
	g.pipe = w
	if err := g.add(sleeper.Process.Pid); err != nil {
		t.Fatal(err)
	}
	g.pipe.Close() // what the end of the plugin does
	if err := sleeper.Wait(); err == nil || !strings.Contains(err.Error(), "killed") {
		t.Errorf("the sleeper ended with %v", err)
	}
}

func TestGuardForgetsEndedGroups(t *testing.T) {
	t.Parallel()
	sleeper := exec.Command("sleep", "300")
	sleeper.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := sleeper.Start(); err != nil {
		t.Fatal(err)
	}
	pid := sleeper.Process.Pid
	runGuard(strings.NewReader(fmt.Sprintf("+%d\n-%d\n+1\n+0\n-\n\nnoise\n", pid, pid)))
	if err := syscall.Kill(pid, syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := sleeper.Wait(); err == nil || !strings.Contains(err.Error(), "terminated") {
		t.Errorf("the sleeper ended with %v", err)
	}
}
