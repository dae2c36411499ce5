package main

import (
	"bytes"
	"encoding/json"
	"encoding/pem"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/axsched/ax/pluginapi"
)

// A receiver with a certificate of an authority of its own is trusted if the
// settings say so; whoever trusts anybody is warned.
func TestTLS(t *testing.T) {
	t.Parallel()
	server := httptest.NewTLSServer(http.HandlerFunc(accept))
	t.Cleanup(server.Close)
	server.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError) // of refused handshakes
	ca := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(ca, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		tls    map[string]any
		want   string // in the error; none: the message is taken
		warned bool
	}{
		"stranger": {nil, "certificate signed by unknown authority", false},
		"trusted":  {map[string]any{"ca_file": ca}, "", false},
		"anybody":  {map[string]any{"insecure_skip_verify": true}, "", true},
	} {
		raw, err := json.Marshal(map[string]any{"url": server.URL + "/s3cret-path", "tls": tt.tls})
		if err != nil {
			t.Fatal(err)
		}
		if tt.tls == nil {
			raw = bytes.Replace(raw, []byte(`"tls":null,`), nil, 1)
		}
		var log bytes.Buffer
		built, err := testComponent().Build(raw, pluginapi.Env{Log: slog.New(slog.NewTextHandler(&log, nil))})
		if err != nil {
			t.Fatal(err)
		}
		err = built.(pluginapi.Notifier).Notify(t.Context(), message())
		if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
			t.Errorf("%s: error %v", name, err)
		}
		if strings.Contains(log.String(), "is not checked") != tt.warned || strings.Contains(log.String(), "s3cret") {
			t.Errorf("%s: log %s", name, log.String())
		}
	}
}
