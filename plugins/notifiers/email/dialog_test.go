package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/axsched/ax/pluginapi"
)

// Row B95: each mode meets the server that it is for, and is refused by the
// others soon and with a hint.
func TestModes(t *testing.T) {
	t.Parallel()
	ca, stranger, elsewhere := newAuthority(t), newAuthority(t), newAuthority(t, "mail.example")
	trust := func(a authority) map[string]any { return map[string]any{"ca_file": a.file} }
	tests := map[string]struct {
		server, client string
		certificate    authority
		tls            map[string]any
		want           string // in the error; none: the mail is taken
		permanent      bool
	}{
		"none":              {modeNone, modeNone, authority{}, nil, "", false},
		"STARTTLS":          {modeSTARTTLS, modeSTARTTLS, ca, trust(ca), "", false},
		"TLS":               {modeTLS, modeTLS, ca, trust(ca), "", false},
		"other name":        {modeTLS, modeTLS, elsewhere, map[string]any{"ca_file": elsewhere.file, "server_name": "mail.example"}, "", false},
		"anybody":           {modeSTARTTLS, modeSTARTTLS, ca, map[string]any{"insecure_skip_verify": true}, "", false},
		"wrong name":        {modeSTARTTLS, modeSTARTTLS, elsewhere, trust(elsewhere), "STARTTLS: tls: failed to verify certificate", false},
		"stranger":          {modeTLS, modeTLS, ca, trust(stranger), "TLS: tls: failed to verify certificate", false},
		"stranger STARTTLS": {modeSTARTTLS, modeSTARTTLS, ca, nil, "STARTTLS: tls: failed to verify certificate", false},
		"no STARTTLS":       {modeNone, modeSTARTTLS, authority{}, nil, "does not offer STARTTLS (if the mail may", true},
		"TLS too early":     {modeSTARTTLS, modeTLS, ca, trust(ca), "try mode: starttls", false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			box := new(mailbox).start(t, tt.server, tt.certificate)
			settings := map[string]any{"port": box.port, "mode": tt.client}
			if tt.tls != nil {
				settings["tls"] = tt.tls
			}
			n, log := newTestNotifier(t, settings)
			if unchecked := tt.tls["insecure_skip_verify"] != nil; strings.Contains(log.String(), "is not checked") != unchecked {
				t.Errorf("log %s", log.String())
			}
			err := n.Notify(t.Context(), message())
			if tt.want == "" {
				if err != nil || box.one().secure != (tt.client != modeNone) {
					t.Errorf("error %v, mails %+v", err, box.all())
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), tt.want) || pluginapi.IsPermanent(err) != tt.permanent {
				t.Errorf("error %v, want %q", err, tt.want)
			}
			if len(box.all()) > 0 {
				t.Error("the mail was sent")
			}
		})
	}
}

// The server waits for TLS and the client for a greeting, until the timeout.
func TestTLSIsExpectedFromTheFirstByte(t *testing.T) {
	t.Parallel()
	ca := newAuthority(t)
	box := new(mailbox).start(t, modeTLS, ca)
	n, _ := newTestNotifier(t, map[string]any{"port": box.port, "mode": modeSTARTTLS, "timeout": "100ms", "tls": map[string]any{"ca_file": ca.file}})
	err := n.Notify(t.Context(), message())
	if err == nil || !strings.Contains(err.Error(), "timeout of 100ms: greeting: ") || strings.Contains(err.Error(), "closed") || !strings.HasSuffix(err.Error(), "then set mode: tls)") || pluginapi.IsPermanent(err) {
		t.Errorf("error %v", err)
	}
}

// A server that says nothing: a line that is never answered costs no more than
// the timeout, and the end of the call ends the dialogue.
func TestSilentServer(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	accepted := make(chan net.Conn, 10)
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				close(accepted)
				return
			}
			accepted <- conn
		}
	}()
	t.Cleanup(func() {
		listener.Close()
		for conn := range accepted {
			conn.Close()
		}
	})
	for _, mode := range []string{modeNone, modeTLS} {
		n, _ := newTestNotifier(t, map[string]any{"port": listener.Addr().(*net.TCPAddr).Port, "mode": mode, "timeout": "500ms"})
		if err := n.Notify(t.Context(), message()); err == nil || !strings.Contains(err.Error(), "did not finish within the timeout of 500ms") || pluginapi.IsPermanent(err) {
			t.Errorf("%s: error %v", mode, err)
		}
		conn := <-accepted
		if _, err := io.ReadAll(conn); err != nil && !strings.Contains(err.Error(), "reset") {
			t.Errorf("%s: the connection stays open: %v", mode, err)
		}
		conn.Close()
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	go func() {
		conn := <-accepted
		cancel(pluginapi.ErrDrain)
		conn.Close()
	}()
	n, _ := newTestNotifier(t, map[string]any{"port": listener.Addr().(*net.TCPAddr).Port})
	if err := n.Notify(ctx, message()); !errors.Is(err, pluginapi.ErrDrain) {
		t.Errorf("error %v", err)
	}
}

