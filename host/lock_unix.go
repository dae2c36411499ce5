//go:build unix

package host

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"
)

// lockDir makes sure that one host at a time uses a data directory. The lock
// goes with the process, however it ends.
func lockDir(dir string) (unlock func(), err error) {
	path := filepath.Join(dir, "ax.lock")
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("lock data_dir: %w", err)
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		f.Close()
		return nil, fmt.Errorf("data_dir %s is in use by another host (%s is locked); stop it, or give this one a data_dir of its own", dir, path)
	}
	return func() { f.Close() }, nil
}
