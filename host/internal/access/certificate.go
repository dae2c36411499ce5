package access

import (
	"crypto/tls"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"
)

// certificateLook is how often the files of a certificate are looked at, at most.
const certificateLook = time.Second

// Certificate is a certificate in files, which are read again once they change:
// whoever renews it needs to tell nobody.
type Certificate struct {
	cert, key string
	log       hclog.Logger

	mu     sync.Mutex
	loaded *tls.Certificate
	looked time.Time
	stamp  string // of the files that were read last, whatever came of it
}

// LoadCertificate reads a certificate and its key from PEM files.
func LoadCertificate(cert, key string, log hclog.Logger) (*Certificate, error) {
	c := &Certificate{cert: cert, key: key, log: log, stamp: stampOf(cert, key)}
	loaded, err := tls.LoadX509KeyPair(cert, key)
	if err != nil {
		return nil, fmt.Errorf("read the certificate: %w", err)
	}
	c.loaded = &loaded
	return c, nil
}

// TLS returns what a listener needs to show it.
func (c *Certificate) TLS() *tls.Config {
	return &tls.Config{MinVersion: tls.VersionTLS12, GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) {
		return c.current(time.Now()), nil
	}}
}

// current returns the newest certificate that could be read.
func (c *Certificate) current(now time.Time) *tls.Certificate {
	c.mu.Lock()
	defer c.mu.Unlock()
	if since := now.Sub(c.looked); since >= 0 && since < certificateLook {
		return c.loaded
	}
	c.looked = now
	stamp := stampOf(c.cert, c.key)
	if stamp == c.stamp {
		return c.loaded
	}
	loaded, err := tls.LoadX509KeyPair(c.cert, c.key)
	if err != nil {
		// One of the two files may not be there yet: the next look tells.
		c.log.Warn("the changed certificate cannot be used, the one before goes on", "error", err)
		return c.loaded
	}
	c.stamp, c.loaded = stamp, &loaded
	c.log.Info("the certificate was read again", "file", c.cert)
	return c.loaded
}

// stampOf changes when one of the files does.
func stampOf(paths ...string) string {
	var b strings.Builder
	for _, path := range paths {
		if info, err := os.Stat(path); err == nil {
			fmt.Fprintln(&b, path, info.Size(), info.ModTime().UnixNano())
		}
	}
	return b.String()
}
