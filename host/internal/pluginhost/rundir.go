package pluginhost

import (
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"

	"github.com/hashicorp/go-hclog"
)

// maxSocketPath is what fits into the address of a unix socket on Linux, and
// socketPathTail what go-plugin appends to the run directory at most:
// /plugin-dirNNNNNNNNNN/pluginNNNNNNNNNN.
const (
	maxSocketPath  = 107
	socketPathTail = 40
)

// runDir is the private directory of one host: sockets of plugins, the id that
// marks its processes, and the lock that keeps a second host away.
type runDir struct {
	path  string
	owner string // random, the same for every host that uses the directory
	lock  *os.File
}

// checkRunDir reports a path that can hold no sockets.
func checkRunDir(path string) error {
	if path == "" {
		return errors.New("no run directory is set")
	}
	if len(path)+socketPathTail > maxSocketPath {
		return fmt.Errorf("run directory %s is too long: sockets in it would have %d characters, the system allows %d; "+
			"choose one of at most %d characters, such as /run/ax",
			path, len(path)+socketPathTail, maxSocketPath, maxSocketPath-socketPathTail)
	}
	return nil
}

// openRunDir makes the directory private, locks it and removes what an earlier
// host left: its processes first, then its sockets.
func openRunDir(path string, log hclog.Logger) (*runDir, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("find run directory: %w", err)
	}
	if err := checkRunDir(path); err != nil {
		return nil, err
	}
	if err := makePrivate(path); err != nil {
		return nil, err
	}
	d := &runDir{path: path}
	if d.lock, err = lockFile(filepath.Join(path, "lock")); err != nil {
		return nil, err
	}
	if d.owner, err = readOwner(filepath.Join(path, "owner")); err != nil {
		d.close()
		return nil, err
	}
	if killed := killMarked(d.owner); len(killed) > 0 {
		log.Warn("processes of an earlier host were still running and were killed", "pids", killed)
	}
	leftovers, _ := filepath.Glob(filepath.Join(path, "plugin-dir*")) // the pattern is good
	for _, leftover := range leftovers {
		if err := os.RemoveAll(leftover); err != nil {
			log.Warn("old socket directory could not be removed", "error", err)
		}
	}
	return d, nil
}

// close gives the lock back.
func (d *runDir) close() { d.lock.Close() }

func makePrivate(path string) error {
	if err := os.MkdirAll(path, 0o700); err != nil {
		return fmt.Errorf("make run directory: %w", err)
	}
	info, err := os.Lstat(path)
	if err != nil {
		return fmt.Errorf("look at run directory: %w", err)
	}
	if !info.IsDir() {
		return fmt.Errorf("run directory %s is not a directory", path)
	}
	if uid := ownerOf(info); uid != os.Geteuid() {
		return fmt.Errorf("run directory %s is owned by user %d, not by the host's user %d", path, uid, os.Geteuid())
	}
	if info.Mode().Perm() != 0o700 {
		if err := os.Chmod(path, 0o700); err != nil {
			return fmt.Errorf("make run directory private: %w", err)
		}
	}
	return nil
}

// lockFile locks a file for as long as it is open. The system gives the lock
// back when the host dies.
func lockFile(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open lock of run directory: %w", err)
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		f.Close()
		if errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, fmt.Errorf("another host is using the run directory %s", filepath.Dir(path))
		}
		return nil, fmt.Errorf("lock run directory: %w", err)
	}
	return f, nil
}

var ownerForm = regexp.MustCompile(`^[A-Z2-7]{26,}$`)

// readOwner returns the id of the run directory and makes one if there is none.
func readOwner(path string) (string, error) {
	raw, err := os.ReadFile(path)
	if owner := strings.TrimSpace(string(raw)); err == nil && ownerForm.MatchString(owner) {
		return owner, nil
	}
	owner := rand.Text()
	temp := path + ".new"
	if err := os.WriteFile(temp, []byte(owner+"\n"), 0o600); err != nil {
		return "", fmt.Errorf("write id of run directory: %w", err)
	}
	if err := os.Rename(temp, path); err != nil {
		return "", fmt.Errorf("write id of run directory: %w", err)
	}
	return owner, nil
}
