package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"

	"github.com/axsched/ax/pluginapi"
)

const shellPath = "/bin/sh"

// command makes the command of a run. Its errors are permanent: what is
// missing now will be missing at a retry.
func (j *job) command(run *pluginapi.Run) (*exec.Cmd, error) {
	who := ownAccount(j.host)
	if j.cfg.User != "" {
		var err error
		if who, err = findAccount(j.cfg.User, os.Geteuid()); err != nil {
			return nil, pluginapi.Permanent(err)
		}
	}
	dir, err := workDir(j.cfg.Dir, who.home)
	if err != nil {
		return nil, pluginapi.Permanent(err)
	}
	argv, err := j.argv(run.Params)
	if err != nil {
		return nil, pluginapi.Permanent(err)
	}
	env, skipped := environment(j.host, who, j.cfg.Env, run)
	for _, name := range skipped {
		run.Log.Warn("a variable was not passed: it is too large or holds a NUL byte", "name", name, "limit_bytes", maxVariable)
	}
	path, err := findProgram(argv[0], dir, variable(env, "PATH"))
	if err != nil {
		return nil, pluginapi.Permanent(err)
	}
	return &exec.Cmd{
		Path: path, Args: argv, Env: env, Dir: dir,
		SysProcAttr: &syscall.SysProcAttr{
			Setpgid:    true,
			Pdeathsig:  syscall.SIGKILL, // see startProcess
			Credential: who.credential,
		},
	}, nil
}

// workDir returns the directory to start in.
func workDir(wanted, home string) (string, error) {
	info, err := os.Stat(orElse(wanted, home))
	switch {
	case err == nil && info.IsDir():
		return orElse(wanted, home), nil
	case wanted == "":
		return "/", nil
	case err == nil:
		return "", fmt.Errorf("dir %s is not a directory", wanted)
	}
	return "", fmt.Errorf("dir %s: %w", wanted, errors.Unwrap(err))
}

// paramPattern matches a parameter in an argument.
var paramPattern = regexp.MustCompile(`\$\{params\.([^}]+)\}`)

// argv returns the command line with parameters put in. A parameter never
// becomes more than one argument.
func (j *job) argv(params map[string]any) ([]string, error) {
	if len(j.cfg.Command) == 0 {
		return []string{shellPath, "-c", j.cfg.Shell}, nil
	}
	argv := make([]string, len(j.cfg.Command))
	for i, arg := range j.cfg.Command {
		var missing []string
		argv[i] = paramPattern.ReplaceAllStringFunc(arg, func(reference string) string {
			name := paramPattern.FindStringSubmatch(reference)[1]
			value, ok := params[name]
			if !ok {
				missing = append(missing, name)
			}
			return paramText(value)
		})
		if missing != nil {
			return nil, fmt.Errorf("command[%d] needs the parameter %q, which this run does not have", i, missing[0])
		}
		if strings.ContainsRune(argv[i], 0) {
			return nil, fmt.Errorf("command[%d] holds a NUL byte, which no argument can", i)
		}
	}
	return argv, nil
}

func variable(env []string, name string) string {
	for _, entry := range env {
		if value, ok := strings.CutPrefix(entry, name+"="); ok {
			return value
		}
	}
	return ""
}

// findProgram resolves a program's name with the PATH that the command itself
// will see. Relative entries of PATH are ignored.
func findProgram(name, dir, path string) (string, error) {
	if strings.Contains(name, "/") {
		file := name
		if !filepath.IsAbs(file) {
			file = filepath.Join(dir, file)
		}
		return file, checkProgram(file)
	}
	var found error
	for _, entry := range filepath.SplitList(path) {
		if !filepath.IsAbs(entry) {
			continue
		}
		file := filepath.Join(entry, name)
		err := checkProgram(file)
		if err == nil {
			return file, nil
		}
		if !errors.Is(err, os.ErrNotExist) && found == nil {
			found = err
		}
	}
	if found != nil {
		return "", found
	}
	return "", fmt.Errorf("command %q not found in PATH %s", name, path)
}

func checkProgram(file string) error {
	info, err := os.Stat(file)
	switch {
	case err != nil:
		return fmt.Errorf("command %s: %w", file, errors.Unwrap(err))
	case info.IsDir():
		return fmt.Errorf("command %s is a directory", file)
	case info.Mode()&0o111 == 0:
		return fmt.Errorf("command %s is not executable: permission bits are %v", file, info.Mode().Perm())
	}
	return nil
}

// startError explains why the kernel refused to start a command. A shortage,
// such as of processes or memory, may pass; everything else is permanent.
func startError(cmd *exec.Cmd, err error) error {
	switch {
	case errors.Is(err, syscall.E2BIG):
		return pluginapi.Permanent(fmt.Errorf("start %s: arguments and environment, %d bytes, are too large for the system; hand large values over in a file", cmd.Path, size(cmd)))
	case errors.Is(err, syscall.ENOEXEC):
		return pluginapi.Permanent(fmt.Errorf("start %s: neither a program for this machine nor a script with a #! line", cmd.Path))
	case errors.Is(err, syscall.EACCES):
		return pluginapi.Permanent(fmt.Errorf("start %s in %s: permission denied for the program, its interpreter or the directory", cmd.Path, cmd.Dir))
	case errors.Is(err, syscall.ENOENT):
		return pluginapi.Permanent(fmt.Errorf("start %s: the interpreter that its first line names, or its loader, does not exist", cmd.Path))
	case errors.Is(err, syscall.EAGAIN), errors.Is(err, syscall.ENOMEM), errors.Is(err, syscall.ETXTBSY),
		errors.Is(err, syscall.EMFILE), errors.Is(err, syscall.ENFILE):
		return fmt.Errorf("start %s: %w", cmd.Path, err)
	}
	return pluginapi.Permanent(fmt.Errorf("start %s: %w", cmd.Path, err))
}

func size(cmd *exec.Cmd) int {
	n := 0
	for _, list := range [][]string{cmd.Args, cmd.Env} {
		for _, text := range list {
			n += len(text) + 1
		}
	}
	return n
}
