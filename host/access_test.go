package host

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/axsched/ax/host/internal/ax"
	"github.com/axsched/ax/host/internal/config"
)

// TestSessionsOfAHost: people log in, do things under their name, and are out once
// they log out or are not in the configuration any more.
func TestSessionsOfAHost(t *testing.T) {
	t.Parallel()
	g := startGuarded(t, accessConfig(guardedTasks))
	if _, r := g.login("ann", "wrong"); r.status != http.StatusUnauthorized || r.header.Get("Set-Cookie") != "" {
		t.Errorf("a wrong password: %d %v", r.status, r.header)
	}
	cookie, r := g.login("ann", "correct horse")
	if r.status != http.StatusSeeOther || cookie == "" {
		t.Fatalf("the login: %d %s", r.status, r.body)
	}
	if r := g.ask("POST", "/tasks/close-day", "do=pause", "Cookie", cookie, "Sec-Fetch-Site", "same-origin"); r.status != http.StatusSeeOther {
		t.Errorf("a form: %d %s", r.status, r.body)
	}
	if r := g.ask("POST", "/api/v1/tasks/close-day/resume", "", "Cookie", cookie, "Ax-Actor", "the boss"); r.status != http.StatusOK {
		t.Errorf("the API: %d %s", r.status, r.body)
	}
	for _, action := range []string{"task.pause", "task.resume"} {
		if rows := g.audited(action); len(rows) != 1 || rows[0].Actor != "ann" {
			t.Errorf("%s: %+v", action, rows)
		}
	}
	if r := g.ask("POST", "/reload", "", "Cookie", cookie); r.status != http.StatusForbidden || !strings.Contains(r.body, "Your role does not allow this.") {
		t.Errorf("what takes an admin: %d %s", r.status, r.body)
	}
	if info, err := os.Stat(filepath.Join(filepath.Dir(g.path), "data", sessionKeyFile)); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the key: %v %v", info, err)
	}
	other, _ := g.login("ann", "correct horse")
	g.ask("POST", "/logout", "", "Cookie", cookie)
	if r := g.ask("GET", "/tasks", "", "Cookie", cookie); r.letIn() {
		t.Errorf("after the logout: %d", r.status)
	}
	if r := g.ask("GET", "/tasks", "", "Cookie", other); !r.letIn() {
		t.Errorf("another session ended with it: %d", r.status)
	}
	g.write(strings.Replace(accessConfig(guardedTasks), "name: ann", "name: zoe", 1))
	if r := g.ask("POST", "/api/v1/reload", "", as("admin")...); r.status != http.StatusOK {
		t.Fatalf("reload: %d %s", r.status, r.body)
	}
	if r := g.ask("GET", "/tasks", "", "Cookie", other); r.letIn() {
		t.Errorf("removed, and still in: %d", r.status)
	}
}

// TestWhoDefines: what runs commands is for admins, and tasks of a group are for
// those who see it; a refusal is noted.
func TestWhoDefines(t *testing.T) {
	t.Parallel()
	g := startGuarded(t, accessConfig(guardedTasks))
	for i, test := range []struct {
		member, job, group string
		status             int
	}{
		{"viewer", "http", "billing", 403},
		{"operator", "http", "billing", 201},
		{"operator", "exec", "billing", 403},
		{"operator", "plugins/exec", "billing", 403},
		{"admin", "exec", "billing", 201},
		{"billing-operator", "http", "billing", 201},
		{"billing-operator", "http", "payroll", 403},
		{"billing-admin", "exec", "billing", 201},
		{"billing-admin", "exec", "payroll", 403},
	} {
		body := fmt.Sprintf(`{"name":"t%d","group":%q,"every":"1h","job":{"use":%q}}`, i, test.group, test.job)
		if r := g.ask("POST", "/api/v1/tasks", body, as(test.member)...); r.status != test.status {
			t.Errorf("%+v: %d %s", test, r.status, r.body)
		}
	}
	// An operator does not make a command of what is none, nor takes one away.
	put := append(as("operator"), "If-Match", "*")
	if r := g.ask("PUT", "/api/v1/tasks/t1", `{"name":"t1","group":"billing","every":"1h","job":{"use":"exec"}}`, put...); r.status != 403 {
		t.Errorf("replaced by a command: %d %s", r.status, r.body)
	}
	if r := g.ask("DELETE", "/api/v1/tasks/t4", "", put...); r.status != 403 {
		t.Errorf("a command deleted: %d %s", r.status, r.body)
	}
	// Nor does anybody move a task into, or out of, a group that is not theirs.
	put = append(as("billing-admin"), "If-Match", "*")
	if r := g.ask("PUT", "/api/v1/tasks/t5", `{"name":"t5","group":"payroll","every":"1h","job":{"use":"http"}}`, put...); r.status != 403 {
		t.Errorf("moved to another group: %d %s", r.status, r.body)
	}
	denied := g.audited("access.denied")
	if len(denied) != 4 || !strings.Contains(fmt.Sprint(denied), "takes the role admin") {
		t.Errorf("denied: %+v", denied)
	}
}

