package peer

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"math/big"
	"net"
	"testing"
	"time"
)

// authority makes certificates for hosts at 127.0.0.1.
type authority struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

func newAuthority(t *testing.T) *authority {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	a := &authority{key: key}
	a.cert = &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "cluster"}, IsCA: true, BasicConstraintsValid: true,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), KeyUsage: x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, a.cert, a.cert, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	if a.cert, err = x509.ParseCertificate(der); err != nil {
		t.Fatal(err)
	}
	return a
}

// config returns the TLS of a host with a certificate of this authority.
func (a *authority) config(t *testing.T) *tls.Config {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.CreateCertificate(rand.Reader, &x509.Certificate{
		SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: "host"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
	}, a.cert, &key.PublicKey, a.key)
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AddCert(a.cert)
	return &tls.Config{RootCAs: pool, ClientCAs: pool, Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}}
}

func TestTLS(t *testing.T) {
	t.Parallel()
	ours, others := newAuthority(t), newAuthority(t)
	host := newDesk(10)
	at := serve(t, host, func(c *ServerConfig) { c.Trust = Trust{TLS: ours.config(t)} })
	if err := connect(t, at.address, func(c *ClientConfig) { c.Trust = Trust{TLS: ours.config(t)} }).Dispatch(within(t, time.Minute), dispatch(1)); err != nil {
		t.Error(err)
	}
	foreign := others.config(t)
	foreign.RootCAs = ours.config(t).RootCAs // it knows us, and we do not know it
	unknown := others.config(t)              // it does not know us either
	for name, change := range map[string]func(*ClientConfig){
		"certificate of others":  func(c *ClientConfig) { c.Trust = Trust{TLS: foreign} },
		"authority of others":    func(c *ClientConfig) { c.Trust = Trust{TLS: unknown} },
		"no TLS, but the secret": nil,
	} {
		if err := connect(t, at.address, change).Dispatch(within(t, 5*time.Second), dispatch(2)); err == nil {
			t.Errorf("%s: let in", name)
		}
	}
	if n := len(host.got()); n != 1 {
		t.Errorf("%d received, want 1", n)
	}
	half := ours.config(t)
	half.ClientCAs = nil
	if _, err := NewServer(ServerConfig{Trust: Trust{TLS: half}}); err == nil {
		t.Error("TLS without an authority for clients would let everybody in")
	}
}
