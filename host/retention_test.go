package host

import (
	"slices"
	"testing"
	"time"

	"github.com/axsched/ax/host/internal/ax"
	"github.com/axsched/ax/host/internal/config"
)

func TestRetained(t *testing.T) {
	t.Parallel()
	const day = 24 * time.Hour
	l := &live{cfg: &config.Config{App: "shop", Retention: 30 * day}, byID: map[ax.TaskID]*ax.Task{
		1: {}, 2: {Retention: 30 * day}, 3: {Retention: 90 * day}, 4: {Retention: 90 * day}, 5: {Retention: day},
	}}
	now := time.Now()
	kept := l.retained(now)
	if kept.App != "shop" || !kept.Since.Equal(now.Add(-30*day)) || len(kept.Tasks) != 2 {
		t.Fatalf("%+v", kept)
	}
	longer := kept.Longer()
	if len(longer) != 1 || !longer[0].Since.Equal(now.Add(-90*day)) {
		t.Fatalf("longer: %+v", longer)
	}
	if ids := slices.Sorted(slices.Values(longer[0].IDs)); !slices.Equal(ids, []ax.TaskID{3, 4}) {
		t.Errorf("longer: tasks %d", ids)
	}
}
