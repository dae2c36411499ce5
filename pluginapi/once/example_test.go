package once_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/axsched/ax/pluginapi"
	"github.com/axsched/ax/pluginapi/once"
)

// invoicing is a job whose work is a transaction.
type invoicing struct {
	db    *sql.DB
	table once.Table
}

// Run implements pluginapi.Job.
func (j invoicing) Run(ctx context.Context, run *pluginapi.Run) (pluginapi.Result, error) {
	day := run.ScheduledAt.Format(time.DateOnly) // not that of the clock
	err := j.table.Do(ctx, j.db, run.Fire, "invoices of "+day, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, "INSERT INTO invoice (day) VALUES (?)", day)
		return err
	})
	if errors.Is(err, once.ErrDone) {
		return pluginapi.Result{Message: "the invoices of " + day + " were written before"}, nil
	}
	return pluginapi.Result{Message: "wrote the invoices of " + day}, err
}

func ExampleTable_Do() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "once")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	db, err := sql.Open("sqlite", filepath.Join(dir, "shop.db"))
	if err != nil {
		panic(err)
	}
	defer db.Close()
	job := invoicing{db: db}
	if err := job.table.Create(ctx, db); err != nil {
		panic(err)
	}
	if _, err := db.ExecContext(ctx, "CREATE TABLE invoice (day TEXT)"); err != nil {
		panic(err)
	}
	run := &pluginapi.Run{Fire: pluginapi.Fire{
		InstanceID: "253380556003379200", Attempt: 1, Fence: 1, ScheduledAt: time.Date(2026, 3, 9, 2, 0, 0, 0, time.UTC),
	}}
	for range 2 {
		result, err := job.Run(ctx, run)
		fmt.Println(result.Message, err)
		run.Attempt, run.Fence = 2, 2 // the host died before it could note the first one
	}
	// Output:
	// wrote the invoices of 2026-03-09 <nil>
	// the invoices of 2026-03-09 were written before <nil>
}
