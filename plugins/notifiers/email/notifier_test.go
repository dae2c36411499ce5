package main

import (
	"reflect"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/emersion/go-smtp"

	"github.com/axsched/ax/pluginapi"
)

func refuse(code int, text string) error {
	return &smtp.SMTPError{Code: code, EnhancedCode: smtp.EnhancedCode{code / 100, 1, 1}, Message: text}
}

// keep sends a message as hosts do, which keep receipts.
func keep(t *testing.T, n pluginapi.Notifier, receipt *string, msg pluginapi.Message) error {
	t.Helper()
	msg.Receipt = *receipt
	got, err := n.(pluginapi.ReceiptNotifier).NotifyReceipt(t.Context(), msg)
	if got != "" || err == nil {
		*receipt = got
	}
	return err
}

// Some recipients are refused: the others get the mail at once and only once,
// whoever is refused for now gets it later, and the log names the rest.
func TestSomeRecipientsAreRefused(t *testing.T) {
	t.Parallel()
	var grey atomic.Bool
	grey.Store(true)
	box := &mailbox{onRcpt: func(address string) error {
		switch {
		case strings.HasPrefix(address, "gone"):
			return refuse(550, "no such user")
		case strings.HasPrefix(address, "grey") && grey.Load():
			return refuse(450, "come again")
		}
		return nil
	}}
	box.start(t, modeNone, authority{})
	n, log := newTestNotifier(t, map[string]any{"port": box.port, "to": []string{"ops@example.com", "gone@example.com", "grey@example.com"}})
	receipt := ""
	for range 2 {
		err := keep(t, n, &receipt, message())
		if err == nil || pluginapi.IsPermanent(err) || !strings.Contains(err.Error(), "grey@example.com is refused: 450 4.1.1 come again") {
			t.Errorf("error %v", err)
		}
		if strings.Contains(err.Error(), "gone@") {
			t.Errorf("error %v", err)
		}
	}
	grey.Store(false)
	if err := keep(t, n, &receipt, message()); err != nil {
		t.Error(err)
	}
	var to [][]string
	for _, mail := range box.all() {
		to = append(to, mail.to)
	}
	if want := [][]string{{"ops@example.com"}, {"grey@example.com"}}; !reflect.DeepEqual(to, want) {
		t.Errorf("sent to %v, want %v", to, want)
	}
	if got := strings.Count(log.String(), "will not get this mail"); got != 1 || !strings.Contains(log.String(), "recipient=gone@example.com") {
		t.Errorf("log %s", log.String())
	}
	next := message()
	next.ID = "43"
	if err := keep(t, n, &receipt, next); err != nil {
		t.Error(err)
	}
	if mails := box.all(); !reflect.DeepEqual(mails[len(mails)-1].to, []string{"ops@example.com", "grey@example.com"}) {
		t.Errorf("the next message went to %v", mails[len(mails)-1].to)
	}
}

// By receipts, whoever has a mail does not get it again after the process was
// started anew either.
func TestReceipts(t *testing.T) {
	t.Parallel()
	var grey atomic.Bool
	grey.Store(true)
	box := &mailbox{onRcpt: func(address string) error {
		if strings.HasPrefix(address, "grey") && grey.Load() {
			return refuse(450, "come again")
		}
		return nil
	}}
	box.start(t, modeNone, authority{})
	kept := ""
	send := func(msg pluginapi.Message, to ...string) error {
		t.Helper()
		n, _ := newTestNotifier(t, map[string]any{"port": box.port, "to": to}) // the process was started anew
		return keep(t, n, &kept, msg)
	}
	for range 2 { // the second time nobody gets it: that leaves the receipt
		if err := send(message(), "ops@example.com", "grey@example.com", "grey2@example.com"); err == nil {
			t.Error("no error")
		}
	}
	grey.Store(false)
	if err := send(message(), "ops@example.com", "grey@example.com", "new@example.com"); err != nil || kept != "" {
		t.Errorf("error %v, receipt %q", err, kept)
	}
	kept = `{"message":"42","waiting":["gone@example.com"]}` // whom the settings no longer name
	if err := send(message(), "ops@example.com"); err != nil || kept != "" {
		t.Errorf("error %v, receipt %q", err, kept)
	}
	kept = `{"message":"41","waiting":["grey@example.com"]}` // of another message
	if err := send(message(), "ops@example.com", "grey@example.com"); err != nil {
		t.Error(err)
	}
	var to [][]string
	for _, mail := range box.all() {
		to = append(to, mail.to)
	}
	if want := [][]string{{"ops@example.com"}, {"grey@example.com"}, {"ops@example.com", "grey@example.com"}}; !reflect.DeepEqual(to, want) {
		t.Errorf("sent to %v, want %v", to, want)
	}
}

