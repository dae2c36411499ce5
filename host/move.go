package host

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/hashicorp/go-hclog"

	"github.com/axsched/ax/host/internal/store"
)

// Move says which data goes where.
type Move struct {
	// From and To are DSNs. The account of To may make tables.
	From, To string
	// Progress is told how far it is, in rows; nil for nobody.
	Progress func(table string, done, total int64)
	Log      hclog.Logger
}

// Moved says what a move did.
type Moved struct {
	// Rows are those in the target, by table; Now counts those that came just now.
	Rows map[string]int64
	Now  int64
	// Before: an earlier move had moved everything.
	Before bool
}

// MoveData brings the schema of the target up to date and moves everything there
// that another database has. No host may run on either; a move that was cut short
// goes on where it stopped.
func MoveData(ctx context.Context, m Move) (Moved, error) {
	if m.From == m.To {
		return Moved{}, errors.New("source and target are the same database")
	}
	from, err := store.Open(ctx, store.Options{DSN: m.From, Log: m.Log, ReadOnly: true})
	if err != nil {
		return Moved{}, fmt.Errorf("source: %w", err)
	}
	defer from.Close()
	unlock, err := lockBeside(m.From)
	if err != nil {
		return Moved{}, fmt.Errorf("source: %w", err)
	}
	defer unlock()
	if err := from.CheckSchema(ctx); err != nil {
		if errors.Is(err, store.ErrSchemaOld) {
			err = fmt.Errorf("%w; bring it up to date first: ax migrate --dsn …", err)
		}
		return Moved{}, fmt.Errorf("source: %w", err)
	}
	to, err := store.Open(ctx, store.Options{DSN: m.To, Log: m.Log})
	if err != nil {
		return Moved{}, fmt.Errorf("target: %w", err)
	}
	defer to.Close()
	unlockTo, err := lockBeside(m.To)
	if err != nil {
		return Moved{}, fmt.Errorf("target: %w", err)
	}
	defer unlockTo()
	if _, err := to.Migrate(ctx); err != nil {
		return Moved{}, fmt.Errorf("target: %w", err)
	}
	var progress func(store.TransferProgress)
	if m.Progress != nil {
		progress = func(p store.TransferProgress) { m.Progress(p.Table, p.Done, p.Total) }
	}
	report, err := store.Transfer(ctx, from, to, progress)
	return Moved{Rows: report.Rows, Now: report.Moved, Before: report.Complete}, err
}

// lockBeside keeps hosts away from a database that is a file in their data_dir.
func lockBeside(dsn string) (unlock func(), err error) {
	path, ok := strings.CutPrefix(dsn, "sqlite:")
	if !ok {
		return func() {}, nil
	}
	return lockDir(filepath.Dir(path))
}
