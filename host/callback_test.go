package host

import (
	"net"
	"strings"
	"testing"

	"github.com/axsched/ax/host/internal/api"
	"github.com/axsched/ax/host/internal/config"
)

// TestCallbackURL: jobs elsewhere are told the public URL, not the address at
// which the host listens.
func TestCallbackURL(t *testing.T) {
	t.Parallel()
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	for public, base := range map[string]string{
		"": "http://" + listener.Addr().String(), "https://ax.example/app": "https://ax.example/app",
	} {
		h := &Host{listener: listener}
		h.live.Store(&live{cfg: &config.Config{HTTP: config.HTTP{PublicURL: public}}})
		if got, want := h.callbackURL(7, "token"), base+api.Base+"/callbacks/"; !strings.HasPrefix(got, want) || !strings.HasSuffix(got, "/token") {
			t.Errorf("public_url %q: got %s, want %s…", public, got, want)
		}
		h.listener = nil
		if got := h.callbackURL(7, "token"); got != "" {
			t.Errorf("without an API: %s", got)
		}
	}
}
