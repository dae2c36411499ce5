// Package spool keeps outcomes that the database did not take in a small file of
// this host, and sends them again until it does.
//
// What Put has taken survives the death of the process and of the machine. It is
// delivered in the order in which it came, at least once; since each outcome is
// a conditional update, a second delivery changes nothing. An outcome leads to
// no second run of its job, however late it is.
package spool

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/axsched/ax/host/internal/ax"
)

// Writer is the group-commit writer of the store.
type Writer interface{ Submit(ax.Change) }

// Log reads what is in the database about an instance.
type Log interface {
	Events(ctx context.Context, f ax.EventFilter) ([]ax.Event, error)
}

const (
	// DefaultKeep is how long an outcome is sent again and again.
	DefaultKeep = 48 * time.Hour
	// DefaultMaxBytes bounds the file: some 100,000 ordinary outcomes.
	DefaultMaxBytes = 256 << 20
)

// Config of a Spool.
type Config struct {
	// Path of the file. Its directory is there, and no other host uses it.
	Path string
	// Keep is how long outcomes are tried, 0 = DefaultKeep. MaxBytes bounds the
	// file, 0 = DefaultMaxBytes.
	Keep     time.Duration
	MaxBytes int64
	Node     string
	IDs      *ax.IDs
	Log      hclog.Logger
	Writer   Writer
	Events   Log
	// Settled is told what became of each result, one at a time; nil for nobody.
	Settled func(Result, Fate)
}

// Fate is what became of a result.
type Fate int

// Fates.
const (
	// Delivered: it is in the database.
	Delivered Fate = iota
	// Late: another attempt holds the instance, or it has another end. The
	// result is in the log of the instance, its row is as it was.
	Late
	// Expired: the database did not take it for as long as it was kept.
	Expired
)

var (
	// ErrFull says that the file has reached its bound.
	ErrFull = errors.New("the spool of results is full")
	// ErrClosed says that the spool was closed before.
	ErrClosed = errors.New("the spool of results is closed")
)

// Spool is the file and what sends from it. Make one with Open.
type Spool struct {
	cfg  Config
	file *file
	puts chan put
	wake chan struct{} // something was put
	quit context.CancelFunc
	ctx  context.Context
	loop sync.WaitGroup
	// unreadable are the ids of rows that have been complained of; send owns it.
	unreadable map[int64]bool
}

type put struct {
	row  row
	done chan error
}

// Open opens the file, or makes one. A file that is damaged is put aside under
// another name, which is logged, and a new one begun. An error says why there
// can be none: the host can do without, and should say so.
func Open(ctx context.Context, cfg Config) (*Spool, error) {
	if cfg.Keep == 0 {
		cfg.Keep = DefaultKeep
	}
	if cfg.MaxBytes == 0 {
		cfg.MaxBytes = DefaultMaxBytes
	}
	f, err := openFile(ctx, cfg.Path, cfg.MaxBytes, cfg.Log)
	if err != nil {
		return nil, err
	}
	s := &Spool{cfg: cfg, file: f, puts: make(chan put), wake: make(chan struct{}, 1), unreadable: map[int64]bool{}}
	s.ctx, s.quit = context.WithCancel(context.Background())
	s.loop.Go(s.write)
	return s, nil
}

// Start begins to send what is in the file.
func (s *Spool) Start() { s.loop.Go(s.send) }

// Close ends the sending and closes the file; what is in it is sent after the
// next Open. It may be called again.
func (s *Spool) Close() error {
	s.quit()
	s.loop.Wait()
	return s.file.close()
}

// Put keeps a result until it is in the database. When it returns nil the result
// is on disk. Puts at the same time share one write to the disk.
func (s *Spool) Put(r Result) error {
	now := time.Now()
	text, err := encode(r)
	if err != nil {
		return fmt.Errorf("keep the result of instance %s: %w", r.Move.New.ID, err)
	}
	p := put{done: make(chan error, 1), row: row{
		instance: r.Move.New.ID, attempt: r.Move.New.Attempt, fence: r.Move.Fence,
		failedAt: now, expiresAt: now.Add(s.cfg.Keep), result: text,
	}}
	select {
	case s.puts <- p:
	case <-s.ctx.Done():
		return ErrClosed
	}
	if err := <-p.done; err != nil {
		return fmt.Errorf("keep the result of instance %s: %w", r.Move.New.ID, err)
	}
	return nil
}

// Pending returns how many results wait, and since when the oldest one does.
func (s *Spool) Pending(ctx context.Context) (n int, oldest time.Time, err error) {
	return s.file.pending(ctx)
}

// maxPuts bounds the results that share one transaction.
const maxPuts = 256

// write puts results into the file.
func (s *Spool) write() {
	for {
		var group []put
		select {
		case p := <-s.puts:
			group = s.gather(p)
		case <-s.ctx.Done():
			return
		}
		rows := make([]row, len(group))
		for i, p := range group {
			rows[i] = p.row
		}
		err := s.file.insert(context.WithoutCancel(s.ctx), rows)
		for _, p := range group {
			p.done <- err
		}
		if err == nil {
			select {
			case s.wake <- struct{}{}:
			default:
			}
		}
	}
}

// gather returns a put and those that wait just now.
func (s *Spool) gather(first put) []put {
	group := []put{first}
	for len(group) < maxPuts {
		select {
		case p := <-s.puts:
			group = append(group, p)
		default:
			return group
		}
	}
	return group
}
