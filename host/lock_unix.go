//go:build unix

package host

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// lockDir makes sure that one host at a time uses a data directory. The lock
// goes with the process, however it ends. The file says whose it is.
func lockDir(dir string) (unlock func(), err error) {
	path := filepath.Join(dir, "ax.lock")
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if errors.Is(err, fs.ErrPermission) {
		return nil, fmt.Errorf("lock data_dir: %w; it belongs to %s: run the host as that user, or give it a data_dir of its own", err, ownerName(dir))
	}
	if err != nil {
		return nil, fmt.Errorf("lock data_dir: %w", err)
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		defer f.Close()
		return nil, fmt.Errorf("data_dir %s is in use by another host%s; stop it, or give this one a data_dir of its own (%s is locked)", dir, holder(f), path)
	}
	// Only people read it, so a full disk is no reason not to start.
	note := fmt.Sprintf("process %d of user %s\n", os.Getpid(), userName(os.Geteuid()))
	if f.Truncate(0) == nil {
		_, _ = f.WriteAt([]byte(note), 0)
	}
	return func() { f.Close() }, nil
}

// holder says who holds a lock, as far as the file tells.
func holder(f *os.File) string {
	const most = 200
	text, err := io.ReadAll(io.LimitReader(f, most))
	if note := strings.TrimSpace(string(text)); err == nil && note != "" {
		return ", " + note
	}
	return ""
}

// ownerName returns the user who owns a file.
func ownerName(path string) string {
	info, err := os.Stat(path)
	if err != nil {
		return "another user"
	}
	if sys, ok := info.Sys().(*syscall.Stat_t); ok {
		return "user " + userName(int(sys.Uid))
	}
	return "another user"
}

// userName returns the name of a user, or the number of one without a name.
func userName(id int) string {
	number := strconv.Itoa(id)
	if u, err := user.LookupId(number); err == nil {
		return u.Username
	}
	return number
}
