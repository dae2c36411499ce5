package store_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/axsched/ax/host/internal/ax"
	"github.com/axsched/ax/host/internal/store"
	"github.com/axsched/ax/host/internal/store/mysqltest"
)

// filled are statements that fill a SQLite database with rows of all kinds, some
// 30,000 of them.
var filled = []string{
	`WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 499)
INSERT INTO ax_task (id, app, name, bucket, owner, fence, definition, source, enabled, next_at, prev_at, planned, plan_version, plan_done,
  anchor_at, paused, paused_until, parked, failures, revision, changed, created_at, created_by, updated_at, updated_by, deleted_at)
SELECT i * 17, 'shop', 'task ' || i || ' 对账 😀', i % 1024, '', 0, '{"a":"\\n''"}', 'ax.yaml:3', i % 2, iif(i % 3, 1768000000000000 + i, NULL), NULL,
  iif(i % 5, NULL, '[1,2]'), 'v', 0, NULL, 0, NULL, '', i % 4, 1, i, 1768000000000000, 'config', 1768000000000001, 'lin', iif(i % 50, NULL, 5) FROM n`,
	`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 10000)
INSERT INTO ax_instance (id, app, task_id, task_name, scheduled_at, kind, shard, status, attempt, fence, owner, node, reason, missed, missed_until,
  trace_id, params, params_bound, created_at, started_at, ended_at, retry_at, deferred, callback_hash, deadline_at, message, error, data)
SELECT i * 1000, 'shop', i % 500 * 17, 'task', 1768000000000000 + i * 1000000, 'scheduled', 0, iif(i % 7, 'SUCCESS', 'FAILED'), 1, 1, 'i', 'node-1', '', 0, NULL,
  't', iif(i % 2, '{"n": 12345678901234567890}', NULL), 0, 5, 6, 7, NULL, 0, '', NULL, 'said \ " '' %', '', iif(i % 9, NULL, '{}') FROM n`,
	`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000)
INSERT INTO ax_log (id, instance_id, task_id, at, attempt, stage, level, node, text)
SELECT i * 501, i / 2 * 1000, 17, i, 1, 'output', 'info', 'node-1', iif(i % 1000, 'line ' || i, hex(zeroblob(200000))) FROM n`,
	`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1200)
INSERT INTO ax_audit (id, at, app, actor, action, object, detail) SELECT i, i, 'shop', 'lin', 'task.pause', 'task ' || i, iif(i % 2, NULL, '{}') FROM n`,
	`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300)
INSERT INTO ax_alert (id, app, task_id, task_name, notifier, event, state, window_start, window_end, count, first_at, last_at, payload, attempts, next_try_at, last_error, version, digest, merged_into)
SELECT i, 'shop', 17, 'task', 'ops', 'failed', 'sent', NULL, 9, 2, 1, 2, '{"x":1}', 1, NULL, '', 3, 'd', 0 FROM n`,
	`INSERT INTO ax_alert_event VALUES (1, 'shop', 17, 'task', '', 'failed', 1, 5, 1000, 1, 'node-1', '')`,
	`INSERT INTO ax_alert_task VALUES (17, 'shop', 3, '{}')`,
	`INSERT INTO ax_alert_notifier VALUES ('shop', 'ops', NULL, 0, NULL, '', 5), ('shop', '值班', 1, 2, 3, 'refused', NULL)`,
	`INSERT INTO ax_alert_silence VALUES (801, 'shop', '', '', 9, 'moves', 1, 'lin')`,
	`INSERT INTO ax_request VALUES ('shop', 'order 7', 'd', 1000, 5)`,
	`INSERT INTO ax_app VALUES ('shop', 512)`,
}

func migrated(t *testing.T, dsn string) *store.Store {
	t.Helper()
	s, err := store.Open(t.Context(), store.Options{DSN: dsn})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	if _, err := s.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	return s
}

func sqliteDSN(t *testing.T) string { return "sqlite:" + filepath.Join(t.TempDir(), "ax.db") }

// contents returns all rows of the tables that move, as texts.
func contents(t *testing.T, s *store.Store) map[string][]string {
	t.Helper()
	all := map[string][]string{}
	for table, order := range map[string]string{
		"ax_app": "app", "ax_task": "id", "ax_instance": "id", "ax_log": "id", "ax_audit": "id", "ax_alert": "id",
		"ax_alert_event": "id", "ax_alert_task": "task_id", "ax_alert_notifier": "app, name", "ax_alert_silence": "id", "ax_request": "request_key",
	} {
		all[table] = textsOf(t, s, "SELECT * FROM "+table+" ORDER BY "+order)
	}
	return all
}

