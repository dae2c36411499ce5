package main

import (
	"fmt"
	"maps"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/axsched/ax/pluginapi"
)

// TestMailpit sends to a mail server that others wrote: Mailpit, in a process of
// its own, in the version that tools.mod pins.
func TestMailpit(t *testing.T) {
	binary := filepath.Join(t.TempDir(), "mailpit")
	if out, err := exec.Command("go", "build", "-modfile=../../../tools.mod", "-o", binary, "github.com/axllent/mailpit").CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	for name, test := range map[string]func(*testing.T, string){
		"letter": mailpitLetter, "STARTTLS": mailpitSTARTTLS, "TLS": mailpitTLS, "refusals": mailpitRefusals,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, binary)
		})
	}
}

// mailpitLetter looks at what arrives: the envelope, the words and the thread,
// also after the plugin was started anew.
func mailpitLetter(t *testing.T, binary string) {
	m := startMailpit(t, binary)
	settings := m.settings(modeNone, authority{})
	settings["to"] = []string{"ops@example.com", "König <k@example.com>"}
	settings["cc"], settings["bcc"], settings["lang"] = []string{"boss@example.com"}, []string{"archive@example.com"}, "zh"
	next := message()
	next.ID = "43"
	for _, msg := range []pluginapi.Message{message(), next} {
		n, _ := newTestNotifier(t, settings) // knows nothing of the one before
		if err := n.Notify(t.Context(), msg); err != nil {
			t.Fatal(err)
		}
	}
	letters := m.letters(t)
	if len(letters) != 2 {
		t.Fatalf("%d letters", len(letters))
	}
	newest, first := read(t, m.raw(t, letters[0].ID)), read(t, m.raw(t, letters[1].ID))
	if first.subject != "[shop] sync 失败（共 3 次）" || !strings.Contains(first.plain, "主机: host-1") || !strings.HasSuffix(first.plain, "boom <b>&\n.\n..two dots\n") || !strings.Contains(first.html, "boom &lt;b&gt;&amp;\n.\n..two dots") {
		t.Errorf("letter %+v", first)
	}
	if thread := first.header.Get("References"); thread == "" || newest.header.Get("References") != thread || newest.header.Get("In-Reply-To") != thread {
		t.Errorf("threads %v and %v", first.header, newest.header)
	}
	if id := first.header.Get("Message-Id"); id == newest.header.Get("Message-Id") {
		t.Errorf("header %v", first.header)
	}
	if !slices.Equal(letters[1].Bcc.addresses(), []string{"archive@example.com"}) || !slices.Equal(letters[1].To.addresses(), []string{"ops@example.com", "k@example.com"}) {
		t.Errorf("sent to %v, %v", letters[1].To, letters[1].Bcc)
	}
}

// mailpitSTARTTLS logs in behind STARTTLS, which the server insists on.
func mailpitSTARTTLS(t *testing.T, binary string) {
	ca, stranger := newAuthority(t), newAuthority(t)
	m := startMailpit(t, binary, "--smtp-tls-cert", ca.file, "--smtp-tls-key", ca.keyFile, "--smtp-require-starttls", "--smtp-auth-file", passwords(t))
	login := func(password, auth string) map[string]any {
		return map[string]any{"username": testUser, "password": password, "auth": auth}
	}
	tests := map[string]struct {
		mode      string
		ca        authority
		login     map[string]any
		want      string // in the error; none: the letter is taken
		permanent bool
	}{
		"plain":          {modeSTARTTLS, ca, login(testPassword, authPlain), "", false},
		"login":          {modeSTARTTLS, ca, login(testPassword, authLogin), "", false},
		"auto":           {modeSTARTTLS, ca, login(testPassword, authAuto), "", false},
		"wrong password": {modeSTARTTLS, ca, login("s3cret-wrong", authAuto), "AUTH PLAIN: 535", true},
		"nobody":         {modeSTARTTLS, ca, nil, "MAIL FROM: 530", true},
		"readable":       {modeNone, authority{}, nil, "MAIL FROM: 530 5.7.0 Must issue a STARTTLS command first", true},
		"stranger":       {modeSTARTTLS, stranger, nil, "STARTTLS: tls: failed to verify certificate", false},
		"too early":      {modeTLS, ca, nil, "try mode: starttls", false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			settings := m.settings(tt.mode, tt.ca)
			maps.Copy(settings, tt.login)
			n, log := newTestNotifier(t, settings)
			before := len(m.letters(t))
			err := n.Notify(t.Context(), message())
			taken := len(m.letters(t)) - before
			if tt.want == "" {
				if err != nil || taken != 1 {
					t.Errorf("error %v, %d letters", err, taken)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), tt.want) || pluginapi.IsPermanent(err) != tt.permanent || taken != 0 {
				t.Errorf("error %v, permanent %v, %d letters", err, pluginapi.IsPermanent(err), taken)
			}
			if strings.Contains(fmt.Sprint(err)+log.String(), "s3cret") {
				t.Errorf("the password is shown: %v, %s", err, log.String())
			}
		})
	}
}

