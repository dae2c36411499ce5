package store_test

import (
	"database/sql"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/axsched/ax/host/internal/ax"
	"github.com/axsched/ax/host/internal/store"
	"github.com/axsched/ax/host/internal/store/storetest"
)

// BenchmarkSetWiseLimit is what the database can do at best with the same
// tables and the same durability: for a set of executions one transaction with
// three statements that set all plans and insert all instances and events, and
// another one with two that finish them all. BenchmarkExecutions is measured
// against this.
func BenchmarkSetWiseLimit(b *testing.B) {
	for _, size := range []int{100, 1000} {
		b.Run(fmt.Sprintf("set=%d", size), func(b *testing.B) {
			s := storetest.Open(b)
			w := newSetWriter(s, size, benchTasks(b, s, 10_000))
			b.ResetTimer()
			done := 0
			for ; done < b.N; done += size {
				w.fill(done)
				w.commit(b, statement{w.plan, w.planArgs}, statement{w.insert, w.insertArgs}, statement{w.log, w.beginArgs})
				w.commit(b, statement{w.finish, w.finishArgs}, statement{w.log, w.endArgs})
			}
			b.ReportMetric(float64(done)/b.Elapsed().Seconds(), "executions/s")
		})
	}
}

// setWriter holds the statements for a set of executions, and their arguments.
type setWriter struct {
	store *store.Store
	size  int
	tasks []ax.TaskRow
	ids   *ax.IDs

	plan, insert, log, finish                            string
	planArgs, insertArgs, beginArgs, endArgs, finishArgs []any
}

type statement struct {
	text string
	args []any
}

func newSetWriter(s *store.Store, size int, tasks []ax.TaskRow) *setWriter {
	repeat := func(text string) string { return strings.TrimSuffix(strings.Repeat(text+", ", size), ", ") }
	return &setWriter{
		store: s, size: size, tasks: tasks, ids: ax.NewIDs(1),
		plan: "UPDATE ax_task SET prev_at = next_at, next_at = next_at + 1000000 WHERE id IN (" + repeat("?") + ")",
		insert: "INSERT INTO ax_instance VALUES " + repeat("(?, 'bench', ?, ?, ?, 'scheduled', 0, 'RUNNING', 1, 1, 'host-1-0001', 'host-1', '', 0, NULL, "+
			"'0123456789abcdef0123456789abcdef', NULL, 0, ?, ?, NULL, NULL, 0, '', NULL, '', '', NULL)"),
		log:    "INSERT INTO ax_log VALUES " + repeat("(?, ?, ?, ?, 1, 'claimed', 'info', 'host-1', '')"),
		finish: "UPDATE ax_instance SET status = 'SUCCESS', message = 'done', ended_at = ? WHERE status = 'RUNNING' AND id IN (" + repeat("?") + ")",
	}
}

// fill makes the arguments for a set that begins with the n-th execution.
func (w *setWriter) fill(n int) {
	now := time.Now()
	w.planArgs, w.insertArgs, w.beginArgs, w.endArgs = nil, nil, nil, nil
	w.finishArgs = []any{now.UnixMicro()}
	for k := range w.size {
		t := &w.tasks[(n+k)%len(w.tasks)]
		i := benchInstance(w.ids, t, t.NextAt, now)
		t.NextAt = t.NextAt.Add(time.Second)
		w.planArgs = append(w.planArgs, int64(t.ID))
		w.insertArgs = append(w.insertArgs, int64(i.ID), int64(t.ID), t.Name, i.ScheduledAt.UnixMicro(), now.UnixMicro(), now.UnixMicro())
		w.beginArgs = append(w.beginArgs, w.ids.Next(now), int64(i.ID), int64(t.ID), now.UnixMicro())
		w.endArgs = append(w.endArgs, w.ids.Next(now), int64(i.ID), int64(t.ID), now.UnixMicro())
		w.finishArgs = append(w.finishArgs, int64(i.ID))
	}
}

func (w *setWriter) commit(b *testing.B, statements ...statement) {
	tx, err := w.store.WriteDB().Begin()
	if err != nil {
		b.Fatal(err)
	}
	for _, st := range statements {
		if err := execAll(tx, st, w.size); err != nil {
			b.Fatal(err)
		}
	}
	if err := tx.Commit(); err != nil {
		b.Fatal(err)
	}
}

// execAll runs a statement and checks that it hit the whole set.
func execAll(tx *sql.Tx, st statement, size int) error {
	res, err := tx.Exec(st.text, st.args...)
	if err != nil {
		return err
	}
	if n, err := res.RowsAffected(); err != nil || n != int64(size) {
		return fmt.Errorf("%d rows of %d: %w", n, size, err)
	}
	return nil
}
