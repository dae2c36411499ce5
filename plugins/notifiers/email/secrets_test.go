package main

import (
	"bufio"
	"encoding/base64"
	"fmt"
	"net"
	"strings"
	"sync"
	"testing"
)

// quoting is a mail server that says yes until a step of the dialogue, which it
// refuses with all that it heard.
type quoting struct {
	step string // the beginning of the command that is refused
	code int
}

// serve answers one client.
func (q quoting) serve(conn net.Conn) {
	defer conn.Close()
	var heard []string
	say := func(format string, args ...any) { fmt.Fprintf(conn, format+"\r\n", args...) }
	say("220 mail.example")
	inLetter, asked := false, 0
	for lines := bufio.NewScanner(conn); lines.Scan(); {
		line := lines.Text()
		heard = append(heard, line)
		if decoded, err := base64.StdEncoding.DecodeString(line[strings.LastIndex(line, " ")+1:]); err == nil {
			heard = append(heard, strings.ReplaceAll(string(decoded), "\x00", " "))
		}
		switch {
		case inLetter && line != ".":
		case strings.HasPrefix(line, q.step), inLetter && q.step == "." && line == ".":
			say("%d you said %s", q.code, strings.Join(heard, " | "))
		case inLetter:
			inLetter = false
			say("250 ok")
		case strings.HasPrefix(line, "EHLO"):
			say("250-mail.example\r\n250 AUTH PLAIN LOGIN")
		case line == "AUTH LOGIN":
			asked = 1
			say("334 VXNlcm5hbWU6")
		case asked == 1:
			asked = 2
			say("334 UGFzc3dvcmQ6")
		case strings.HasPrefix(line, "AUTH"), asked == 2:
			asked = 0
			say("235 welcome")
		case line == "DATA":
			inLetter = true
			say("354 go ahead")
		default:
			say("250 ok")
		}
	}
}

// Row B86: wherever a dialogue fails, neither the password nor a form in which
// it was sent shows up in the error or in the log, even if the server quotes all
// that it heard.
func TestSecretsAreNeverShown(t *testing.T) {
	t.Parallel()
	encode := func(text string) string { return base64.StdEncoding.EncodeToString([]byte(text)) }
	secrets := []string{"s3cret", encode(testPassword), encode("\x00" + testUser + "\x00" + testPassword)}
	for auth, steps := range map[string][]string{
		authPlain: {"AUTH", "MAIL", "RCPT", "DATA", "."},
		authLogin: {"AUTH", encode(testPassword), "MAIL", "RCPT", "DATA", "."},
	} {
		for _, step := range steps {
			for _, code := range []int{451, 550} {
				t.Run(fmt.Sprint(auth, " ", step, " ", code), func(t *testing.T) {
					t.Parallel()
					listener, err := net.Listen("tcp", "127.0.0.1:0")
					if err != nil {
						t.Fatal(err)
					}
					var serving sync.WaitGroup
					serving.Go(func() {
						if conn, err := listener.Accept(); err == nil {
							quoting{step, code}.serve(conn)
						}
					})
					t.Cleanup(func() {
						listener.Close()
						serving.Wait()
					})
					n, log := newTestNotifier(t, map[string]any{
						"port": listener.Addr().(*net.TCPAddr).Port, "username": testUser, "password": testPassword, "auth": auth,
					})
					err = n.Notify(t.Context(), message())
					if err == nil || !strings.Contains(err.Error(), fmt.Sprint(code, " you said EHLO")) {
						t.Errorf("error %v", err)
					}
					for _, secret := range secrets {
						if strings.Contains(fmt.Sprint(err)+log.String(), secret) {
							t.Errorf("%s is shown: %v, log %s", secret, err, log.String())
						}
					}
				})
			}
		}
	}
}
