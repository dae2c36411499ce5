package trigger

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/axsched/ax/host/internal/ax"
)

// TestMissedVectors counts the due times of an outage, as the engine does for
// its MISSED rows.
func TestMissedVectors(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("testdata/missed.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	if len(lines) != 3 {
		t.Fatalf("%d vectors, want 3", len(lines))
	}
	for _, line := range lines {
		var v struct {
			ID, Expr, Zone string
			After, Until   time.Time
			Count          int
			Next           []time.Time
		}
		if err := json.Unmarshal([]byte(line), &v); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		t.Run(v.ID, func(t *testing.T) {
			t.Parallel()
			trig, err := Compile(Spec{Schedule: ax.Schedule{Cron: v.Expr, Timezone: v.Zone}, Task: "task"})
			if err != nil {
				t.Fatal(err)
			}
			got, _, err := trig.Next(t.Context(), v.After, v.Until, v.Count+1)
			if err != nil {
				t.Fatal(err)
			}
			if len(got) != v.Count {
				t.Fatalf("%d due times, want %d", len(got), v.Count)
			}
			if first, last := got[0], got[len(got)-1]; !first.Equal(v.Next[0]) || !last.Equal(v.Next[1]) {
				t.Errorf("from %v to %v, want %v to %v", first, last, v.Next[0], v.Next[1])
			}
		})
	}
}