// mailpitTLS is encrypted from the first byte.
func mailpitTLS(t *testing.T, binary string) {
	ca := newAuthority(t, "mail.example", "localhost")
	m := startMailpit(t, binary, "--smtp-tls-cert", ca.file, "--smtp-tls-key", ca.keyFile, "--smtp-require-tls")
	for name, tt := range map[string]struct {
		tls  map[string]any
		want string
	}{
		"trusted":    {map[string]any{"ca_file": ca.file, "server_name": "mail.example"}, ""},
		"any":        {map[string]any{"insecure_skip_verify": true}, ""},
		"other name": {map[string]any{"ca_file": ca.file, "server_name": "other.example"}, "certificate is valid for mail.example"},
	} {
		settings := m.settings(modeTLS, ca)
		settings["tls"] = tt.tls
		n, _ := newTestNotifier(t, settings)
		before := len(m.letters(t))
		err := n.Notify(t.Context(), message())
		if taken := len(m.letters(t)) - before; tt.want == "" && (err != nil || taken != 1) || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want) || taken != 0) {
			t.Errorf("%s: error %v, %d letters", name, err, taken)
		}
	}
}

// mailpitRefusals has the server refuse senders, recipients and logins, for now
// and for good.
func mailpitRefusals(t *testing.T, binary string) {
	m := startMailpit(t, binary, "--smtp-allowed-recipients", `@example\.com$`, "--enable-chaos", "--smtp-auth-accept-any", "--smtp-auth-allow-insecure")
	settings := m.settings(modeNone, authority{})
	settings["to"] = []string{"ops@example.com", "somebody@elsewhere.example"}
	n, log := newTestNotifier(t, settings)
	if err := n.Notify(t.Context(), message()); err != nil || !strings.Contains(log.String(), "recipient=somebody@elsewhere.example") {
		t.Errorf("error %v, log %s", err, log.String())
	}
	if letters := m.letters(t); len(letters) != 1 {
		t.Errorf("letters %v", letters)
	}
	settings["username"], settings["password"] = testUser, testPassword
	settings["to"] = []string{"ops@example.com"}
	for _, tt := range []struct {
		trigger string
		code    int
		want    string
	}{
		{"Sender", 451, "MAIL FROM: 451"},
		{"Sender", 553, "MAIL FROM: 553"},
		{"Recipient", 450, "ops@example.com is refused: 450"},
		{"Recipient", 550, "ops@example.com is refused: 550"},
		{"Authentication", 454, "AUTH PLAIN: 454"},
		{"Authentication", 535, "AUTH PLAIN: 535"},
	} {
		m.chaos(t, tt.trigger, tt.code)
		n, _ := newTestNotifier(t, settings)
		err := n.Notify(t.Context(), message())
		if err == nil || !strings.Contains(err.Error(), tt.want) || pluginapi.IsPermanent(err) != (tt.code >= 500) {
			t.Errorf("error %v, permanent %v, want %s", err, pluginapi.IsPermanent(err), tt.want)
		}
	}
	m.chaos(t, "Sender", 0)
	if letters := m.letters(t); len(letters) != 1 {
		t.Errorf("letters %v", letters)
	}
}
