package host

import (
	"slices"
	"testing"

	"github.com/axsched/ax/host/internal/api"
)

// TestNotReady: a host that works but takes no work says so, in words for
// everybody.
func TestNotReady(t *testing.T) {
	t.Parallel()
	h, _, _ := started(t, consoleTasks) // some of which lack their plugins
	if health := (backend{h}).Health(t.Context()); len(health.NotReady) > 0 || health.Status != api.HealthDegraded {
		t.Errorf("a new host is %s %v, not ready for %v", health.Status, health.Reasons, health.NotReady)
	}
	h.fleet.drained.Store(true)
	if health := (backend{h}).Health(t.Context()); health.Status != api.HealthDegraded || !slices.Equal(health.NotReady, []string{"the host is drained"}) {
		t.Errorf("a drained host is %s, not ready for %v", health.Status, health.NotReady)
	}
	h.draining.Store(true)
	if health := (backend{h}).Health(t.Context()); health.Status != api.HealthDraining || !slices.Contains(health.NotReady, "the host is stopping") {
		t.Errorf("a host that stops is %s, not ready for %v", health.Status, health.NotReady)
	}
}
