package main

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strconv"

	"golang.org/x/sys/unix"
)

func killGroup(group int) { _ = unix.Kill(-group, unix.SIGKILL) } // fails only if nobody is left

// groupAlive reports whether a process group has members other than zombies.
// Those do not count since in many containers nobody ever reaps them.
func groupAlive(group int) bool {
	if errors.Is(unix.Kill(-group, 0), unix.ESRCH) {
		return false
	}
	files, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil || len(files) == 0 {
		return true // without /proc, kill is the only witness
	}
	for _, file := range files {
		stat, err := os.ReadFile(file)
		if err != nil {
			continue // has ended meanwhile
		}
		if state, of, ok := parseStat(stat); ok && of == group && state != 'Z' && state != 'X' {
			return true
		}
	}
	return false
}

// parseStat reads the state and the group from /proc/PID/stat, where they are
// the first and third field after the name. The name stands in parentheses
// and may itself hold any of them.
func parseStat(stat []byte) (state byte, group int, ok bool) {
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	if len(fields) < 3 {
		return 0, 0, false
	}
	group, err := strconv.Atoi(string(fields[2]))
	return fields[0][0], group, err == nil
}
