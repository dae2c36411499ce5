package main

import (
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"

	"github.com/wneessen/go-mail/smtp"
)

// What servers cannot do for us.
var (
	errNoSTARTTLS = errors.New("the server does not offer STARTTLS")
	errNoAuth     = errors.New("the server does not offer a login that the settings allow")
)

// login logs in if there is a user.
func (s *server) login(client *smtp.Client) error {
	if s.Username == "" || s.Auth == authNone {
		return nil
	}
	_, encrypted := client.TLSConnectionState()
	_, list := client.Extension("AUTH")
	offered := strings.Fields(strings.ToLower(list))
	kind, err := s.chooseAuth(offered, encrypted)
	if err != nil {
		return err
	}
	if err := client.Auth(s.authOf(kind)); err != nil {
		return at("AUTH "+strings.ToUpper(kind), err)
	}
	return nil
}

// chooseAuth picks a kind of login. Where everybody can read along, a password
// is sent readable only if two settings ask for it.
func (s *server) chooseAuth(offered []string, encrypted bool) (string, error) {
	kinds := []string{authPlain, authLogin, authCRAM}
	if s.Auth != authAuto {
		kinds = []string{s.Auth}
	}
	private := encrypted || isLoopback(s.Host) || s.Auth != authAuto && s.mode() == modeNone
	for _, kind := range kinds {
		if slices.Contains(offered, kind) && (private || kind == authCRAM) {
			return kind, nil
		}
	}
	hint := ""
	if !private {
		hint = "; plain and login need encryption, or mode: none and auth: plain"
	}
	return "", fmt.Errorf("%w (auth: %s, offered: %s%s)", errNoAuth, s.Auth, strings.Join(offered, " "), hint)
}

// authOf returns a login that no longer asks whether the line is encrypted.
func (s *server) authOf(kind string) smtp.Auth {
	switch kind {
	case authCRAM:
		return smtp.CRAMMD5Auth(s.Username, s.Password)
	case authLogin:
		return smtp.LoginAuth(s.Username, s.Password, s.Host, true)
	}
	return smtp.PlainAuth("", s.Username, s.Password, s.Host, true)
}

func isLoopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}
