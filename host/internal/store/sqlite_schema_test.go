package store_test

import (
	"strings"
	"testing"
	"time"

	"github.com/axsched/ax/host/internal/ax"
	"github.com/axsched/ax/host/internal/store"
	"github.com/axsched/ax/host/internal/store/storetest"
)

// TestViews: whoever opens the file sees times.
func TestViews(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 2, 28, 23, 59, 59, 7000, time.UTC)
	viewsShowTimes(t, storetest.Open(t), at, "2026-02-28 23:59:59.000007")
}

func viewsShowTimes(t *testing.T, s *store.Store, at time.Time, want string) {
	t.Helper()
	apply := store.ApplyParams{App: "a", Actor: "eve", Now: at, Upsert: []ax.TaskRow{storetest.Task("a", "t", at)}}
	i := ax.Instance{ID: 1, App: "a", TaskID: apply.Upsert[0].ID, TaskName: "t", ScheduledAt: at, CreatedAt: at, Kind: ax.KindManual, Status: ax.StatusMissed}
	done := make(chan error, 1)
	s.Submit(ax.Change{
		Insert: []ax.Instance{i}, Events: []ax.Event{{ID: 1, InstanceID: 1, At: at, Stage: ax.StageOutcome}},
		Done: func(_ bool, err error) { done <- err },
	})
	lease, _, err := s.TakeAlertLease(t.Context(), "a", "h1", time.Minute, false)
	if err != nil {
		t.Fatal(err)
	}
	for what, err := range map[string]error{
		"apply": s.ApplyTasks(t.Context(), apply), "submit": <-done,
		"node":  s.RegisterNode(t.Context(), ax.Node{Incarnation: "x", StartedAt: at}),
		"alert": s.WriteAlerts(t.Context(), ax.AlertBatch{Lease: lease, Rows: []ax.AlertRow{{ID: 1, WindowStart: at, State: ax.AlertOpen}}}),
	} {
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
	}
	for _, c := range []struct{ view, column string }{
		{"ax_task_v", "next_at"}, {"ax_task_v", "created_at"}, {"ax_instance_v", "scheduled_at"}, {"ax_log_v", "at"},
		{"ax_node_v", "started_at"}, {"ax_alert_v", "window_start"}, {"ax_audit_v", "at"},
	} {
		var got string
		err := s.ReadDB().QueryRow("SELECT " + c.column + " FROM " + c.view).Scan(&got)
		if err != nil || got != want {
			t.Errorf("%s of %s: %q, want %q (%v)", c.column, c.view, got, want, err)
		}
	}
	var ended *string
	if err := s.ReadDB().QueryRow("SELECT ended_at FROM ax_instance_v").Scan(&ended); err != nil || ended != nil {
		t.Errorf("a time that is not set shows as %v (%v)", ended, err)
	}
}

// TestQueryPlans: what is asked often must not walk through whole tables, nor
// sort what it found.
func TestQueryPlans(t *testing.T) {
	t.Parallel()
	s := storetest.Open(t)
	for query, index := range map[string]string{
		"SELECT * FROM ax_instance WHERE id = 1": "PRIMARY KEY",
		"SELECT * FROM ax_instance WHERE app = 'a' AND status = 'FAILED' AND id < 9 ORDER BY id DESC LIMIT 9": "ax_instance_status",
		"SELECT * FROM ax_instance WHERE app = 'a' AND status IN ('A', 'B') ORDER BY status, id":              "ax_instance_status",
		"SELECT * FROM ax_instance WHERE task_id = 1 AND id < 9 ORDER BY id DESC LIMIT 9":                     "ax_instance_task",
		"SELECT status, count(*) FROM ax_instance WHERE app = 'a' GROUP BY status":                            "ax_instance_status",
		"SELECT max(x.id) FROM ax_instance x WHERE x.task_id = 1":                                             "ax_instance_task",
		"SELECT * FROM ax_log WHERE instance_id = 1 AND id > 5 ORDER BY id LIMIT 9":                           "ax_log_instance",
		"DELETE FROM ax_log WHERE instance_id IN (1, 2)":                                                      "ax_log_instance",
		"SELECT * FROM ax_alert WHERE app = 'a' AND task_id = 1 ORDER BY window_start DESC, id DESC":          "ax_alert_window",
		"SELECT * FROM ax_alert_event WHERE app = 'a' ORDER BY id LIMIT 9":                                    "ax_alert_event_app",
		"SELECT * FROM ax_alert WHERE merged_into = 5":                                                        "ax_alert_merged",
		"SELECT * FROM ax_task WHERE app = 'a' AND next_at < 9 ORDER BY next_at LIMIT 9":                      "ax_task_next",
		"SELECT * FROM ax_audit WHERE app = 'a' AND object = 'o' ORDER BY id DESC":                            "ax_audit_object",
	} {
		text := strings.Join(texts(t, s, "EXPLAIN QUERY PLAN "+query), "; ")
		if !strings.Contains(text, index) || strings.Contains(text, "SCAN") || strings.Contains(text, "TEMP B-TREE") {
			t.Errorf("%s\n  plan: %s\n  want %s and no scan or sort", query, text, index)
		}
	}
}
