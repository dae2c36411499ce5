package store

import (
	"path/filepath"
	"strings"
	"testing"
)

// TestDuePlans: what is asked about one due time of a task must not read its
// whole history.
func TestDuePlans(t *testing.T) {
	t.Parallel()
	s, err := Open(t.Context(), Options{DSN: "sqlite:" + filepath.Join(t.TempDir(), "ax.db")})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := s.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct {
		query string
		args  []any
		uses  int // of the index
	}{
		"rows of a span": {dueRowsQuery, []any{1, 2, 1, 2, 3}, 2},
		"the row before": {instanceBeforeQuery, []any{1, 2}, 1},
	} {
		plan := planOf(t, s, tc.query, tc.args)
		if got := strings.Count(plan, "INDEX ax_instance_due (task_id=? AND scheduled_at"); got != tc.uses {
			t.Errorf("%s: %d uses of the index, want %d:\n%s", name, got, tc.uses, plan)
		}
	}
}
