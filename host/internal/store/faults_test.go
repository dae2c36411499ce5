package store_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/axsched/ax/host/internal/ax"
	"github.com/axsched/ax/host/internal/store"
	"github.com/axsched/ax/host/internal/store/storetest"
)

// faulty is a store whose database can be made full or busy.
type faulty struct {
	*testing.T
	*store.Store
	path string
	// troubled gets a value for each line that the store logs.
	troubled lines
	ids      *ax.IDs
}

// lines passes on that something was logged.
type lines chan string

func (l lines) Write(p []byte) (int, error) {
	select {
	case l <- string(p):
	default:
	}
	return len(p), nil
}

func newFaulty(t *testing.T, retryFor time.Duration) *faulty {
	f := &faulty{T: t, path: filepath.Join(t.TempDir(), "ax.db"), troubled: make(lines, 100), ids: ax.NewIDs(1)}
	f.Store = storetest.OpenWith(t, store.Options{
		DSN: "sqlite:" + f.path, RetryFor: retryFor,
		Log: hclog.New(&hclog.LoggerOptions{Output: f.troubled, Level: hclog.Warn}),
	})
	return f
}

// pragma sets a pragma on the writing connection.
func (f *faulty) pragma(text string) {
	f.Helper()
	if _, err := f.WriteDB().Exec("PRAGMA " + text); err != nil {
		f.Fatal(err)
	}
}

// fill makes the database as good as full.
func (f *faulty) fill() {
	f.Helper()
	var pages int
	if err := f.WriteDB().QueryRow("PRAGMA page_count").Scan(&pages); err != nil {
		f.Fatal(err)
	}
	f.pragma(fmt.Sprintf("max_page_count = %d", pages))
}

// lock takes the write lock of the database as another process would, and
// returns what gives it back.
func (f *faulty) lock() (unlock func()) {
	f.Helper()
	f.pragma("busy_timeout = 0") // or each attempt would wait 5 s by itself
	db, err := sql.Open("sqlite", "file:"+f.path+"?_txlock=immediate")
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { db.Close() })
	tx, err := db.Begin()
	if err != nil {
		f.Fatal(err)
	}
	return func() {
		if err := tx.Rollback(); err != nil {
			f.Fatal(err)
		}
	}
}

// send submits n changes with an event of 10 kB each.
func (f *faulty) send(n int) <-chan error {
	answers := make(chan error, n)
	for range n {
		f.Submit(ax.Change{
			Events: []ax.Event{{ID: f.ids.Next(time.Now()), InstanceID: 1, At: time.Now(), Stage: ax.StageOutput, Text: strings.Repeat("x", 10_000)}},
			Done: func(applied bool, err error) {
				if err == nil && !applied {
					err = errors.New("not applied")
				}
				answers <- err
			},
		})
	}
	return answers
}

// faults begin a fault and return what ends it.
var faults = map[string]func(*faulty) (end func()){
	"disk full": func(f *faulty) func() { f.fill(); return func() { f.pragma("max_page_count = 1000000") } },
	"busy":      func(f *faulty) func() { return f.lock() },
}

func TestFaultsThatPass(t *testing.T) {
	t.Parallel()
	for name, fault := range faults {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFaulty(t, time.Minute)
			end := fault(f)
			const n = 200
			answers := f.send(n)
			<-f.troubled // refused at least once
			end()
			for range n {
				if err := <-answers; err != nil {
					t.Fatal(err)
				}
			}
			events, err := f.Events(t.Context(), ax.EventFilter{Instance: 1})
			if err != nil || len(events) != n {
				t.Errorf("%d events, want %d (%v)", len(events), n, err)
			}
			if st := f.Stats(); st.Retries == 0 || st.Failed != 0 || st.Applied != n {
				t.Errorf("stats %+v", st)
			}
			f.check()
		})
	}
}

func TestFaultsThatStay(t *testing.T) {
	t.Parallel()
	for name, fault := range faults {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFaulty(t, 100*time.Millisecond)
			end := fault(f)
			const n = 50
			answers := f.send(n)
			failed := 0
			for range n { // a full database may have had room for some
				if err := <-answers; errors.Is(err, store.ErrUnavailable) {
					failed++
				} else if err != nil {
					t.Errorf("got %v, want ErrUnavailable", err)
				}
			}
			if failed == 0 {
				t.Error("everything was written")
			}
			err := f.Silence(t.Context(), ax.AlertSilence{ID: 1, Until: time.Now(), At: time.Now(), By: strings.Repeat("y", 50_000)})
			if !errors.Is(err, store.ErrUnavailable) {
				t.Errorf("a direct write: %v, want ErrUnavailable", err)
			}
			end()
			if err := <-f.send(1); err != nil {
				t.Errorf("after the fault: %v", err)
			}
			f.check()
		})
	}
}

// TestCloseDuringFault: closing must not hang, and must answer everything.
func TestCloseDuringFault(t *testing.T) {
	t.Parallel()
	f := newFaulty(t, 200*time.Millisecond)
	unlock := f.lock()
	defer unlock()
	answers := f.send(100)
	if err := f.Close(); err != nil {
		t.Error(err)
	}
	for range 100 {
		select {
		case err := <-answers:
			if !errors.Is(err, store.ErrUnavailable) {
				t.Errorf("got %v, want ErrUnavailable", err)
			}
		default:
			t.Fatal("a change was not answered before Close returned")
		}
	}
}

// TestSubmitBlocks: with a full buffer Submit waits, and goes on once the
// writer does.
func TestSubmitBlocks(t *testing.T) {
	t.Parallel()
	s := storetest.OpenWith(t, store.Options{DSN: "sqlite:" + dbPath(t), Buffer: 4, MaxBatch: 2})
	gate := make(chan struct{})
	s.Submit(ax.Change{Done: func(bool, error) { <-gate }}) // holds the writer
	sent := make(chan int, 100)
	go func() {
		for n := range 100 {
			s.Submit(ax.Change{})
			sent <- n
		}
		close(sent)
	}()
	for range 4 {
		<-sent
	}
	if queued := s.Stats().Queued; queued > 4 {
		t.Errorf("%d changes in a buffer of 4", queued)
	}
	close(gate)
	n := 4
	for range sent {
		n++
	}
	if n != 100 {
		t.Errorf("%d changes sent, want 100", n)
	}
}

// check looks for damage.
func (f *faulty) check() {
	f.Helper()
	checkIntegrity(f.T, f.Store)
}

func checkIntegrity(t *testing.T, s *store.Store) {
	t.Helper()
	var result string
	if err := s.ReadDB().QueryRowContext(context.Background(), "PRAGMA integrity_check").Scan(&result); err != nil || result != "ok" {
		t.Errorf("integrity check: %s, %v", result, err)
	}
}

// TestEndBeforeCommit: a context that ends after the last statement is told as
// that, not as a transaction that somebody else has undone.
func TestEndBeforeCommit(t *testing.T) {
	t.Parallel()
	s := storetest.OpenWith(t, store.Options{DSN: "sqlite:" + dbPath(t)})
	ctx, cancel := context.WithCancel(t.Context())
	err := s.WriteTx(ctx, func(tx *sql.Tx) error {
		cancel()
		for { // package sql undoes it in a goroutine
			if _, err := tx.Exec("SELECT 1"); errors.Is(err, sql.ErrTxDone) {
				return nil
			}
		}
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("%v, want that the context was canceled", err)
	}
}
