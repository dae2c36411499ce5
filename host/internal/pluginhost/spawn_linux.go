package pluginhost

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/axsched/ax/pluginapi/wire"
)

// File descriptors of a plugin besides 0 to 2.
const (
	lifelineFD = 3 // the read end of a pipe whose write end only the host holds
	programFD  = 4 // the program itself, as it was checked
)

// ownerEnv marks every process that a host started, and what these start in
// turn. It holds the id of the host's run directory.
const ownerEnv = "AX_OWNER"

// outputGrace is how long output is still read after a process ended, in case
// an escaped descendant holds the pipes.
const outputGrace = 200 * time.Millisecond

// spawner starts all programs of a host from one OS thread: Linux sends the
// parent-death signal when the *thread* ends that started the child, and the
// Go runtime ends threads as it likes.
type spawner struct {
	work chan func()
	done chan struct{}
}

func newSpawner() *spawner {
	s := &spawner{work: make(chan func()), done: make(chan struct{})}
	go func() {
		defer close(s.done)
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		for f := range s.work {
			f()
		}
	}()
	return s
}

// close ends the thread. No child may be alive any more.
func (s *spawner) close() {
	close(s.work)
	<-s.done
}

// launch is what start needs to know.
type launch struct {
	path    string   // for people: argv[0]
	program *os.File // what is run
	args    []string
	env     []string
	// onStdout and onStderr take lines until the process has ended.
	onStdout, onStderr func(line []byte, cut bool)
	bytesPerSec        int // read of each
}

// child is a running program: the leader of a session of its own, with a
// lifeline and with its output being read.
type child struct {
	pid    int
	cmd    *exec.Cmd
	exited chan struct{} // closed once it is reaped and its output was taken

	mu       sync.Mutex
	reaped   bool
	stdout   *os.File
	stderr   *os.File
	lifeline *os.File
	readers  sync.WaitGroup
}

// start runs a program. ETXTBSY, which means that someone (perhaps a child
// about to exec) still holds the file open for writing, is tried three times.
func (s *spawner) start(l launch) (*child, error) {
	var c *child
	var err error
	for pause := 10 * time.Millisecond; ; pause *= 4 {
		c, err = s.startOnce(l)
		if !errors.Is(err, syscall.ETXTBSY) || pause > 200*time.Millisecond {
			break
		}
		time.Sleep(pause)
	}
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", l.path, explainExec(l.program, err))
	}
	c.readers.Go(func() { readLines(pacedReader{c.stdout, newPace(l.bytesPerSec)}, l.onStdout) })
	c.readers.Go(func() { readLines(pacedReader{c.stderr, newPace(l.bytesPerSec)}, l.onStderr) })
	go c.reap()
	return c, nil
}

func (s *spawner) startOnce(l launch) (*child, error) {
	var pipes pipeSet
	defer pipes.closeTheirs()
	stdout, childOut := pipes.open()
	stderr, childErr := pipes.open()
	childLife, lifeline := pipes.openReverse()
	if pipes.err != nil {
		pipes.closeOurs()
		return nil, pipes.err
	}
	cmd := exec.Command("/proc/self/fd/"+strconv.Itoa(programFD), l.args...)
	cmd.Args[0] = l.path
	cmd.Env = append(l.env, wire.LifelineEnv+"="+strconv.Itoa(lifelineFD))
	cmd.Stdout, cmd.Stderr = childOut, childErr
	cmd.ExtraFiles = []*os.File{lifelineFD - 3: childLife, programFD - 3: l.program}
	// A new session keeps the terminal's signals away and makes every
	// descendant findable. The death signal is one that the plugin can catch,
	// so that it can take its own children with it.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGTERM}

	result := make(chan error)
	s.work <- func() { result <- cmd.Start() }
	if err := <-result; err != nil {
		pipes.closeOurs()
		return nil, err
	}
	return &child{
		pid: cmd.Process.Pid, cmd: cmd, exited: make(chan struct{}),
		stdout: stdout, stderr: stderr, lifeline: lifeline,
	}, nil
}

// reap waits for the end of the process, kills what is left of its group and
// session, and only then gives its pid back to the system: until then no
// other process can have that number.
func (c *child) reap() {
	defer close(c.exited)
	for {
		err := unix.Waitid(unix.P_PID, c.pid, &unix.Siginfo{}, unix.WEXITED|unix.WNOWAIT, nil)
		if !errors.Is(err, unix.EINTR) {
			break
		}
	}
	c.signalGroup(syscall.SIGKILL)
	killSession(c.pid)
	c.mu.Lock()
	// The state is read from cmd; an exit status other than 0 is no fault here.
	_ = c.cmd.Wait()
	c.reaped = true
	c.mu.Unlock()
	deadline := time.Now().Add(outputGrace)
	_ = c.stdout.SetReadDeadline(deadline) // pipes take deadlines
	_ = c.stderr.SetReadDeadline(deadline)
	c.readers.Wait()
	c.stdout.Close()
	c.stderr.Close()
	c.lifeline.Close()
}

// signalLeader signals the process alone, signalGroup all of its group. After
// its end they do nothing.
func (c *child) signalLeader(sig syscall.Signal) { c.signal(c.pid, sig) }
func (c *child) signalGroup(sig syscall.Signal)  { c.signal(-c.pid, sig) }

func (c *child) signal(target int, sig syscall.Signal) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.reaped {
		_ = syscall.Kill(target, sig) // it may have gone just now
	}
}

// status says how the process ended; valid once exited is closed.
func (c *child) status() string {
	state := c.cmd.ProcessState
	if sys, ok := state.Sys().(syscall.WaitStatus); ok && sys.Signaled() {
		return "was killed by signal " + sys.Signal().String()
	}
	return "exited with status " + strconv.Itoa(state.ExitCode())
}

// pipeSet opens pipes and remembers which ends go to the child.
type pipeSet struct {
	ours, theirs []*os.File
	err          error
}

// open returns a pipe that the child writes.
func (p *pipeSet) open() (ours, theirs *os.File) {
	r, w := p.pipe()
	p.ours, p.theirs = append(p.ours, r), append(p.theirs, w)
	return r, w
}

// openReverse returns a pipe that the child reads.
func (p *pipeSet) openReverse() (theirs, ours *os.File) {
	r, w := p.pipe()
	p.ours, p.theirs = append(p.ours, w), append(p.theirs, r)
	return r, w
}

func (p *pipeSet) pipe() (r, w *os.File) {
	r, w, err := os.Pipe()
	if err != nil {
		p.err = fmt.Errorf("open pipe: %w", err)
	}
	return r, w
}

// Closing a nil file, left by a pipe that could not be opened, does no harm.
func (p *pipeSet) closeOurs()   { closeAll(p.ours) }
func (p *pipeSet) closeTheirs() { closeAll(p.theirs) }

func closeAll(files []*os.File) {
	for _, f := range files {
		f.Close()
	}
}
