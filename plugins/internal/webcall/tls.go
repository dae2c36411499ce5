package webcall

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"os"
)

// TLS is whom to trust and who to be, as settings of plugins.
type TLS struct {
	CAFile             string `json:"ca_file" doc:"PEM file with the authorities to trust, instead of the system's."`
	CertFile           string `json:"cert_file" doc:"PEM file with the certificate to present; needs key_file."`
	KeyFile            string `json:"key_file" doc:"PEM file with the key of cert_file."`
	InsecureSkipVerify bool   `json:"insecure_skip_verify" doc:"Trust any certificate. Anybody on the way can then read and change everything: for tests only."`
}

// Config reads the files and returns nil if nothing is set. Errors begin with
// the key, on the understanding that it is below tls.
func (s *TLS) Config() (*tls.Config, error) {
	if *s == (TLS{}) {
		return nil, nil
	}
	config := &tls.Config{InsecureSkipVerify: s.InsecureSkipVerify} // #nosec G402: asked for by name
	if s.CAFile != "" {
		pem, err := os.ReadFile(s.CAFile)
		if err != nil {
			return nil, fmt.Errorf("tls.ca_file: %w", err)
		}
		config.RootCAs = x509.NewCertPool()
		if !config.RootCAs.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("tls.ca_file: no certificate in %s", s.CAFile)
		}
	}
	if (s.CertFile == "") != (s.KeyFile == "") {
		return nil, errors.New("tls: cert_file and key_file need each other")
	}
	if s.CertFile != "" {
		pair, err := tls.LoadX509KeyPair(s.CertFile, s.KeyFile)
		if err != nil {
			return nil, fmt.Errorf("tls.cert_file: %w", err)
		}
		config.Certificates = []tls.Certificate{pair}
	}
	return config, nil
}