// TestOpenAccess: without anybody in the configuration everybody on this machine may
// do everything, and the log says so.
func TestOpenAccess(t *testing.T) {
	t.Parallel()
	g := startGuarded(t, "app: a\ndata_dir: data\nhttp: {listen: \"127.0.0.1:0\"}\nplugins: {dir: plugins}\n"+guardedTasks)
	if !strings.Contains(g.log.take(), "access is open") {
		t.Error("the log does not say so")
	}
	if r := g.ask("POST", "/api/v1/tasks/close-day/pause", "", "Ax-Actor", "lin (cli)"); r.status != http.StatusOK {
		t.Errorf("%d %s", r.status, r.body)
	}
	if rows := g.audited("task.pause"); len(rows) != 1 || rows[0].Actor != "lin (cli)" {
		t.Errorf("%+v", rows)
	}
	if r := g.ask("GET", "/api/v1/tasks", "", "Host", "evil.example:80"); r.status != http.StatusMisdirectedRequest {
		t.Errorf("a foreign name: %d", r.status)
	}
	if r := g.ask("POST", "/api/v1/reload", "", "Sec-Fetch-Site", "cross-site"); r.status != http.StatusForbidden {
		t.Errorf("a foreign page: %d", r.status)
	}
}

// TestAccessDoesNotOpen: a file that takes everybody out, and says loopback, opens no
// listener that the world reaches: that one stays until the host is restarted.
func TestAccessDoesNotOpen(t *testing.T) {
	t.Parallel()
	g := startGuarded(t, strings.Replace(accessConfig(guardedTasks), "127.0.0.1:0", "0.0.0.0:0", 1))
	_, port, err := net.SplitHostPort(g.Address())
	if err != nil {
		t.Fatal(err)
	}
	g.base = "http://127.0.0.1:" + port
	if r := g.ask("GET", "/api/v1/tasks", "", as("viewer")...); r.status != http.StatusOK {
		t.Fatalf("%d %s", r.status, r.body)
	}
	g.write("app: a\ndata_dir: data\nhttp: {listen: \"127.0.0.1:0\"}\nplugins: {dir: plugins}\n" + guardedTasks)
	if _, err := g.Reload(t.Context(), "test"); err != nil {
		t.Fatal(err)
	}
	for _, header := range [][]string{nil, as("viewer"), as("admin")} {
		if r := g.ask("GET", "/api/v1/tasks", "", header...); r.status != http.StatusUnauthorized {
			t.Errorf("%q: %d", header, r.status)
		}
	}
}

// certificates returns a certificate of an authority of its own for 127.0.0.1.
func certificates(t *testing.T) (cert, key []byte) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &private.PublicKey, private)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret})
}

// TestTLS: a host speaks TLS 1.2 and newer, and its cookies go over it only.
func TestTLS(t *testing.T) {
	t.Parallel()
	cert, key := certificates(t)
	files := t.TempDir()
	for name, content := range map[string][]byte{"cert.pem": cert, "key.pem": key} {
		if err := os.WriteFile(filepath.Join(files, name), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	config := strings.Replace(accessConfig(guardedTasks), `{listen: "127.0.0.1:0"}`,
		fmt.Sprintf(`{listen: "127.0.0.1:0", tls: {cert: %s/cert.pem, key: %s/key.pem}}`, files, files), 1)
	g := startGuarded(t, config)
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(cert)
	for _, test := range []struct {
		highest uint16
		works   bool
	}{{tls.VersionTLS11, false}, {tls.VersionTLS12, true}, {tls.VersionTLS13, true}} {
		dialer := &tls.Dialer{Config: &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS10, MaxVersion: test.highest, NextProtos: []string{"h2"}}} //nolint:gosec // that is what it is about
		conn, err := dialer.DialContext(t.Context(), "tcp", g.Address())
		if (err == nil) != test.works {
			t.Errorf("TLS up to %x: %v", test.highest, err)
		}
		if err == nil {
			conn.Close()
		}
	}
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.TLSClientConfig = &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}
	g.base, g.transport = "https://"+g.Address(), transport
	cookie, r := g.login("ann", "correct horse")
	if set := r.header.Get("Set-Cookie"); !strings.HasPrefix(cookie, "__Host-ax_session=") || !strings.Contains(set, "Secure") || !strings.Contains(set, "HttpOnly") {
		t.Errorf("the cookie: %q", set)
	}
	if r := g.ask("GET", "/tasks", "", "Cookie", cookie); r.status != http.StatusOK {
		t.Errorf("%d %s", r.status, r.body)
	}
	if url := g.callbackURL(ax.InstanceID(7), "t"); !strings.HasPrefix(url, "https://"+g.Address()) {
		t.Errorf("jobs are told to call %s", url)
	}
}

// TestSessionKey: hosts that share a secret sign sessions alike, and others do not.
func TestSessionKey(t *testing.T) {
	t.Parallel()
	key := func(change func(*config.Config)) string {
		t.Helper()
		cfg := &config.Config{App: "a", DataDir: t.TempDir()}
		change(cfg)
		key, err := sessionKey(cfg)
		if err != nil || len(key) != 32 {
			t.Fatalf("%x %v", key, err)
		}
		return string(key)
	}
	cluster := func(c *config.Config) { c.Cluster.Secret = "a secret of this test" }
	own := func(c *config.Config) { c.Access.Session.Secret = "a secret of this test" }
	alone := func(*config.Config) {}
	if key(cluster) != key(cluster) || key(own) != key(own) {
		t.Error("hosts with the same secret have different keys")
	}
	if key(alone) == key(alone) || key(alone) == key(cluster) || key(cluster) == key(func(c *config.Config) { cluster(c); c.App = "b" }) {
		t.Error("hosts that share nothing have the same key")
	}
	dir := t.TempDir()
	same := func(c *config.Config) { c.DataDir = dir }
	if key(same) != key(same) {
		t.Error("a host has another key after a restart")
	}
}
