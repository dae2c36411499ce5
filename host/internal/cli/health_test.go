package cli

import (
	"strings"
	"testing"

	"github.com/axsched/ax/host/internal/api"
)

// TestHealthReasons: what will be wrong is told apart from what is wrong.
func TestHealthReasons(t *testing.T) {
	t.Parallel()
	for status, want := range map[api.HealthStatus]string{
		api.HealthOK:       "but soon:  add the list for 2027",
		api.HealthDegraded: "because:  add the list for 2027",
	} {
		text := (&program{}).healthText(api.Health{Status: status, Reasons: []string{"add the list for 2027"}, DatabaseOK: true})
		if !strings.Contains(text, want) {
			t.Errorf("%s: no %q in\n%s", status, want, text)
		}
	}
}
