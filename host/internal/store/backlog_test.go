package store

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/axsched/ax/host/internal/ax"
)

// TestBacklogPlans: the view of the backlog is asked for while the database is
// busy, so it must reach its rows by index. What waits may be grouped by a sort,
// since it is few.
func TestBacklogPlans(t *testing.T) {
	t.Parallel()
	s, err := Open(t.Context(), Options{DSN: "sqlite:" + filepath.Join(t.TempDir(), "ax.db")})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := s.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	waiting, waitingArgs := waitingQuery("a")
	for _, tc := range []struct {
		name, query string
		args        []any
		want        []string
		forbidden   []string
	}{
		{
			"durations", durationsQuery, []any{"a", ax.FirstID(time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC))},
			[]string{"t USING INDEX ax_task_name (app=?)", "i USING INDEX ax_instance_task (task_id=? AND rowid>?)"},
			[]string{"SCAN", "TEMP B-TREE"},
		},
		{
			"waiting", waiting, waitingArgs,
			[]string{"ax_instance USING INDEX ax_instance_status (app=? AND status=?)"},
			[]string{"SCAN"},
		},
	} {
		plan := planOf(t, s, tc.query, tc.args)
		for _, want := range tc.want {
			if !strings.Contains(plan, want) {
				t.Errorf("%s: no %q in the plan\n%s", tc.name, want, plan)
			}
		}
		for _, word := range tc.forbidden {
			if strings.Contains(plan, word) {
				t.Errorf("%s: %s in the plan\n%s", tc.name, word, plan)
			}
		}
	}
}

func planOf(t *testing.T, s *Store, query string, args []any) string {
	t.Helper()
	rows, err := s.query(t.Context(), "EXPLAIN QUERY PLAN "+query, args...)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	var steps []string
	for rows.Next() {
		var id, parent, unused int
		var detail string
		if err := rows.Scan(&id, &parent, &unused, &detail); err != nil {
			t.Fatal(err)
		}
		steps = append(steps, detail)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return strings.Join(steps, "\n")
}