func TestNobodyListens(t *testing.T) {
	t.Parallel()
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := free.Addr().(*net.TCPAddr).Port
	free.Close()
	n, _ := newTestNotifier(t, map[string]any{"port": port})
	err = n.Notify(t.Context(), message())
	if want := fmt.Sprintf("mail server 127.0.0.1:%d: dial tcp", port); err == nil || !strings.HasPrefix(err.Error(), want) || pluginapi.IsPermanent(err) {
		t.Errorf("error %v", err)
	}
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	always := func(err error) func(string) error { return func(string) error { return err } }
	tests := map[string]struct {
		box       *mailbox
		want      string
		permanent bool
	}{
		"sender":      {&mailbox{onMail: always(refuse(553, "not yours"))}, "MAIL FROM: 553 5.1.1 not yours", true},
		"sender busy": {&mailbox{onMail: always(refuse(451, "later"))}, "MAIL FROM: 451 4.1.1 later", false},
		"unknown":     {&mailbox{onRcpt: always(refuse(550, "no such user"))}, "ops@example.com is refused: 550 5.1.1 no such user", true},
		"grey":        {&mailbox{onRcpt: always(refuse(450, "come again"))}, "ops@example.com is refused: 450 4.1.1 come again", false},
		"content":     {&mailbox{onData: func(net.Conn) error { return refuse(554, "looks like spam") }}, "DATA: 554 5.1.1 looks like spam", true},
		"disk full":   {&mailbox{onData: func(net.Conn) error { return refuse(452, "no room") }}, "DATA: 452 4.1.1 no room", false},
		"hangs up":    {&mailbox{onData: func(conn net.Conn) error { return conn.Close() }}, "DATA: ", false},
		"talkative":   {&mailbox{onRcpt: always(refuse(550, "a\n"+strings.Repeat("b", 1000)))}, "ops@example.com is refused: 550 a 5.1.1 bbb", true},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			box := tt.box.start(t, modeNone, authority{})
			n, _ := newTestNotifier(t, map[string]any{"port": box.port})
			err := n.Notify(t.Context(), message())
			if want := fmt.Sprintf("mail server 127.0.0.1:%d: %s", box.port, tt.want); err == nil || !strings.HasPrefix(err.Error(), want) {
				t.Errorf("error %v, want %s", err, want)
			}
			if pluginapi.IsPermanent(err) != tt.permanent || len(err.Error()) > 500 {
				t.Errorf("permanent %v, %d bytes", !tt.permanent, len(err.Error()))
			}
			if len(box.all()) > 0 {
				t.Error("the mail was taken")
			}
		})
	}
}

// A server that takes its time with the text is not waited for for ever.
func TestSlowServer(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	t.Cleanup(func() { close(release) })
	box := &mailbox{onData: func(net.Conn) error { <-release; return nil }}
	box.start(t, modeNone, authority{})
	n, _ := newTestNotifier(t, map[string]any{"port": box.port, "timeout": "300ms"})
	err := n.Notify(t.Context(), message())
	if err == nil || !strings.Contains(err.Error(), "did not finish within the timeout of 300ms: DATA: ") || pluginapi.IsPermanent(err) {
		t.Errorf("error %v", err)
	}
}

// The mode of port 25 encrypts if the server can, and says so if not. The host
// 0.0.0.0 is this one, but not by name.
func TestUnencryptedMailIsWarnedOf(t *testing.T) {
	t.Parallel()
	ca := newAuthority(t)
	for name, tt := range map[string]struct {
		server, client, host string
		secure               bool
		warnings             int
	}{
		"cannot":    {modeNone, modeTry, "0.0.0.0", false, 1},
		"can":       {modeSTARTTLS, modeTry, "0.0.0.0", true, 0},
		"not asked": {modeSTARTTLS, modeNone, "0.0.0.0", false, 1},
		"at home":   {modeNone, modeNone, "127.0.0.1", false, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			box := new(mailbox).start(t, tt.server, ca)
			cfg := settings{
				Host: tt.host, Port: box.port, Mode: tt.client, From: "ax@example.com", To: []string{"ops@example.com"},
				DialTimeout: pluginapi.Duration(time.Minute), Timeout: pluginapi.Duration(time.Minute),
			}
			if tt.secure {
				cfg.TLS = tlsSettings{CAFile: ca.file, ServerName: "127.0.0.1"}
			}
			var log logBuffer
			n, err := newNotifier(cfg, pluginapi.Env{Log: slog.New(slog.NewTextHandler(&log, nil))}, now)
			if err != nil {
				t.Fatal(err)
			}
			for range 2 {
				if err := n.Notify(t.Context(), message()); err != nil {
					t.Fatal(err)
				}
			}
			if mails := box.all(); len(mails) != 2 || mails[1].secure != tt.secure {
				t.Errorf("mails %+v", mails)
			}
			if got := strings.Count(log.String(), "without encryption"); got != tt.warnings {
				t.Errorf("%d warnings: %s", got, log.String())
			}
		})
	}
}
