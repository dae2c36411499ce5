package store_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/axsched/ax/host/internal/store"
	"github.com/axsched/ax/host/internal/store/mysqltest"
)

// certificate writes a key and a certificate of its own for 127.0.0.1.
func certificate(t *testing.T) (cert, key string) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	c := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test"}, NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, c, c, private.Public(), private)
	if err != nil {
		t.Fatal(err)
	}
	keyDER, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	write := func(name, kind string, der []byte) string {
		path := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	return write("cert.pem", "CERTIFICATE", der), write("key.pem", "PRIVATE KEY", keyDER)
}

// TestMySQLTLS: a connection is as safe as the DSN says, or there is none.
func TestMySQLTLS(t *testing.T) {
	t.Parallel()
	cert, key := certificate(t)
	other, _ := certificate(t)
	_, dsn := mysqltest.Private(t, mysqltest.Options{Args: []string{"--ssl-cert=" + cert, "--ssl-key=" + key}})
	for options, c := range map[string]struct{ opens, encrypted bool }{
		"":                          {true, false},
		"?tls=preferred":            {true, true},
		"?tls=skip-verify":          {true, true},
		"?tls=true&tls_ca=" + cert:  {true, true},
		"?tls_ca=" + cert:           {true, true},
		"?tls=true":                 {false, false}, // no root of this machine has signed it
		"?tls=true&tls_ca=" + other: {false, false},
	} {
		s, err := store.Open(t.Context(), store.Options{DSN: dsn + options})
		if (err == nil) != c.opens {
			t.Errorf("%q: %v, want it to open: %v", options, err, c.opens)
		}
		if err != nil {
			continue
		}
		var name, cipher string
		if err := s.ReadDB().QueryRow("SHOW STATUS LIKE 'Ssl_cipher'").Scan(&name, &cipher); err != nil || (cipher != "") != c.encrypted {
			t.Errorf("%q: cipher %q (%v), want it encrypted: %v", options, cipher, err, c.encrypted)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}
