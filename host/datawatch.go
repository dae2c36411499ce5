package host

import (
	"fmt"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	"github.com/axsched/ax/host/internal/config"
)

// lookAtData is how often the files of the host are looked for.
const lookAtData = 2 * time.Second

// dataWatch finds out that files which the host has open were deleted or replaced.
// The system tells nobody: what is written goes into a file without a name, and is
// gone with the process.
type dataWatch struct {
	files []openFile
	lost  atomic.Pointer[string] // what is wrong, nil while all is there
}

// openFile is a file or folder as it was when the host began to use it.
type openFile struct {
	what, path string
	was        os.FileInfo
}

// newDataWatch takes note of the files that are there. A file is looked at by its
// name only: to open and close a database would drop SQLite's locks on it.
func newDataWatch(cfg *config.Config, database []string) (*dataWatch, error) {
	w := &dataWatch{}
	add := func(what, path string) error {
		path, err := filepath.Abs(path)
		if err != nil {
			return fmt.Errorf("find %s: %w", what, err)
		}
		if info, err := os.Stat(path); err == nil {
			w.files = append(w.files, openFile{what, path, info})
		}
		return nil
	}
	if err := add("data_dir", cfg.DataDir); err != nil {
		return nil, err
	}
	for _, path := range database {
		if err := add("database file", path); err != nil {
			return nil, err
		}
	}
	if cfg.Store.Shared() {
		if err := add("spool of results", spoolPath(cfg)); err != nil {
			return nil, err
		}
	}
	return w, nil
}

// look compares the files with what they were. It returns what is wrong, empty if
// nothing is.
func (w *dataWatch) look() string {
	for i := range w.files {
		f := &w.files[i]
		is, err := os.Stat(f.path)
		switch {
		case os.IsNotExist(err):
			return fmt.Sprintf("the %s %s was deleted or moved while the host uses it", f.what, f.path)
		case err != nil:
			return fmt.Sprintf("the %s cannot be found any more: %v", f.what, err)
		case !os.SameFile(f.was, is):
			return fmt.Sprintf("the %s %s was replaced by another one while the host uses it", f.what, f.path)
		}
	}
	return ""
}

// missing returns what is wrong, empty if nothing is.
func (w *dataWatch) missing() string {
	if text := w.lost.Load(); text != nil {
		return *text
	}
	return ""
}

// dataRemedy says what to do once files are missing.
func dataRemedy() string {
	return fmt.Sprintf("nothing is started until the same file is moved back. If it cannot be, process %d still has the data: "+
		"docs/operations.md, \"When the database file is gone\"; then stop the host, restore a backup and start it", os.Getpid())
}

// watchData follows the files of the host. While one is missing nothing is begun,
// and other hosts schedule what this one did.
func (h *Host) watchData() {
	ticker := time.NewTicker(lookAtData)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			h.lookAtData()
		case <-h.quit:
			return
		}
	}
}

func (h *Host) lookAtData() {
	was, is := h.data.missing(), h.data.look()
	switch is {
	case was:
		return
	case "":
		h.data.lost.Store(nil)
		h.log.Info("the files of the host are there again, it goes on")
		if !h.fleet.drained.Load() && !h.draining.Load() {
			h.fleet.view.Undrain()
		}
		h.freed()
		return
	}
	h.data.lost.Store(&is)
	h.log.Error(is, "remedy", dataRemedy())
	if was == "" && !h.fleet.sole {
		h.fleet.drain()
	}
}

// fenced reports whether no attempt may begin here: what is written would be lost,
// or other hosts may have taken this one for dead.
func (h *Host) fenced() bool {
	return h.data.missing() != "" || !h.fleet.sole && h.fleet.view.Fenced()
}
