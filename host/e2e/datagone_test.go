package e2e

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/axsched/ax/host/internal/api"
	"github.com/axsched/ax/host/internal/ax"
)

// failing waits until the host says that it does not do its work, and why.
func (w *world) failing(reason string) {
	w.t.Helper()
	eventually(w.t, patience, func() error {
		r := w.ax("health")
		if r.code != 1 || !containsAll(r.out, []string{"failing", reason, "moved back"}) {
			return fmt.Errorf("ax health: exit code %d: %s", r.code, r.out)
		}
		return nil
	})
}

// started is how many runs of a task the host shows.
func (w *world) started(task string) int {
	w.t.Helper()
	return len(axJSON[api.InstanceList](w, "instances", "--task", task, "--limit", "1000").Instances)
}

// TestDataFilesAreGone takes the files of a host away while it runs: it says so,
// starts nothing that would leave no trace, and goes on once they are back.
func TestDataFilesAreGone(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ what, file string }{
		{"database file", "data/ax.db"}, {"database file", "data/ax.db-wal"}, {"data_dir", "data"},
	} {
		t.Run(filepath.Base(tt.file), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, "exec")
			w.config("tasks:\n  - {name: tick, every: 1s, job: {use: exec, with: {command: [\"true\"]}}}\n")
			h := w.start()
			w.some("tick", 1, ax.StatusSuccess)
			w.must(os.Rename(w.path(tt.file), w.path("away")))
			w.failing("the " + tt.what + " " + w.path(tt.file) + " was deleted or moved")
			h.logs("[ERROR]", "was deleted or moved", "remedy=")
			before := w.started("tick")
			time.Sleep(2500 * time.Millisecond) // two due times go by
			if after := w.started("tick"); after != before {
				t.Errorf("%d runs were begun without files", after-before)
			}
			w.must(os.Rename(w.path("away"), w.path(tt.file)))
			h.logs("are there again")
			eventually(t, patience, func() error {
				if r := w.ax("health"); r.code != 0 {
					return fmt.Errorf("ax health: exit code %d: %s", r.code, r.out)
				}
				if after := w.started("tick"); after <= before {
					return fmt.Errorf("%d runs, want more", after)
				}
				return nil
			})
			h.stop()
			w.integrity()
		})
	}
}

// TestDataOfADeletedFile gets the data back that the host of a deleted file still
// has open, as docs/operations.md says.
func TestDataOfADeletedFile(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "exec")
	w.config("tasks:\n  - {name: tick, every: 1s, job: {use: exec, with: {command: [\"true\"]}}}\n")
	h := w.start()
	w.some("tick", 2, ax.StatusSuccess)
	for _, end := range []string{"", "-wal", "-shm"} {
		w.must(os.Remove(w.path("data", "ax.db"+end)))
	}
	w.failing("was deleted or moved")
	saved := w.path("saved.db")
	for _, end := range []string{"", "-wal"} {
		w.must(copyOpen(h.cmd.Process.Pid, w.path("data", "ax.db"+end)+" (deleted)", saved+end))
	}
	h.stop()
	for _, end := range []string{"", "-wal"} {
		w.must(os.Rename(saved+end, w.path("data", "ax.db"+end)))
	}
	w.integrity()
	if n := len(w.of("tick")); n < 2 {
		t.Errorf("%d runs were saved, want at least 2", n)
	}
	w.start().stop()
}

// copyOpen copies a file that a process has open under a name.
func copyOpen(pid int, name, to string) error {
	folder := fmt.Sprintf("/proc/%d/fd", pid)
	entries, err := os.ReadDir(folder)
	if err != nil {
		return err
	}
	for _, e := range entries {
		path := filepath.Join(folder, e.Name())
		if target, err := os.Readlink(path); err != nil || target != name {
			continue
		}
		in, err := os.Open(path)
		if err != nil {
			return err
		}
		defer in.Close()
		out, err := os.Create(to)
		if err != nil {
			return err
		}
		defer out.Close()
		_, err = io.Copy(out, in)
		return err
	}
	return fmt.Errorf("process %d has no file %s", pid, name)
}

// TestBackupAndRestore makes a backup of a host that runs, damages its database, and
// goes on with the backup, as docs/operations.md says.
func TestBackupAndRestore(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "exec")
	w.config("tasks:\n  - {name: tick, every: 1s, job: {use: exec, with: {command: [\"true\"]}}}\n")
	h := w.start()
	w.some("tick", 2, ax.StatusSuccess)
	db := w.database()
	_, err := db.ExecContext(t.Context(), "VACUUM INTO ?", w.path("backup.db"))
	w.must(errors.Join(err, db.Close()))
	h.stop()

	data, err := os.ReadFile(w.path("data", "ax.db"))
	w.must(err)
	const page = 4096
	for at := 3 * page; at < len(data); at += 2 * page { // what a broken disk leaves
		clear(data[at:min(at+page/2, len(data))])
	}
	w.must(os.WriteFile(w.path("data", "ax.db"), data, 0o600))
	h = w.launch()
	if state := h.wait(patience); state.ExitCode() == 0 {
		t.Errorf("a host with a damaged database: %s", state)
	}
	h.logs("ax.db is damaged: restore a backup", "docs/operations.md")

	for _, end := range []string{"", "-wal", "-shm"} {
		if err := os.Remove(w.path("data", "ax.db"+end)); err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
	}
	w.must(os.Rename(w.path("backup.db"), w.path("data", "ax.db")))
	before := len(w.of("tick"))
	if before < 2 {
		t.Errorf("%d runs in the backup, want at least 2", before)
	}
	h = w.start()
	w.some("tick", before+1, ax.StatusSuccess)
	h.stop()
	w.integrity()
}
