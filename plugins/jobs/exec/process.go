package main

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"runtime"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// drainDelay is how long output is still read once the processes have
	// ended; only one that left its process group can hold the pipe longer.
	drainDelay = 2 * time.Second
	// A stopping group is looked at after firstPoll, and then ever less often.
	firstPoll = 10 * time.Millisecond
	lastPoll  = 160 * time.Millisecond
)

// process is a running command, the leader of its own process group.
type process struct {
	cmd *exec.Cmd
	// exited is closed when the leader has ended. It stays a zombie until
	// reap, so that its number cannot go to a stranger meanwhile.
	exited chan struct{}
	output *os.File
	// read is closed when output has been read to its end, or if held, until
	// finish gave up.
	read chan struct{}
	held bool
}

// startProcess starts cmd with both its output streams on one pipe, which
// keeps their order, and copies that to out. The error is the kernel's.
func startProcess(cmd *exec.Cmd, out io.Writer) (*process, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	cmd.Stdout, cmd.Stderr = w, w
	p := &process{cmd: cmd, exited: make(chan struct{}), output: r, read: make(chan struct{})}
	started := make(chan error, 1)
	go func() {
		// The kernel sends Pdeathsig when the thread that started the child
		// ends, not the process: this thread lives as long as the child.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		started <- err
		if err == nil {
			waitExit(cmd.Process.Pid)
			close(p.exited)
		}
	}()
	err = <-started
	w.Close()
	if err != nil {
		r.Close()
		return nil, err
	}
	go p.copyOutput(out)
	return p, nil
}

// waitExit blocks until the child has ended and leaves it a zombie.
func waitExit(pid int) {
	for {
		err := unix.Waitid(unix.P_PID, pid, nil, unix.WEXITED|unix.WNOWAIT, nil)
		if !errors.Is(err, unix.EINTR) {
			return
		}
	}
}

func (p *process) group() int { return p.cmd.Process.Pid }

// wait returns how the command ended. stopped is the cause of ctx if that
// ended first and the whole group was stopped for it.
func (p *process) wait(ctx context.Context, cfg *settings) (state *os.ProcessState, stopped error) {
	select {
	case <-p.exited:
		if !cfg.KeepChildren {
			killGroup(p.group())
		}
	case <-ctx.Done():
		stopped = context.Cause(ctx)
		p.stop(cfg.signal(), cfg.KillAfter.Std())
	}
	p.reap()
	return p.cmd.ProcessState, stopped
}

// stop signals the group and, after the delay, kills what is left of it. It
// waits for more than the leader: a shell dies of SIGTERM at once, while the
// program in it may still tidy up.
func (p *process) stop(signal unix.Signal, delay time.Duration) {
	_ = unix.Kill(-p.group(), signal) // fails only if nobody is left
	deadline := time.NewTimer(delay)
	defer deadline.Stop()
	select {
	case <-p.exited:
		p.reap()
	case <-deadline.C:
		killGroup(p.group())
		<-p.exited
		return
	}
	for pause := firstPoll; groupAlive(p.group()); pause = min(2*pause, lastPoll) {
		select {
		case <-time.After(pause):
		case <-deadline.C:
			killGroup(p.group())
			return
		}
	}
}

// reap takes the exit state from the kernel. The leader must have exited.
func (p *process) reap() {
	if p.cmd.ProcessState == nil {
		_ = p.cmd.Wait() // what it reports stands in ProcessState
	}
}

// copyOutput ends when no process holds the pipe any more or finish gives up.
// While out waits for the host the pipe fills, and the processes wait as well.
func (p *process) copyOutput(out io.Writer) {
	defer close(p.read)
	buf := make([]byte, 64<<10)
	for {
		n, err := p.output.Read(buf)
		_, _ = out.Write(buf[:n]) // a capture never fails
		if errors.Is(err, os.ErrDeadlineExceeded) {
			p.held = p.copyRest(out)
		}
		if err != nil {
			return
		}
	}
}

// copyRest takes what lies in the pipe: all the time that finish gave may have
// gone by while out was waiting. It reports whether somebody still holds the
// pipe.
func (p *process) copyRest(out io.Writer) (held bool) {
	_ = p.output.SetReadDeadline(time.Time{})
	_, _ = io.CopyN(out, p.output, int64(p.unread())) // it is there: no wait
	return !p.abandoned()
}

// unread is how many bytes lie in the pipe.
func (p *process) unread() (n int) {
	p.control(func(fd int) error {
		var err error
		n, err = unix.IoctlGetInt(fd, unix.TIOCINQ) // FIONREAD by its other name
		return err
	})
	return n
}

// abandoned reports whether nothing can come from the pipe any more.
func (p *process) abandoned() bool {
	poll := []unix.PollFd{{Events: unix.POLLIN}}
	p.control(func(fd int) error {
		poll[0].Fd = int32(fd)
		_, err := unix.Poll(poll, 0)
		return err
	})
	return poll[0].Revents == unix.POLLHUP
}

// control calls f with the descriptor of the pipe, again if a signal comes.
func (p *process) control(f func(fd int) error) {
	conn, err := p.output.SyscallConn()
	if err != nil {
		return // closed, which nobody does before finish
	}
	_ = conn.Control(func(fd uintptr) {
		for errors.Is(f(int(fd)), unix.EINTR) {
			continue
		}
	})
}

// finish waits for the rest of the output, but not long. It reports whether
// some process outside the group still holds the pipe.
func (p *process) finish() (held bool) {
	_ = p.output.SetReadDeadline(time.Now().Add(drainDelay)) // pipes have deadlines
	<-p.read
	p.output.Close()
	return p.held
}
