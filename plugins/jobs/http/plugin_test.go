package main

import (
	"bytes"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/axsched/ax/pluginapi"
	"github.com/axsched/ax/pluginapi/plugintest"
	"github.com/axsched/ax/plugins/internal/webcall"
)

func TestTLS(t *testing.T) {
	t.Parallel()
	server := httptest.NewTLSServer(http.HandlerFunc(ok))
	t.Cleanup(server.Close)
	ca := filepath.Join(t.TempDir(), "ca.pem")
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	if err := os.WriteFile(ca, text, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, tls := range map[string]map[string]any{"authority": {"ca_file": ca}, "anybody": {"insecure_skip_verify": true}} {
		job := newJob(t, map[string]any{"url": server.URL, "tls": tls})
		if _, err := job.Run(t.Context(), newRun(new(bytes.Buffer))); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	_, err := newJob(t, map[string]any{"url": server.URL}).Run(t.Context(), newRun(new(bytes.Buffer)))
	if err == nil || !strings.Contains(err.Error(), x509.UnknownAuthorityError{}.Error()) {
		t.Errorf("a stranger is trusted: %v", err)
	}
}

func TestConnectionsAreReused(t *testing.T) {
	t.Parallel()
	var opened atomic.Int32
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, strings.Repeat("x", 2*maxAnswer)) // more than is kept
	}))
	server.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			opened.Add(1)
		}
	}
	server.Start()
	t.Cleanup(server.Close)
	job := newJob(t, map[string]any{"url": server.URL})
	for range 5 {
		if _, err := job.Run(t.Context(), newRun(new(bytes.Buffer))); err != nil {
			t.Fatal(err)
		}
	}
	if n := opened.Load(); n != 1 {
		t.Errorf("%d connections for 5 runs in a row", n)
	}
}

func TestEndlessAnswer(t *testing.T) {
	t.Parallel()
	s := newService(t, func(w http.ResponseWriter, r *http.Request) {
		for r.Context().Err() == nil {
			if _, err := w.Write(bytes.Repeat([]byte("x\xff"), 1<<14)); err != nil {
				return
			}
		}
	})
	var out bytes.Buffer
	result, err := newJob(t, map[string]any{"url": s.URL}).Run(t.Context(), newRun(&out))
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(out.String(), "x\uFFFD"); n != maxAnswer/2 {
		t.Errorf("kept %d pairs", n)
	}
	if !strings.Contains(out.String(), "longer than what is kept") {
		t.Error("the run does not say that the answer was cut")
	}
	if len([]rune(result.Message)) > maxMessage+len("200 OK: ") {
		t.Errorf("message %q", result.Message)
	}
}

// The same as a host sees it: over gRPC.
func TestOverTheWire(t *testing.T) {
	t.Parallel()
	s := newService(t, ok)
	c := &caller{transport: webcall.NewTransport(nil)}
	host := plugintest.New(t, pluginapi.JobOf("http", "Calls a URL.", c.newJob))
	job := host.Job("http", map[string]any{"url": s.URL, "method": "POST"}, plugintest.Zone("Asia/Tokyo"))
	var all sync.WaitGroup
	for n := range 20 {
		all.Go(func() {
			got := job.Run(t.Context(), pluginapi.Fire{Task: "sync", Params: map[string]any{"n": n}})
			if got.Err != nil || got.Result.Message != "200 OK: done" || fmt.Sprint(got.Result.Data["status"]) != "200" {
				t.Errorf("attempt %+v", got)
			}
			if len(got.Lines) != 1 || got.Lines[0].Text != "done" {
				t.Errorf("lines %+v", got.Lines)
			}
		})
	}
	all.Wait()
	bodies := map[string]bool{}
	for _, request := range s.seen {
		bodies[request.body] = true
	}
	if len(bodies) != 20 || !bodies[`{"n":7}`] {
		t.Errorf("bodies %v", bodies)
	}
}

func TestDescribe(t *testing.T) {
	t.Parallel()
	binary := filepath.Join(t.TempDir(), "ax-plugin-http")
	if out, err := exec.Command("go", "build", "-o", binary, ".").CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	out, err := exec.Command(binary, "--ax-describe").Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"name": "http"`, `"follow_redirects"`, `"bearer_token"`, `"writeOnly": true`} {
		if !strings.Contains(string(out), want) {
			t.Errorf("no %s in %s", want, out)
		}
	}
}
