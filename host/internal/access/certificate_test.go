package access

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"
)

// makeCertificate returns a certificate with a serial number, and its key, in PEM.
func makeCertificate(t *testing.T, serial int64) (cert, key []byte) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(serial), NotAfter: time.Now().Add(time.Hour), DNSNames: []string{"ax.example"}}
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

// TestCertificate: renewed files are used, and those that do not fit are not.
func TestCertificate(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	certFile, keyFile := filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	put := func(path string, content []byte, at time.Time) {
		t.Helper()
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, at, at); err != nil {
			t.Fatal(err)
		}
	}
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	if _, err := LoadCertificate(certFile, keyFile, hclog.NewNullLogger()); err == nil {
		t.Error("files that are not there are read")
	}
	cert1, key1 := makeCertificate(t, 1)
	cert2, key2 := makeCertificate(t, 2)
	put(certFile, cert1, now)
	put(keyFile, key1, now)
	var log bytes.Buffer
	c, err := LoadCertificate(certFile, keyFile, hclog.New(&hclog.LoggerOptions{Output: &log}))
	if err != nil {
		t.Fatal(err)
	}
	serial := func() int64 {
		t.Helper()
		now = now.Add(certificateLook)
		leaf, err := x509.ParseCertificate(c.current(now).Certificate[0])
		if err != nil {
			t.Fatal(err)
		}
		return leaf.SerialNumber.Int64()
	}
	if got := serial(); got != 1 {
		t.Errorf("certificate %d", got)
	}
	put(certFile, cert2, now.Add(time.Minute))
	if got := serial(); got != 1 || !strings.Contains(log.String(), "cannot be used") {
		t.Errorf("half renewed: certificate %d, %s", got, log.String())
	}
	put(keyFile, key2, now.Add(time.Minute))
	if got := serial(); got != 2 {
		t.Errorf("renewed: certificate %d", got)
	}
	if err := os.Remove(certFile); err != nil {
		t.Fatal(err)
	}
	if got := serial(); got != 2 {
		t.Errorf("gone: certificate %d", got)
	}
	if c.TLS().MinVersion != tls.VersionTLS12 {
		t.Error("older versions of TLS are spoken")
	}
}
