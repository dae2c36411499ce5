package main

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"io"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/emersion/go-sasl"
	"github.com/emersion/go-smtp"
)

// received is a mail that a server took.
type received struct {
	from   string
	to     []string
	raw    string
	utf8   bool   // SMTPUTF8 was asked for
	secure bool   // the line was encrypted
	user   string // who was logged in
}

// mailbox is a mail server for a test. Its fields are set before start.
type mailbox struct {
	t          *testing.T
	port       int
	mechanisms []string // of logins
	// The answers to what a client wants; nil means yes.
	onMail, onRcpt func(address string) error
	onData         func(conn net.Conn) error

	mu    sync.Mutex
	mails []received
}

// authority is one for certificates of 127.0.0.1.
type authority struct {
	file, keyFile string // PEM
	config        *tls.Config
}

func newAuthority(t *testing.T, names ...string) authority {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "mail of a test"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, DNSNames: names,
	}
	if len(names) == 0 {
		template.IPAddresses = []net.IP{net.IPv4(127, 0, 0, 1)}
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	rawKey, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	file, keyFile := filepath.Join(dir, "ca.pem"), filepath.Join(dir, "key.pem")
	for name, block := range map[string]*pem.Block{file: {Type: "CERTIFICATE", Bytes: der}, keyFile: {Type: "PRIVATE KEY", Bytes: rawKey}} {
		if err := os.WriteFile(name, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return authority{file, keyFile, &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}}}
}

// start serves in the way of a mode. ca may be empty for modeNone.
func (m *mailbox) start(t *testing.T, mode string, ca authority) *mailbox {
	t.Helper()
	m.t = t
	server := smtp.NewServer(m)
	server.Domain, server.AllowInsecureAuth = "mail.example", true
	server.ErrorLog, server.EnableSMTPUTF8 = silent{}, true
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	m.port = listener.Addr().(*net.TCPAddr).Port
	switch mode {
	case modeTLS:
		listener = tls.NewListener(listener, ca.config)
	case modeSTARTTLS:
		server.TLSConfig = ca.config
	}
	var serving sync.WaitGroup
	serving.Go(func() { _ = server.Serve(listener) }) // it ends with an error always
	t.Cleanup(func() {
		_ = server.Close()
		serving.Wait()
	})
	return m
}

// silent drops what a server says about clients that misbehave on purpose.
type silent struct{}

func (silent) Printf(string, ...any) {}
func (silent) Println(...any)        {}

// all returns the mails that were taken.
func (m *mailbox) all() []received {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.mails)
}

// one returns the only mail.
func (m *mailbox) one() received {
	m.t.Helper()
	mails := m.all()
	if len(mails) != 1 {
		m.t.Fatalf("%d mails were taken, want 1", len(mails))
	}
	return mails[0]
}

// NewSession implements smtp.Backend.
func (m *mailbox) NewSession(conn *smtp.Conn) (smtp.Session, error) {
	return &session{box: m, conn: conn}, nil
}

// session is one dialogue.
type session struct {
	box  *mailbox
	conn *smtp.Conn
	mail received
}

func ask(question func(string) error, about string) error {
	if question == nil {
		return nil
	}
	return question(about)
}

func (s *session) Reset()        { s.mail = received{user: s.mail.user} }
func (s *session) Logout() error { return nil }

func (s *session) Mail(from string, options *smtp.MailOptions) error {
	s.mail.from, s.mail.utf8 = from, options.UTF8
	return ask(s.box.onMail, from)
}

func (s *session) Rcpt(to string, _ *smtp.RcptOptions) error {
	if err := ask(s.box.onRcpt, to); err != nil {
		return err
	}
	s.mail.to = append(s.mail.to, to)
	return nil
}

func (s *session) Data(r io.Reader) error {
	if s.box.onData != nil {
		if err := s.box.onData(s.conn.Conn()); err != nil {
			return err
		}
	}
	var raw bytes.Buffer
	if _, err := raw.ReadFrom(r); err != nil {
		return err
	}
	s.mail.raw = raw.String()
	_, s.mail.secure = s.conn.TLSConnectionState()
	s.box.mu.Lock()
	defer s.box.mu.Unlock()
	s.box.mails = append(s.box.mails, s.mail)
	return nil
}

const (
	testUser     = "ax@example.com"
	testPassword = "s3cret-password"
)

func (s *session) AuthMechanisms() []string { return s.box.mechanisms }

func (s *session) Auth(kind string) (sasl.Server, error) {
	admit := func(user string, ok bool) error {
		if !ok {
			return smtp.ErrAuthFailed
		}
		s.mail.user = user + " by " + kind
		return nil
	}
	switch kind {
	case sasl.Plain:
		return sasl.NewPlainServer(func(_, user, password string) error {
			return admit(user, user == testUser && password == testPassword)
		}), nil
	case sasl.Login:
		return &loginServer{admit: admit}, nil
	}
	return &cramServer{admit: admit}, nil
}

// loginServer asks for user and password one after the other.
type loginServer struct {
	admit   func(user string, ok bool) error
	answers []string
}

func (l *loginServer) Next(response []byte) (challenge []byte, done bool, err error) {
	if response != nil {
		l.answers = append(l.answers, string(response))
	}
	switch len(l.answers) {
	case 0:
		return []byte("Username:"), false, nil
	case 1:
		return []byte("Password:"), false, nil
	}
	return nil, true, l.admit(l.answers[0], slices.Equal(l.answers, []string{testUser, testPassword}))
}

// cramServer wants the HMAC-MD5 of a challenge.
type cramServer struct {
	admit func(user string, ok bool) error
	asked bool
}

func (c *cramServer) Next(response []byte) (challenge []byte, done bool, err error) {
	if !c.asked {
		c.asked = true
		return []byte("<1896.697170952@mail.example>"), false, nil
	}
	user, digest, _ := strings.Cut(string(response), " ")
	// printf '<1896.697170952@mail.example>' | openssl dgst -md5 -hmac s3cret-password
	return nil, true, c.admit(user, user == testUser && digest == "57fe5bfe3212f07138e60b29212646e4")
}
