package config

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/axsched/ax/host/internal/ax"
)

// certificate returns a self-signed certificate and its key, in PEM.
func certificate(t *testing.T) (cert, key string) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: testNow}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &private.PublicKey, private)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	encode := func(kind string, bytes []byte) string {
		return string(pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: bytes}))
	}
	return encode("CERTIFICATE", der), encode("PRIVATE KEY", secret)
}

func TestCluster(t *testing.T) {
	t.Parallel()
	cert, key := certificate(t)
	c := load(t, map[string]string{
		"config.yaml": `app: a
store: {dsn: "mysql://ax:${file:password}@db/ax"}
http: {public_url: "https://ax.example/app/"}
cluster:
  listen: 10.0.0.7:8091
  advertise: ax-1.example:18091
  secret: stands in the file itself
  tls: {cert: tls/cert.pem, key: tls/key.pem, ca: tls/cert.pem}
  heartbeat: 2s
  dead_after: 6s
  labels: {zone: a, disk: ssd}
  spool_for: 1d
defaults: {strategy: round-robin, nodes: {zone: a}, confirm_timeout: 10s}
tasks:
  - {name: plain, every: 1m, job: {use: exec}}
  - {name: other, every: 1m, job: {use: exec}, strategy: consistent-hash, nodes: {disk: ssd}, confirm_timeout: 1s}
`, "password": "p@ss:w/rd\n", "tls/cert.pem": cert, "tls/key.pem": key,
	})
	dir := filepath.Dir(c.Files[0])
	want := Cluster{
		Listen: "10.0.0.7:8091", Advertise: "ax-1.example:18091", Secret: "stands in the file itself",
		TLS:       &ClusterTLS{Cert: dir + "/tls/cert.pem", Key: dir + "/tls/key.pem", CA: dir + "/tls/cert.pem"},
		Heartbeat: 2 * time.Second, DeadAfter: 6 * time.Second,
		Labels: map[string]string{"zone": "a", "disk": "ssd"}, SpoolFor: 24 * time.Hour,
	}
	if !reflect.DeepEqual(c.Cluster, want) {
		t.Errorf("got\n%+v\nwant\n%+v", c.Cluster, want)
	}
	if c.Store.DSN != "mysql://ax:p@ss:w/rd@db/ax" || !c.Store.Shared() || c.HTTP.PublicURL != "https://ax.example/app" {
		t.Errorf("store %+v, HTTP %+v", c.Store, c.HTTP)
	}
	for _, secret := range []string{"p@ss:w/rd", "stands in the file itself"} {
		if !slices.Contains(c.Secrets, secret) {
			t.Errorf("%q is no secret", secret)
		}
	}
	if !slices.Contains(c.Files, dir+"/tls/key.pem") {
		t.Errorf("the key is not among the files %q", c.Files)
	}
	plain, other := c.Tasks[0], c.Tasks[1]
	if plain.Strategy != ax.StrategyRoundRobin || plain.Nodes["zone"] != "a" || plain.ConfirmTimeout != 10*time.Second {
		t.Errorf("defaults do not count: %+v", plain)
	}
	if other.Strategy != ax.StrategyConsistentHash || !reflect.DeepEqual(other.Nodes, map[string]string{"disk": "ssd"}) || other.ConfirmTimeout != time.Second {
		t.Errorf("what the task states does not count: %+v", other)
	}
}

func TestPlainPasswordIsSecret(t *testing.T) {
	t.Parallel()
	c := load(t, map[string]string{"config.yaml": `{app: a, store: {dsn: "mysql://ax:in%2Fthe%2Ffile@db/ax?tls=true"}}`})
	for _, secret := range []string{"in%2Fthe%2Ffile", "in/the/file"} {
		if !slices.Contains(c.Secrets, secret) {
			t.Errorf("%q is no secret of %q", secret, c.Secrets)
		}
	}
}

// TestAdvertise: a host that does not say how others reach it is reached where
// it listens, or by the machine's name if it listens everywhere.
func TestAdvertise(t *testing.T) {
	t.Parallel()
	machine, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	for listen, want := range map[string]string{
		"127.0.0.1:8091": "127.0.0.1:8091", "ax-1:0": "ax-1:0", "0.0.0.0:8091": machine + ":8091", "[::]:8091": machine + ":8091",
	} {
		c := load(t, map[string]string{"config.yaml": strings.Replace(
			`{app: a, store: {dsn: "mysql://db/ax"}, cluster: {listen: "LISTEN", secret: "0123456789abcdef"}}`, "LISTEN", listen, 1)})
		if c.Cluster.Advertise != want {
			t.Errorf("%s: advertises %q, want %q", listen, c.Cluster.Advertise, want)
		}
	}
}

func TestNoCluster(t *testing.T) {
	t.Parallel()
	c := load(t, map[string]string{"config.yaml": "app: a\n"})
	want := Cluster{Heartbeat: 5 * time.Second, DeadAfter: 15 * time.Second, SpoolFor: 48 * time.Hour}
	if !reflect.DeepEqual(c.Cluster, want) || c.Store.Shared() {
		t.Errorf("got %+v, store %+v", c.Cluster, c.Store)
	}
}
