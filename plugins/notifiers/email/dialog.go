package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"time"

	"github.com/wneessen/go-mail/smtp"
)

// server is a mail server as the settings describe it.
type server struct {
	*settings
	tls *tls.Config
	// warn is called when a letter goes out over a line that is not encrypted.
	warn func()
}

// refusal is a recipient whom the server does not take.
type refusal struct {
	recipient string
	err       error
}

// envelope is what the server is told about a letter.
type envelope struct {
	from string
	to   []string
}

// send gives the server a letter in a dialogue of its own. If it takes the
// letter for some recipients only, refused are the others; if for none, there
// is an error as well. The dialogue ends with ctx.
func (s *server) send(ctx context.Context, e envelope, letter []byte) (refused []refusal, err error) {
	client, hangUp, err := s.open(ctx)
	if err != nil {
		return nil, err
	}
	defer hangUp()
	client.SkipSMTPUTF8(!e.needsUTF8())
	if err := client.Mail("<" + e.from + ">"); err != nil {
		return nil, at("MAIL FROM", err)
	}
	var errs []error
	for _, recipient := range e.to {
		if err := client.Rcpt("<" + recipient + ">"); err != nil {
			err = at(recipient+" is refused", err)
			refused = append(refused, refusal{recipient, err})
			errs = append(errs, err)
		}
	}
	if len(refused) == len(e.to) {
		return refused, errors.Join(errs...)
	}
	if err := deliver(client, letter); err != nil {
		return nil, at("DATA", err)
	}
	_ = client.Quit() // the letter is the server's already
	return refused, nil
}

// deliver sends the letter itself. Package textproto doubles leading dots.
func deliver(client *smtp.Client, letter []byte) error {
	body, err := client.Data()
	if err != nil {
		return err
	}
	if _, err := body.Write(letter); err != nil {
		return err
	}
	return body.Close()
}

// open connects, encrypts and logs in. hangUp ends the connection.
func (s *server) open(ctx context.Context) (client *smtp.Client, hangUp func(), err error) {
	conn, err := s.connect(ctx)
	if err != nil {
		return nil, nil, err
	}
	release := context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) }) // all that is under way ends
	hangUp = func() {
		release()
		conn.Close()
	}
	if client, err = s.introduce(conn); err != nil {
		hangUp()
		return nil, nil, err
	}
	return client, hangUp, nil
}

// connect reaches the server, with TLS from the first byte if so set.
func (s *server) connect(ctx context.Context) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, s.DialTimeout.Std())
	defer cancel()
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", s.address())
	if err != nil || s.mode() != modeTLS {
		return conn, err
	}
	encrypted := tls.Client(conn, s.tls)
	if err := encrypted.HandshakeContext(ctx); err != nil {
		conn.Close()
		if _, ok := errors.AsType[tls.RecordHeaderError](err); ok {
			err = fmt.Errorf("%w (the server does not begin with TLS: try mode: starttls)", err)
		}
		return nil, at("TLS", err)
	}
	return encrypted, nil
}

// introduce says hello, encrypts and logs in.
func (s *server) introduce(conn net.Conn) (*smtp.Client, error) {
	client, err := smtp.NewClient(conn, s.Host)
	if err != nil {
		if s.mode() != modeTLS && (errors.Is(err, io.EOF) || errors.Is(err, os.ErrDeadlineExceeded)) {
			err = fmt.Errorf("%w (does the server expect TLS from the first byte? then set mode: tls)", err)
		}
		return nil, at("greeting", err)
	}
	if err := client.Hello(s.helloName()); err != nil {
		return nil, at("EHLO", err)
	}
	if err := s.encrypt(client); err != nil {
		return nil, err
	}
	if err := s.login(client); err != nil {
		return nil, err
	}
	return client, nil
}

// needsUTF8 reports whether an address is more than ASCII. Else the extension
// is not asked for, since the next server may not have it.
func (e *envelope) needsUTF8() bool {
	return strings.ContainsFunc(e.from+strings.Join(e.to, ""), func(r rune) bool { return r > '~' })
}

func (s *server) encrypt(client *smtp.Client) error {
	mode := s.mode()
	offered, _ := client.Extension("STARTTLS")
	switch {
	case mode == modeTLS:
		return nil
	case offered && mode != modeNone:
		if err := client.StartTLS(s.tls); err != nil {
			return at("STARTTLS", err)
		}
		return nil
	case mode == modeSTARTTLS:
		return fmt.Errorf("%w (if the mail may travel readable for everybody, set mode: none)", errNoSTARTTLS)
	}
	s.warn()
	return nil
}
