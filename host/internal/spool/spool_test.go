package spool

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/axsched/ax/host/internal/ax"
)

// database is a writer with a switch.
type database struct {
	mu      sync.Mutex
	err     error // what Submit answers
	refuse  map[ax.InstanceID]error
	stale   map[ax.InstanceID]bool // held by another attempt
	silent  bool                   // writes, and answers with err
	moves   []ax.InstanceID        // applied, in order
	events  []ax.Event
	refused int
}

func (d *database) Submit(c ax.Change) {
	d.mu.Lock()
	defer d.mu.Unlock()
	var id ax.InstanceID
	applied, err := true, d.err
	if c.Move != nil {
		id = c.Move.New.ID
		if applied = !d.stale[id] && !slices.Contains(d.moves, id); d.refuse[id] != nil {
			err = d.refuse[id]
		}
	}
	if err != nil {
		d.refused++
	}
	if (err == nil || d.silent) && applied {
		if id != 0 {
			d.moves = append(d.moves, id)
		}
		d.events = append(d.events, c.Events...)
	}
	go c.Done(applied && err == nil, err)
}

func (d *database) Events(_ context.Context, f ax.EventFilter) ([]ax.Event, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	var found []ax.Event
	for _, e := range d.events {
		if e.InstanceID == f.Instance && e.ID > f.After {
			found = append(found, e)
		}
	}
	return found, d.err
}

func (d *database) set(f func()) {
	d.mu.Lock()
	defer d.mu.Unlock()
	f()
}

func result(id int) Result {
	inst := ax.Instance{ID: ax.InstanceID(id), TaskID: 5, TaskName: "report", Status: ax.StatusSuccess, Attempt: 2, Fence: 3, Message: "done"}
	return Result{
		Move:      ax.Move{From: ax.StatusRunning, Fence: 3, New: inst},
		Events:    []ax.Event{{ID: int64(1000 + id), InstanceID: inst.ID, TaskID: 5, Stage: ax.StageOutcome, Text: "SUCCESS"}},
		Outcome:   ax.Outcome{Status: ax.StatusSuccess, Message: "done"},
		WillRetry: true,
	}
}

// bundle is a spool over a database with a switch.
type bundle struct {
	*Spool
	db   *database
	path string

	mu    sync.Mutex
	fates []string
}

func (b *bundle) told() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return strings.Join(b.fates, " ")
}

func setup(t *testing.T, change func(*Config)) *bundle {
	t.Helper()
	b := &bundle{db: &database{refuse: map[ax.InstanceID]error{}, stale: map[ax.InstanceID]bool{}}}
	b.path = filepath.Join(t.TempDir(), "spool.db")
	b.open(t, change)
	return b
}

func (b *bundle) open(t *testing.T, change func(*Config)) {
	t.Helper()
	cfg := Config{
		Path: b.path, Node: "n1", IDs: ax.NewIDs(1), Log: hclog.NewNullLogger(), Writer: b.db, Events: b.db,
		Settled: func(r Result, f Fate) {
			b.mu.Lock()
			defer b.mu.Unlock()
			b.fates = append(b.fates, fmt.Sprintf("%d:%c", r.Move.New.ID, "DLE"[f]))
		},
	}
	if change != nil {
		change(&cfg)
	}
	s, err := Open(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	b.Spool = s
	t.Cleanup(func() { s.Close() })
}

func (b *bundle) put(t *testing.T, ids ...int) {
	t.Helper()
	for _, id := range ids {
		if err := b.Put(result(id)); err != nil {
			t.Fatal(err)
		}
	}
}

func (b *bundle) want(t *testing.T, pending int) {
	t.Helper()
	if n, _, err := b.Pending(t.Context()); err != nil || n != pending {
		t.Fatalf("%d results wait (%v), want %d", n, err, pending)
	}
}

// TestOutage: ten minutes without a database, and a restart of the host in the
// middle; then everything arrives in order, once.
func TestOutage(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := setup(t, nil)
		b.db.set(func() { b.db.err = fmt.Errorf("submit: %w", ax.ErrUnavailable) })
		b.Start()
		var want []string
		for id := range 100 {
			b.put(t, id+1)
			want = append(want, fmt.Sprintf("%d:D", id+1))
			time.Sleep(3 * time.Second)
		}
		b.Close()
		b.open(t, nil)
		b.Start()
		time.Sleep(5 * time.Minute)
		b.want(t, 100)
		b.db.set(func() {
			if b.db.refused > 100*64 {
				t.Errorf("the database was bothered %d times", b.db.refused)
			}
			b.db.err = nil
		})
		time.Sleep(lastPause + time.Second)
		synctest.Wait()
		b.want(t, 0)
		if got := b.told(); got != strings.Join(want, " ") {
			t.Errorf("told of %s", got)
		}
		if len(b.db.moves) != 100 || !slices.IsSorted(b.db.moves) || len(b.db.events) != 100 {
			t.Errorf("%d moves and %d events, in order %v", len(b.db.moves), len(b.db.events), b.db.moves)
		}
		b.put(t, 500)
		time.Sleep(2 * firstPause)
		synctest.Wait()
		b.want(t, 0)
	})
}

