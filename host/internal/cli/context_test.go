package cli

import (
	"bytes"
	"context"
	"crypto/x509"
	"encoding/pem"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// guardedHost answers to one token only, and notes what it was shown.
func guardedHost(t *testing.T, token string) (server *httptest.Server, shown *[]string) {
	t.Helper()
	shown = &[]string{}
	server = httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		*shown = append(*shown, r.Header.Get("Authorization"))
		if r.Header.Get("Authorization") != "Bearer "+token {
			w.Header().Set("Content-Type", "application/problem+json")
			w.WriteHeader(http.StatusUnauthorized)
			_, _ = io.WriteString(w, `{"status":401,"detail":"the token is not known"}`)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"tasks":[]}`)
	}))
	server.Config.ErrorLog = nil
	t.Cleanup(server.Close)
	return server, shown
}

// session runs commands with an environment of its own.
type session struct {
	t   *testing.T
	env map[string]string
	in  string
}

func (s *session) ax(args ...string) (out string, code int) {
	s.t.Helper()
	var text bytes.Buffer
	d := testDeps("")
	d.In, d.Out, d.Err = strings.NewReader(s.in), &text, &text
	d.Env = func(name string) string { return s.env[name] }
	d.Address = nil
	code = Run(context.Background(), d, args)
	return text.String(), code
}

func TestContexts(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	host, shown := guardedHost(t, "ax_secret")
	other, otherShown := guardedHost(t, "ax_other")
	ca := filepath.Join(dir, "ca.pem")
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: host.Certificate().Raw})
	if _, err := x509.ParseCertificate(host.Certificate().Raw); err != nil {
		t.Fatal(err)
	}
	for path, content := range map[string]string{ca: string(text), filepath.Join(dir, "token"): "ax_secret\n"} {
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s := &session{t: t, env: map[string]string{"HOME": dir}}
	if out, code := s.ax("context"); code != 0 || out != "there are no contexts\n" {
		t.Errorf("%d %s", code, out)
	}
	if out, code := s.ax("context", "set", "prod", "--server", host.URL, "--token-file", filepath.Join(dir, "token"), "--ca", ca); code != 0 {
		t.Fatalf("%d %s", code, out)
	}
	s.in = "ax_other\n"
	if out, code := s.ax("context", "set", "test", "--server", other.URL, "--token-stdin", "--ca", ca); code != 0 {
		t.Fatalf("%d %s", code, out)
	}
	if out, _ := s.ax("context"); out != "* prod  "+host.URL+"\n  test  "+other.URL+"\n" || strings.Contains(out, "ax_") {
		t.Errorf("the list: %s", out)
	}
	for _, test := range []struct {
		args []string
		code int
	}{
		{[]string{"tasks"}, ExitOK},
		{[]string{"tasks", "--context", "test"}, ExitOK},
		{[]string{"context", "use", "test"}, ExitOK},
		{[]string{"tasks"}, ExitOK},
		{[]string{"tasks", "--context", "nowhere"}, ExitUsage},
		{[]string{"context", "use", "nowhere"}, ExitNotFound},
		{[]string{"context", "remove", "test"}, ExitOK},
		{[]string{"tasks", "--context", "test"}, ExitUsage},
		{[]string{"tasks", "--server", host.URL, "--ca", ca}, ExitRefused}, // the token of a context is not for it
		{[]string{"tasks", "--server", host.URL}, ExitUnreachable},         // nobody vouches for it
	} {
		if out, code := s.ax(test.args...); code != test.code {
			t.Errorf("%q: %d %s", test.args, code, out)
		}
	}
	s.env["AX_TOKEN"], s.env["AX_SERVER"], s.env["AX_CA"] = "ax_secret", host.URL, ca
	if out, code := s.ax("tasks"); code != ExitOK {
		t.Errorf("by the environment: %d %s", code, out)
	}
	for _, header := range *otherShown {
		if header != "Bearer ax_other" {
			t.Errorf("the other host was shown %q", header)
		}
	}
	if len(*shown) != 3 {
		t.Errorf("the host was shown %q", *shown)
	}
	info, err := os.Stat(filepath.Join(dir, ".config/ax/contexts.yaml"))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the file: %v %v", info.Mode(), err)
	}
}

// TestOpenContexts: tokens that others can read are not used.
func TestOpenContexts(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "contexts.yaml")
	if err := os.WriteFile(path, []byte("current: a\ncontexts: {a: {server: \"http://127.0.0.1:1\", token: ax_x}}\n"), 0o644); err != nil { //nolint:gosec // that is what it is about
		t.Fatal(err)
	}
	s := &session{t: t, env: map[string]string{"AX_CONTEXTS": path}}
	if out, code := s.ax("tasks"); code != ExitUsage || !strings.Contains(out, "chmod 600") {
		t.Errorf("%d %s", code, out)
	}
}

// TestTokensOverHTTP: it is said that a token can be read on the way.
func TestTokensOverHTTP(t *testing.T) {
	t.Parallel()
	s := &session{t: t, env: map[string]string{"AX_TOKEN": "ax_x", "AX_SERVER": "http://ax.invalid:1"}}
	if out, _ := s.ax("tasks"); !strings.Contains(out, "the token can be read on the way to http://ax.invalid:1: use https") {
		t.Errorf("it says %s", out)
	}
	s.env["AX_SERVER"] = "http://127.0.0.1:1"
	if out, _ := s.ax("tasks"); strings.Contains(out, "on the way") {
		t.Errorf("on this machine it says %s", out)
	}
}

func TestPasswdAndToken(t *testing.T) {
	t.Parallel()
	s := &session{t: t, in: "correct horse\n"}
	if out, code := s.ax("passwd"); code != ExitOK || out != "hash of correct horse\n" {
		t.Errorf("%d %s", code, out)
	}
	if out, code := s.ax("passwd", "correct horse"); code != ExitUsage {
		t.Errorf("a password in the arguments: %d %s", code, out)
	}
	out, code := s.ax("token", "ci", "--role", "operator", "--groups", "billing,other", "--expires", "2099-01-01")
	if code != ExitOK || !strings.HasSuffix(out, "- {name: ci, sha256: sum, role: operator, groups: [billing, other], expires: 2099-01-01}\n") || !strings.Contains(out, "\nax_new\n") {
		t.Errorf("%d %s", code, out)
	}
	for _, args := range [][]string{{"token"}, {"token", "ci", "--role", "root"}, {"token", "ci", "--expires", "2020-01-01"}, {"token", "ci", "--expires", "soon"}} {
		if out, code := s.ax(args...); code != ExitUsage {
			t.Errorf("%q: %d %s", args, code, out)
		}
	}
}
