package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"maps"
	"mime"
	"mime/multipart"
	"net/mail"
	"strings"
	"sync"
	"testing"
	"time"

	"mime/quotedprintable"

	"github.com/axsched/ax/pluginapi"
)

// now is the clock of all notifiers of these tests.
func now() time.Time { return time.Date(2026, 3, 1, 10, 0, 0, 0, time.UTC) }

func message() pluginapi.Message {
	return pluginapi.Message{
		ID: "42", App: "shop", Node: "host-1", Task: "sync", Event: "failed", Severity: "error",
		Title: "sync failed 3 times", Text: "Task sync of app shop failed 3 times.\nNewest error:\nboom <b>&\n.\n..two dots",
		Count: 3, First: now().Add(-time.Hour), Last: now(), LastError: "boom <b>&\n.\n..two dots",
		InstanceID: "7", Zone: "Asia/Shanghai",
	}
}

// logBuffer keeps a log.
type logBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *logBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *logBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}

// build makes a notifier from settings as a host would, from JSON. Given
// settings win over those that most tests have in common.
func build(settings map[string]any, log io.Writer) (pluginapi.Notifier, error) {
	all := map[string]any{
		"host": "127.0.0.1", "mode": modeNone, "hello_name": "host-1.example",
		"from": "Scheduler <ax@example.com>", "to": []string{"ops@example.com"},
	}
	maps.Copy(all, settings)
	raw, err := json.Marshal(all)
	if err != nil {
		return nil, err
	}
	built, err := component(now).Build(raw, pluginapi.Env{Log: slog.New(slog.NewTextHandler(log, nil))})
	if err != nil {
		return nil, err
	}
	return built.(pluginapi.Notifier), nil
}

func newTestNotifier(t *testing.T, settings map[string]any) (pluginapi.Notifier, *logBuffer) {
	t.Helper()
	var log logBuffer
	n, err := build(settings, &log)
	if err != nil {
		t.Fatal(err)
	}
	return n, &log
}

// letterParts is a mail as a mail program shows it.
type letterParts struct {
	header      mail.Header
	subject     string
	plain, html string
}

// read takes a mail apart with the standard library, which did not make it.
func read(t *testing.T, raw string) letterParts {
	t.Helper()
	msg, err := mail.ReadMessage(strings.NewReader(raw))
	if err != nil {
		t.Fatalf("read the mail: %v\n%s", err, raw)
	}
	parts := letterParts{header: msg.Header}
	if parts.subject, err = new(mime.WordDecoder).DecodeHeader(msg.Header.Get("Subject")); err != nil {
		t.Fatalf("decode the subject: %v", err)
	}
	kind, parameters, err := mime.ParseMediaType(msg.Header.Get("Content-Type"))
	if err != nil || kind != "multipart/alternative" {
		t.Fatalf("content type %s: %v", kind, err)
	}
	for reader := multipart.NewReader(msg.Body, parameters["boundary"]); ; {
		part, err := reader.NextRawPart()
		if errors.Is(err, io.EOF) {
			return parts
		}
		if err != nil {
			t.Fatalf("read a part: %v", err)
		}
		if encoding := part.Header.Get("Content-Transfer-Encoding"); encoding != "quoted-printable" {
			t.Fatalf("a part is encoded as %q", encoding)
		}
		text, err := io.ReadAll(quotedprintable.NewReader(part))
		if err != nil {
			t.Fatalf("read a part: %v", err)
		}
		kind, parameters, err := mime.ParseMediaType(part.Header.Get("Content-Type"))
		if err != nil || !strings.EqualFold(parameters["charset"], "utf-8") {
			t.Errorf("a part is %v: %v", part.Header, err)
		}
		body := strings.ReplaceAll(string(text), "\r\n", "\n")
		if kind == "text/html" {
			parts.html = body
		} else {
			parts.plain = body
		}
	}
}