// textsOf returns a text for each row of a query.
func textsOf(t *testing.T, s *store.Store, query string) (all []string) {
	t.Helper()
	rows, err := s.ReadDB().QueryContext(t.Context(), query)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	names, err := rows.Columns()
	if err != nil {
		t.Fatal(err)
	}
	for rows.Next() {
		values, to := make([]any, len(names)), make([]any, len(names))
		for i := range values {
			to[i] = &values[i]
		}
		if err := rows.Scan(to...); err != nil {
			t.Fatal(err)
		}
		row := map[string]string{} // in whatever order the columns are
		for i, v := range values {
			if text, ok := v.([]byte); ok {
				v = string(text)
			}
			row[names[i]] = fmt.Sprintf("%T %v", v, v)
		}
		all = append(all, fmt.Sprint(row))
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return all
}

func sameContents(t *testing.T, got, want map[string][]string) {
	t.Helper()
	for table, rows := range want {
		if len(got[table]) != len(rows) {
			t.Errorf("%s has %d rows, want %d", table, len(got[table]), len(rows))
			continue
		}
		for i := range rows {
			if got[table][i] != rows[i] {
				t.Errorf("%s, row %d:\n%.300s\nwant\n%.300s", table, i, got[table][i], rows[i])
				break
			}
		}
	}
}

// TestTransfer moves a database to MySQL, is cut short again and again and goes on,
// and moves it back.
func TestTransfer(t *testing.T) {
	t.Parallel()
	from := migrated(t, sqliteDSN(t))
	runSQL(t, from, filled...)
	want := contents(t, from)
	to := migrated(t, mysqltest.DSN(t))
	var total, moved int64
	cuts := 0
	for {
		ctx, cut := context.WithCancel(t.Context())
		var begin int64 = -1
		report, err := store.Transfer(ctx, from, to, func(p store.TransferProgress) {
			if p.Done > p.Total {
				t.Errorf("%d of %d", p.Done, p.Total)
			}
			if total = p.Total; begin < 0 {
				begin = p.Done
			}
			if p.Done >= begin+6000 && p.Done < p.Total {
				cut()
			}
		})
		cut()
		moved += report.Moved
		if err == nil {
			break
		}
		if !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
		if cuts++; cuts > 20 {
			t.Fatal("it does not get on")
		}
	}
	if cuts < 3 || moved != total || total < 31_000 {
		t.Errorf("cut %d times, moved %d of %d rows", cuts, moved, total)
	}
	sameContents(t, contents(t, to), want)

	report, err := store.Transfer(t.Context(), from, to, nil)
	if err != nil || !report.Complete || report.Moved != 0 || report.Rows["ax_instance"] != 10_000 {
		t.Errorf("once more: %+v, %v", report, err)
	}
	if err := to.Audit(t.Context(), ax.AuditRow{App: "shop", At: time.Now(), Action: "x"}); err != nil {
		t.Errorf("a new row after those that came along: %v", err)
	}
	runSQL(t, to, "DELETE FROM ax_audit WHERE action = 'x'")
	back := migrated(t, sqliteDSN(t))
	if _, err := store.Transfer(t.Context(), to, back, nil); err != nil {
		t.Fatal(err)
	}
	sameContents(t, contents(t, back), want)
}

func TestTransferRefuses(t *testing.T) {
	t.Parallel()
	small := filled[len(filled)-1]
	fresh := func() *store.Store {
		s := migrated(t, sqliteDSN(t))
		runSQL(t, s, small)
		return s
	}
	host := ax.Node{Incarnation: "i", Name: "node-7", App: "shop", StartedAt: time.Now()}
	alive, dead := fresh(), fresh()
	for _, s := range []*store.Store{alive, dead} {
		if err := s.RegisterNode(t.Context(), host); err != nil {
			t.Fatal(err)
		}
	}
	runSQL(t, dead, "UPDATE ax_node SET beat_at = beat_at - 21000000")
	target := func(statements ...string) *store.Store {
		s := migrated(t, mysqltest.DSN(t))
		runSQL(t, s, statements...)
		return s
	}
	busy := target()
	if err := busy.RegisterNode(t.Context(), host); err != nil {
		t.Fatal(err)
	}
	half := target()
	if _, err := store.Transfer(t.Context(), fresh(), half, nil); err != nil {
		t.Fatal(err)
	}
	bare, err := store.Open(t.Context(), store.Options{DSN: mysqltest.DSN(t)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { bare.Close() })
	for _, tc := range []struct {
		name     string
		from, to *store.Store
		want     error
		text     string
	}{
		{"a host runs on the source", alive, target(), store.ErrInUse, "source: a host uses the database: node-7"},
		{"a host runs on the target", fresh(), busy, store.ErrInUse, "target"},
		{"a host of the source died", dead, target(), nil, ""},
		{"other data", fresh(), target("INSERT INTO ax_app VALUES ('else', 1)"), store.ErrNotEmpty, "1 rows in ax_app"},
		{"filled from elsewhere", fresh(), half, store.ErrNotEmpty, "another database"},
		{"without tables", fresh(), bare, store.ErrSchemaOld, "target"},
	} {
		for _, s := range []*store.Store{alive, busy} { // making databases takes longer than a host may be silent
			if _, err := s.Heartbeat(t.Context(), host); err != nil {
				t.Fatal(err)
			}
		}
		_, err := store.Transfer(t.Context(), tc.from, tc.to, nil)
		if !errors.Is(err, tc.want) || tc.want != nil && !strings.Contains(err.Error(), tc.text) {
			t.Errorf("%s: %v", tc.name, err)
		}
	}
}
