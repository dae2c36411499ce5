package pluginhost

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// sweepLimit bounds one sweep, should processes be born as fast as they die.
const sweepLimit = 2 * time.Second

// killSession kills every process whose session is sid except the leader, and
// looks again until there is none. Process groups are no help here: jobs put
// their children into groups of their own.
func killSession(sid int) {
	sweep(func(pid int) bool {
		session, alive := sessionOf(pid)
		return alive && session == sid && pid != sid
	})
}

// killMarked kills every process whose environment holds ownerEnv with this
// id, except this one, and returns their pids. Only the mark counts, never a
// number that was written down: pids are used again by strangers.
func killMarked(id string) []int {
	mark := []byte(ownerEnv + "=" + id)
	return sweep(func(pid int) bool {
		if pid == os.Getpid() {
			return false
		}
		env, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
		if err != nil { // gone, or another user's
			return false
		}
		for v := range bytes.SplitSeq(env, []byte{0}) {
			if bytes.Equal(v, mark) {
				return true
			}
		}
		return false
	})
}

// sweep kills the processes that match and waits for their end, in rounds, until
// a round finds none. It returns those that it killed.
func sweep(match func(pid int) bool) []int {
	var killed []int
	for deadline := time.Now().Add(sweepLimit); time.Now().Before(deadline); {
		found := killRound(match, deadline)
		if len(found) == 0 {
			break
		}
		killed = append(killed, found...)
	}
	return killed
}

func killRound(match func(pid int) bool, deadline time.Time) []int {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil // no /proc: the group kill has to do
	}
	var killed []int
	var handles []int
	for _, entry := range entries {
		pid, err := strconv.Atoi(entry.Name())
		if err != nil || pid == 1 || !match(pid) {
			continue
		}
		// The handle names one process for good. What it names is looked at
		// again, since pid may have passed to another process meanwhile.
		handle, err := unix.PidfdOpen(pid, 0)
		if err != nil {
			continue
		}
		if match(pid) && unix.PidfdSendSignal(handle, unix.SIGKILL, nil, 0) == nil {
			killed, handles = append(killed, pid), append(handles, handle)
			continue
		}
		unix.Close(handle)
	}
	for _, handle := range handles {
		waitHandle(handle, deadline)
		// In a container the host may be the init that adopted it.
		_ = unix.Waitid(unix.P_PIDFD, handle, nil, unix.WEXITED|unix.WNOHANG, nil)
		unix.Close(handle)
	}
	return killed
}

// waitHandle waits until the process of a pidfd has ended.
func waitHandle(handle int, deadline time.Time) {
	for {
		left := time.Until(deadline)
		if left <= 0 {
			return
		}
		fds := []unix.PollFd{{Fd: int32(handle), Events: unix.POLLIN}}
		if _, err := unix.Poll(fds, int(left.Milliseconds())+1); !errors.Is(err, unix.EINTR) {
			return
		}
	}
}

// sessionOf returns the session of a process, and whether it still runs. In a
// container the session may be 0: its leader is outside.
func sessionOf(pid int) (session int, alive bool) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, false
	}
	// pid (name) state ppid pgrp session …; the name may hold anything.
	_, rest, ok := bytes.Cut(stat[max(0, bytes.LastIndexByte(stat, ')')):], []byte(" "))
	fields := bytes.Fields(rest)
	if !ok || len(fields) < 4 || fields[0][0] == 'Z' || fields[0][0] == 'X' {
		return 0, false
	}
	session, err = strconv.Atoi(string(fields[3]))
	return session, err == nil
}
