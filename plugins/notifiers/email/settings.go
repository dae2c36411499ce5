package main

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/mail"
	"os"
	"strconv"
	"strings"

	"github.com/axsched/ax/pluginapi"
)

// Values of the setting mode. The setting is empty by default.
const (
	modeNone     = "none"
	modeSTARTTLS = "starttls"
	modeTLS      = "tls"
	// modeTry encrypts if the server can, as servers do among themselves. It
	// is the default of port 25 and cannot be asked for.
	modeTry = "try"
)

// Values of the setting auth.
const (
	authAuto  = "auto"
	authPlain = "plain"
	authLogin = "login"
	authCRAM  = "cram-md5"
	authNone  = "none"
)

// settings are what a receiver gives in `with:`.
type settings struct {
	Host        string             `json:"host" ax:"required,min=1" doc:"Mail server."`
	Port        int                `json:"port" ax:"default=587,min=1,max=65535" doc:"Usually 587 for STARTTLS, 465 for TLS from the first byte, 25 between servers."`
	Mode        string             `json:"mode" ax:"enum=none|starttls|tls" doc:"starttls: encrypt before anything else, or send nothing. tls: encrypted from the first byte. none: everybody on the way can read along. Default: tls for port 465; for port 25 encrypted if the server can, with a warning in the log if not; starttls for all others."`
	TLS         tlsSettings        `json:"tls" doc:"Trust in the server's certificate."`
	Username    string             `json:"username" doc:"User at the mail server. Without it there is no login."`
	Password    string             `json:"password" ax:"secret" doc:"Password of the user."`
	Auth        string             `json:"auth" ax:"enum=auto|plain|login|cram-md5|none,default=auto" doc:"Kind of login. auto takes what the server offers, but sends no readable password over a line that is not encrypted; plain and login do so if mode is none."`
	From        string             `json:"from" ax:"required" doc:"Sender: an address, or a name and an address: Scheduler <ax@example.com>."`
	To          []string           `json:"to" ax:"required,min=1" doc:"Receivers. If the server refuses some, the others get the mail; the log says whom it refused."`
	CC          []string           `json:"cc" doc:"Receivers of a copy."`
	BCC         []string           `json:"bcc" doc:"Receivers of a copy whom the others do not see."`
	Lang        string             `json:"lang" ax:"enum=en|zh,default=en" doc:"Language of the default templates: English or Chinese."`
	Subject     string             `json:"subject" doc:"Go text/template of the subject. Fields are those of the message (App, Task, Event, Title, Text, Count, First, Last, LastError …), and Notice.Title, which is in the language of lang; in moves a time to a zone. Default: [{{.App}}] {{.Notice.Title}}"`
	Text        string             `json:"text" doc:"Go text/template of the plain text."`
	HTML        string             `json:"html" doc:"Go html/template of the HTML text."`
	HelloName   string             `json:"hello_name" doc:"Name by which the server is greeted. Default: the machine's name."`
	DialTimeout pluginapi.Duration `json:"dial_timeout" ax:"default=10s,min=1ms,max=5m" doc:"For reaching the server."`
	Timeout     pluginapi.Duration `json:"timeout" ax:"default=25s,min=1ms,max=5m" doc:"For a whole dialogue with the server."`
}

type tlsSettings struct {
	CAFile             string `json:"ca_file" doc:"PEM file with the authorities to trust, instead of the system's."`
	ServerName         string `json:"server_name" doc:"Name that the certificate must be for. Default: host."`
	InsecureSkipVerify bool   `json:"insecure_skip_verify" doc:"Trust any certificate. Anybody on the way can then read everything, the password as well: for tests only."`
}

// addresses are the sender and the receivers, parsed.
type addresses struct {
	from        *mail.Address
	to, cc, bcc []*mail.Address
}

// everybody lists whom the mail is for, each once.
func (a *addresses) everybody() []string {
	var all []string
	seen := map[string]bool{}
	for _, list := range [][]*mail.Address{a.to, a.cc, a.bcc} {
		for _, address := range list {
			if !seen[address.Address] {
				seen[address.Address] = true
				all = append(all, address.Address)
			}
		}
	}
	return all
}

// parse reads all addresses and reports every fault.
func (s *settings) parse() (*addresses, error) {
	var a addresses
	var errs []error
	one := func(key, text string) *mail.Address {
		address, err := mail.ParseAddress(text)
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %q is no mail address: %w", key, text, err))
		}
		return address
	}
	a.from = one("from", s.From)
	for _, list := range []struct {
		key   string
		texts []string
		into  *[]*mail.Address
	}{{"to", s.To, &a.to}, {"cc", s.CC, &a.cc}, {"bcc", s.BCC, &a.bcc}} {
		for _, text := range list.texts {
			*list.into = append(*list.into, one(list.key, text))
		}
	}
	return &a, errors.Join(errs...)
}

// check reports what the schema cannot express, besides addresses, templates
// and certificates.
func (s *settings) check() error {
	var errs []error
	if (s.Username == "") != (s.Password == "") {
		errs = append(errs, errors.New("username and password need each other"))
	}
	if strings.ContainsFunc(s.HelloName, func(r rune) bool { return r <= ' ' || r > '~' }) {
		errs = append(errs, errors.New("hello_name: expected a host name"))
	}
	if s.Mode == modeNone && s.TLS != (tlsSettings{}) {
		errs = append(errs, errors.New("tls: makes no sense with mode: none"))
	}
	return errors.Join(errs...)
}

// mode is the mode to use, given or by the port.
func (s *settings) mode() string {
	switch {
	case s.Mode != "":
		return s.Mode
	case s.Port == 465:
		return modeTLS
	case s.Port == 25:
		return modeTry
	}
	return modeSTARTTLS
}

// address is host:port.
func (s *settings) address() string { return net.JoinHostPort(s.Host, strconv.Itoa(s.Port)) }

// helloName is the name by which the server is greeted.
func (s *settings) helloName() string {
	if s.HelloName != "" {
		return s.HelloName
	}
	if name, err := os.Hostname(); err == nil && name != "" {
		return name
	}
	return "localhost"
}

// config says whom to trust. It reads ca_file.
func (s *settings) config() (*tls.Config, error) {
	config := &tls.Config{
		ServerName:         s.TLS.ServerName,
		InsecureSkipVerify: s.TLS.InsecureSkipVerify, // #nosec G402: asked for by name
		MinVersion:         tls.VersionTLS12,
	}
	if config.ServerName == "" {
		config.ServerName = s.Host
	}
	if s.TLS.CAFile == "" {
		return config, nil
	}
	pem, err := os.ReadFile(s.TLS.CAFile)
	if err != nil {
		return nil, fmt.Errorf("tls.ca_file: %w", err)
	}
	config.RootCAs = x509.NewCertPool()
	if !config.RootCAs.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("tls.ca_file: no certificate in %s", s.TLS.CAFile)
	}
	return config, nil
}
