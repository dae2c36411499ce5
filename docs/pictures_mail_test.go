package docs_test

import (
	"errors"
	"html/template"
	"io"
	"mime"
	"mime/multipart"
	"net"
	"net/mail"
	"strings"
	"sync"
	"testing"

	"github.com/emersion/go-smtp"

	"github.com/axsched/ax/pluginapi"
)

// sendMail sends a message by the plugin email and returns the letter.
func sendMail(t *testing.T, lang string, msg pluginapi.Message) *mail.Message {
	t.Helper()
	letters := make(chan string, 1)
	server := smtp.NewServer(smtp.BackendFunc(func(*smtp.Conn) (smtp.Session, error) { return &mailSession{letters}, nil }))
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var serving sync.WaitGroup
	serving.Go(func() { _ = server.Serve(listener) }) // it ends with an error always
	t.Cleanup(func() {
		_ = server.Close()
		serving.Wait()
	})
	notify(t, "email", map[string]any{
		"host": "127.0.0.1", "port": listener.Addr().(*net.TCPAddr).Port, "mode": "none", "lang": lang,
		"from": "Scheduler <ax@shop.example>", "to": []string{"ops@shop.example"},
	}, msg)
	letter, err := mail.ReadMessage(strings.NewReader(<-letters))
	if err != nil {
		t.Fatal(err)
	}
	return letter
}

// mailSession takes letters.
type mailSession struct{ letters chan<- string }

func (*mailSession) Reset()                               {}
func (*mailSession) Logout() error                        { return nil }
func (*mailSession) Mail(string, *smtp.MailOptions) error { return nil }
func (*mailSession) Rcpt(string, *smtp.RcptOptions) error { return nil }

func (s *mailSession) Data(r io.Reader) error {
	raw, err := io.ReadAll(r)
	s.letters <- string(raw)
	return err
}

// mailPage shows a letter as mail programs do: its head, and its HTML.
func mailPage(t *testing.T, letter *mail.Message) string {
	t.Helper()
	subject, err := new(mime.WordDecoder).DecodeHeader(letter.Header.Get("Subject"))
	if err != nil {
		t.Fatal(err)
	}
	_, parameters, err := mime.ParseMediaType(letter.Header.Get("Content-Type"))
	if err != nil {
		t.Fatal(err)
	}
	for parts := multipart.NewReader(letter.Body, parameters["boundary"]); ; {
		part, err := parts.NextPart() // which undoes quoted-printable
		if errors.Is(err, io.EOF) {
			t.Fatal("the letter has no HTML")
		}
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(part.Header.Get("Content-Type"), "text/html") {
			continue
		}
		html, err := io.ReadAll(part)
		if err != nil {
			t.Fatal(err)
		}
		head := page(t, "mail.html", map[string]string{
			"Subject": subject, "From": letter.Header.Get("From"), "To": letter.Header.Get("To"),
		})
		before, after, found := strings.Cut(string(html), "\n<div") // after the tag of the body
		if !found {
			t.Fatalf("where does the text begin? %s", html)
		}
		return before + "\n" + head + "<div" + after
	}
}

// raw marks what is HTML already.
func raw(html string) template.HTML { return template.HTML(html) } //nolint:gosec // made by these tests from escaped text
