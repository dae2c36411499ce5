package main

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/axsched/ax/pluginapi"
)

// settings are what a task gives in `with:`.
type settings struct {
	Command      []string           `json:"command" ax:"min=1" doc:"Program and arguments, started without a shell. ${params.NAME} in it is replaced by a parameter and stays one argument, whatever it holds."`
	Shell        string             `json:"shell" doc:"Script for /bin/sh -c, instead of command. Use \"$AX_PARAM_NAME\" for parameters; ${params.NAME} is not replaced here, since the shell would interpret it."`
	Env          map[string]string  `json:"env" ax:"secret" doc:"Environment variables, laid over the plugin's default environment. Names beginning with AX_ are taken."`
	Dir          string             `json:"dir" doc:"Working directory, an absolute path. Default: the home directory, or / if it does not exist."`
	User         string             `json:"user" doc:"Name or number of the user to run as. Needs a host that runs as root, unless it is the host's own user."`
	SuccessCodes []int              `json:"success_codes" ax:"default=0,min=1" doc:"Exit codes that count as success."`
	NoRetryCodes []int              `json:"no_retry_codes" doc:"Exit codes after which the host does not try again."`
	OutputLimit  int                `json:"output_limit" ax:"default=1048576,min=1024,max=16777216" doc:"Bytes of output that are kept: half from its beginning, streamed as it comes, and half from its end."`
	StopSignal   string             `json:"stop_signal" ax:"default=TERM,enum=TERM|INT|HUP|QUIT|USR1|USR2|KILL" doc:"Signal to the whole process group at timeout, cancel and shutdown."`
	KillAfter    pluginapi.Duration `json:"kill_after" ax:"default=5s,max=10m" doc:"Time between stop_signal and SIGKILL. Keep it below the task's grace period."`
	KeepChildren bool               `json:"keep_children" doc:"Let background processes live on after the command has exited by itself. They must redirect their output. At timeout, cancel and shutdown they are killed all the same."`
}

// signal is stop_signal as the kernel knows it.
func (s *settings) signal() unix.Signal { return unix.SignalNum("SIG" + s.StopSignal) }

// check reports all faults that the schema cannot express.
func (s *settings) check() error {
	var errs []error
	switch {
	case len(s.Command) > 0 && s.Shell != "":
		errs = append(errs, errors.New("command and shell exclude each other: give one of them"))
	case len(s.Command) == 0 && strings.TrimSpace(s.Shell) == "":
		errs = append(errs, errors.New("give command (a list) or shell (a script)"))
	case len(s.Command) > 0 && s.Command[0] == "":
		errs = append(errs, errors.New("command[0]: the program is empty"))
	}
	if s.Dir != "" && !filepath.IsAbs(s.Dir) {
		errs = append(errs, fmt.Errorf("dir: expected an absolute path, got %q", s.Dir))
	}
	for _, code := range slices.Concat(s.SuccessCodes, s.NoRetryCodes) {
		if code < 0 || code > 255 {
			errs = append(errs, fmt.Errorf("exit codes are 0 to 255, got %d", code))
		}
	}
	for name, value := range s.Env {
		errs = append(errs, checkVariable(name, value))
	}
	return errors.Join(errs...)
}

// checkVariable never quotes the value, which may be a secret.
func checkVariable(name, value string) error {
	switch {
	case name == "" || strings.ContainsAny(name, "=\x00"):
		return fmt.Errorf("env: %q cannot be the name of a variable", name)
	case strings.HasPrefix(name, ownPrefix):
		return fmt.Errorf("env: %s: names beginning with %s are set by the host", name, ownPrefix)
	case strings.ContainsRune(value, 0):
		return fmt.Errorf("env: %s: the value holds a NUL byte", name)
	}
	return nil
}