// TestLateAndWritten: a result that another attempt has overtaken goes to the
// log; one that was written although the answer was an error is delivered.
func TestLateAndWritten(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := setup(t, nil)
		b.put(t, 1, 2, 3)
		b.db.stale[1] = true
		b.db.err, b.db.silent = ax.ErrUnavailable, true
		if _, err := b.runOnce(t.Context()); !errors.Is(err, ax.ErrUnavailable) {
			t.Fatalf("error %v", err)
		}
		b.want(t, 3)
		b.db.set(func() { b.db.err = nil })
		if left, err := b.runOnce(t.Context()); left != 0 || err != nil {
			t.Fatalf("%d left, error %v", left, err)
		}
		b.want(t, 0)
		if got := b.told(); got != "1:L 2:D 3:D" {
			t.Errorf("told of %s", got)
		}
		late := b.db.events[len(b.db.events)-1]
		if late.Stage != ax.StageLateResult || late.InstanceID != 1 || !strings.Contains(late.Text, "SUCCESS of attempt 2 came too late") {
			t.Errorf("event %+v", late)
		}
	})
}

// TestOneThatIsRefused does not keep the others from being delivered, and is
// given up in the end.
func TestOneThatIsRefused(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := setup(t, func(c *Config) { c.Keep = 3 * time.Hour })
		b.db.refuse[1] = errors.New("data too long")
		b.put(t, 1, 2)
		b.Start()
		time.Sleep(2 * time.Hour)
		synctest.Wait()
		b.want(t, 1)
		if n, since, _ := b.Pending(t.Context()); n != 1 || time.Since(since) < 2*time.Hour {
			t.Errorf("%d since %s", n, since)
		}
		time.Sleep(time.Hour + time.Minute)
		synctest.Wait()
		b.want(t, 0)
		if got := b.told(); got != "2:D 1:E" {
			t.Errorf("told of %s", got)
		}
	})
}

func TestDamagedFileIsPutAside(t *testing.T) {
	t.Parallel()
	for name, damage := range map[string]func(path string) error{
		"no database": func(path string) error {
			return os.WriteFile(path, []byte(strings.Repeat("no database ", 1000)), 0o600)
		},
		"torn pages": func(path string) error {
			f, err := os.OpenFile(path, os.O_WRONLY, 0o600)
			if err != nil {
				return err
			}
			defer f.Close()
			_, err = f.WriteAt([]byte(strings.Repeat("\xff\x07", 6000)), pageSize)
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t, nil)
			for id := range 50 {
				b.put(t, id+1)
			}
			b.Close()
			if err := damage(b.path); err != nil {
				t.Fatal(err)
			}
			b.open(t, nil)
			b.put(t, 77)
			b.want(t, 1)
			aside, err := filepath.Glob(b.path + ".damaged-*")
			if err != nil || len(aside) == 0 {
				t.Errorf("nothing was put aside (%v)", err)
			}
		})
	}
}

// TestDamageWhileOpen: also a file that is damaged under the host's hands ends
// as one put aside and a new one.
func TestDamageWhileOpen(t *testing.T) {
	t.Parallel()
	b := setup(t, nil)
	if _, err := b.file.db.Exec("DROP TABLE ax_result_pending; PRAGMA writable_schema=ON; " +
		"INSERT INTO sqlite_master (type, name, tbl_name, rootpage, sql) VALUES ('table', 'ax_result_pending', 'ax_result_pending', 900, '" + table + "'); " +
		"PRAGMA writable_schema=RESET"); err != nil {
		t.Fatal(err)
	}
	b.put(t, 1)
	b.want(t, 1)
	if aside, _ := filepath.Glob(b.path + ".damaged-*"); len(aside) == 0 {
		t.Error("nothing was put aside")
	}
}

func TestFull(t *testing.T) {
	t.Parallel()
	b := setup(t, func(c *Config) { c.MaxBytes = 1 << 20 })
	r := result(1)
	r.Move.New.Error = strings.Repeat("x", 10_000)
	var err error
	n := 0
	for ; err == nil && n < 1000; n++ {
		err = b.Put(r)
	}
	if !errors.Is(err, ErrFull) || n < 50 || n > 105 {
		t.Fatalf("after %d results of 10 kB: %v", n, err)
	}
	if left, err := b.runOnce(t.Context()); left != 0 || err != nil {
		t.Fatalf("%d left, %v", left, err)
	}
	if err := b.Put(r); err != nil {
		t.Errorf("full although everything was delivered: %v", err)
	}
	info, err := os.Stat(b.path)
	if err != nil || info.Size() > 1<<20 || info.Mode().Perm() != 0o600 {
		t.Errorf("file of %d bytes with mode %s (%v)", info.Size(), info.Mode(), err)
	}
}

func TestOneProcessAtATime(t *testing.T) {
	t.Parallel()
	b := setup(t, nil)
	b.put(t, 1)
	if s, err := Open(t.Context(), Config{Path: b.path, Log: hclog.NewNullLogger()}); err == nil {
		s.Close()
		t.Error("opened twice")
	} else if !strings.Contains(err.Error(), "locked") {
		t.Errorf("error %v", err)
	}
	b.Close()
	if err := b.Put(result(2)); !errors.Is(err, ErrClosed) {
		t.Errorf("Put after Close: %v", err)
	}
	if err := b.Close(); err != nil {
		t.Errorf("second Close: %v", err)
	}
}

func BenchmarkPut(b *testing.B) {
	s, err := Open(context.Background(), Config{Path: filepath.Join(b.TempDir(), "spool.db"), Log: hclog.NewNullLogger()})
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	r := result(1)
	b.SetParallelism(32)
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if err := s.Put(r); err != nil {
				b.Error(err)
			}
		}
	})
}