func TestEverybodyIsRefused(t *testing.T) {
	t.Parallel()
	for last, permanent := range map[int]bool{450: false, 550: true} {
		box := &mailbox{onRcpt: func(address string) error {
			if strings.HasPrefix(address, "b") {
				return refuse(last, "no")
			}
			return refuse(550, "no")
		}}
		box.start(t, modeNone, authority{})
		n, _ := newTestNotifier(t, map[string]any{"port": box.port, "to": []string{"a@example.com", "b@example.com"}})
		err := n.Notify(t.Context(), message())
		if err == nil || pluginapi.IsPermanent(err) != permanent || !strings.Contains(err.Error(), "a@example.com is refused: 550") || !strings.Contains(err.Error(), "b@example.com is refused: "+strconv.Itoa(last)) {
			t.Errorf("%d: error %v", last, err)
		}
	}
}

func TestLogin(t *testing.T) {
	t.Parallel()
	ca := newAuthority(t)
	everything := []string{"CRAM-MD5", "LOGIN", "PLAIN"}
	tests := map[string]struct {
		mode, auth string
		offered    []string
		user       string // who is logged in, or
		want       string // the error
	}{
		"auto":              {modeTLS, authAuto, everything, testUser + " by PLAIN", ""},
		"auto, STARTTLS":    {modeSTARTTLS, authAuto, everything[:2], testUser + " by LOGIN", ""},
		"auto, digest only": {modeSTARTTLS, authAuto, everything[:1], testUser + " by CRAM-MD5", ""},
		"plain":             {modeSTARTTLS, authPlain, everything, testUser + " by PLAIN", ""},
		"login":             {modeTLS, authLogin, everything, testUser + " by LOGIN", ""},
		"digest":            {modeNone, authCRAM, everything, testUser + " by CRAM-MD5", ""},
		"none":              {modeTLS, authNone, everything, "", ""},
		"not offered":       {modeTLS, authLogin, everything[:1], "", "does not offer a login that the settings allow (auth: login, offered: cram-md5)"},
		"readable by auto":  {modeNone, authAuto, everything[1:], "", "plain and login need encryption, or mode: none and auth: plain)"},
		"readable, asked":   {modeNone, authPlain, everything, testUser + " by PLAIN", ""},
		"readable digest":   {modeNone, authAuto, everything, testUser + " by CRAM-MD5", ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			box := (&mailbox{mechanisms: tt.offered}).start(t, tt.mode, ca)
			settings := map[string]any{
				"host": "0.0.0.0", // this host, but not known as such
				"port": box.port, "mode": tt.mode, "username": testUser, "password": testPassword, "auth": tt.auth,
			}
			if tt.mode != modeNone {
				settings["tls"] = map[string]any{"ca_file": ca.file, "server_name": "127.0.0.1"}
			}
			n, _ := newTestNotifier(t, settings)
			err := n.Notify(t.Context(), message())
			if tt.want != "" {
				if !pluginapi.IsPermanent(err) || !strings.Contains(err.Error(), tt.want) {
					t.Errorf("error %v", err)
				}
				return
			}
			if err != nil || box.one().user != tt.user {
				t.Errorf("error %v, mails %+v", err, box.all())
			}
		})
	}
}

// A wrong password is told of, but not told, whatever the server quotes.
func TestWrongPassword(t *testing.T) {
	t.Parallel()
	for _, auth := range []string{authPlain, authLogin, authCRAM} {
		box := (&mailbox{mechanisms: []string{"PLAIN", "LOGIN", "CRAM-MD5"}}).start(t, modeNone, authority{})
		n, log := newTestNotifier(t, map[string]any{"port": box.port, "username": testUser, "password": "s3cret-wrong", "auth": auth})
		err := n.Notify(t.Context(), message())
		if !pluginapi.IsPermanent(err) || !strings.Contains(err.Error(), "AUTH "+strings.ToUpper(auth)+": 535 5.7.8 Authentication failed") {
			t.Errorf("error %v", err)
		}
		if strings.Contains(err.Error()+log.String(), "s3cret") {
			t.Errorf("the password is shown: %v, %s", err, log.String())
		}
	}
	quoting := &mailbox{onMail: func(string) error { return refuse(535, "s3cret-password and czNjcmV0LXBhc3N3b3Jk are wrong") }}
	quoting.mechanisms = []string{"PLAIN"}
	quoting.start(t, modeNone, authority{})
	n, _ := newTestNotifier(t, map[string]any{"port": quoting.port, "username": testUser, "password": testPassword})
	if err := n.Notify(t.Context(), message()); err == nil || !strings.HasSuffix(err.Error(), "535 5.1.1 [hidden] and [hidden] are wrong") {
		t.Errorf("error %v", err)
	}
}
