package main

import (
	"context"
	"database/sql"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/axsched/ax/bench/internal/rig"
)

// Ids hold the time at which they were made: milliseconds since idEpoch, before
// idBits bits that tell ids of one millisecond apart.
const (
	idEpochMS = 1735689600000 // 2025-01-01T00:00:00Z
	idBits    = 22
	// together is how many rows one statement inserts.
	together = 1000
)

type task struct {
	id   int64
	name string
}

// fill writes the history of the tasks: a row every so often, from the past to
// now, the tasks taking turns. One in fifty failed, one in a hundred was skipped.
func fill(ctx context.Context, r *rig.Rig) error {
	db, err := open(r)
	if err != nil {
		return err
	}
	defer db.Close()
	tasks, err := tasksOf(ctx, db)
	if err != nil {
		return err
	}
	begin := time.Now()
	span := time.Duration(*days) * 24 * time.Hour
	step := max(span/time.Duration(*rows), time.Millisecond)
	from := begin.Add(-step * time.Duration(*rows))
	for done := 0; done < *rows; done += together {
		if err := insert(ctx, db, tasks, from, step, done, min(together, *rows-done)); err != nil {
			return err
		}
		if done%1_000_000 == 0 && done > 0 {
			fmt.Printf("%d rows after %v\n", done, time.Since(begin).Round(time.Second))
		}
	}
	return nil
}

func tasksOf(ctx context.Context, db *sql.DB) ([]task, error) {
	found, err := db.QueryContext(ctx, "SELECT id, name FROM ax_task ORDER BY name")
	if err != nil {
		return nil, err
	}
	defer found.Close()
	var all []task
	for found.Next() {
		var t task
		if err := found.Scan(&t.id, &t.name); err != nil {
			return nil, err
		}
		all = append(all, t)
	}
	return all, found.Err()
}

// insert writes n rows from the row with a number on.
func insert(ctx context.Context, db *sql.DB, tasks []task, from time.Time, step time.Duration, number, n int) error {
	var text strings.Builder
	text.WriteString(`INSERT INTO ax_instance (id, app, task_id, task_name, scheduled_at, kind, shard, status, attempt, fence, owner, node,
  reason, missed, trace_id, params_bound, created_at, started_at, ended_at, deferred, callback_hash, message, error) VALUES `)
	for i := number; i < number+n; i++ {
		at := from.Add(step * time.Duration(i))
		t, status, took := tasks[i%len(tasks)], "SUCCESS", time.Duration(200+i%900)*time.Millisecond
		switch {
		case i%50 == 7:
			status = "FAILED"
		case i%100 == 11:
			status = "SKIPPED"
		}
		if i > number {
			text.WriteString(", ")
		}
		fmt.Fprintf(&text, "(%d, 'bench', %d, '%s', %d, 'scheduled', 0, '%s', 1, 1, 'bench', 'node-1', '', 0, '', 0, %d, %d, %d, 0, '', '', '')",
			(at.UnixMilli()-idEpochMS)<<idBits, t.id, t.name, at.UnixMicro(), status, at.UnixMicro(), at.UnixMicro(), at.Add(took).UnixMicro())
	}
	_, err := db.ExecContext(ctx, text.String())
	return err
}

// driverDSN is a DSN of the store as its driver wants it.
func driverDSN(dsn string) string {
	u, err := url.Parse(dsn)
	if err != nil {
		return dsn
	}
	password, _ := u.User.Password()
	return fmt.Sprintf("%s:%s@tcp(%s)%s", u.User.Username(), password, u.Host, u.Path)
}
