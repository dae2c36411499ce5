package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// passwords writes a file with the user of these tests.
func passwords(t *testing.T) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "passwords")
	if err := os.WriteFile(file, []byte(testUser+":"+testPassword+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// mailpit is a running server.
type mailpit struct {
	port int // of SMTP
	api  string
}

// startMailpit starts a server with options and waits until it serves.
func startMailpit(t *testing.T, binary string, options ...string) *mailpit {
	t.Helper()
	smtp, web := freePort(t), freePort(t)
	m := &mailpit{port: smtp, api: fmt.Sprintf("http://127.0.0.1:%d", web)}
	ctx, stop := context.WithCancel(context.Background())
	var output strings.Builder
	cmd := exec.CommandContext(ctx, binary, append(options,
		"--smtp", "127.0.0.1:"+strconv.Itoa(smtp), "--listen", "127.0.0.1:"+strconv.Itoa(web),
		"--database", filepath.Join(t.TempDir(), "mails.db"), "--disable-version-check", "--smtp-disable-rdns")...)
	cmd.Stdout, cmd.Stderr = &output, &output
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; t.Failed() {
			t.Logf("mailpit: %v: %s", err, output.String())
		}
	})
	for deadline := time.Now().Add(30 * time.Second); ; {
		if m.ready(t.Context()) {
			return m
		}
		select {
		case err := <-ended:
			ended <- err
			t.Fatalf("mailpit has ended: %v", err)
		case <-time.After(50 * time.Millisecond): // a process of others: there is nothing to wait for
		}
		if time.Now().After(deadline) {
			t.Fatal("mailpit does not begin to serve")
		}
	}
}

// ready asks whether both ports are served; that of SMTP says nothing of itself.
func (m *mailpit) ready(ctx context.Context) bool {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, m.api+"/readyz", http.NoBody)
	if err != nil {
		return false
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return false
	}
	resp.Body.Close()
	conn, err := (&net.Dialer{Timeout: time.Second}).DialContext(ctx, "tcp", "127.0.0.1:"+strconv.Itoa(m.port))
	if err != nil {
		return false
	}
	conn.Close()
	return resp.StatusCode == http.StatusOK
}

func freePort(t *testing.T) int {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	return listener.Addr().(*net.TCPAddr).Port
}

// settings reach the server in the way of a mode.
func (m *mailpit) settings(mode string, ca authority) map[string]any {
	settings := map[string]any{"port": m.port, "mode": mode}
	if mode != modeNone {
		settings["tls"] = map[string]any{"ca_file": ca.file}
	}
	return settings
}

// summary is what the server lists of a letter.
type summary struct {
	ID      string
	To, Bcc people
}

type people []struct{ Address string }

func (p people) addresses() []string {
	var all []string
	for _, one := range p {
		all = append(all, one.Address)
	}
	return all
}

// letters lists what has arrived, the newest first.
func (m *mailpit) letters(t *testing.T) []summary {
	t.Helper()
	var list struct{ Messages []summary }
	if err := json.Unmarshal(m.call(t, http.MethodGet, "/api/v1/messages", ""), &list); err != nil {
		t.Fatal(err)
	}
	return list.Messages
}

// raw returns a letter as it arrived.
func (m *mailpit) raw(t *testing.T, id string) string {
	t.Helper()
	return string(m.call(t, http.MethodGet, "/api/v1/message/"+id+"/raw", ""))
}

// chaos has the server refuse something with a code; 0 ends it all.
func (m *mailpit) chaos(t *testing.T, trigger string, code int) {
	t.Helper()
	body := "{}"
	if code != 0 {
		body = fmt.Sprintf(`{%q: {"ErrorCode": %d, "Probability": 100}}`, trigger, code)
	}
	m.call(t, http.MethodPut, "/api/v1/chaos", body)
}

func (m *mailpit) call(t *testing.T, method, path, body string) []byte {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, m.api+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err = errors.Join(err, statusError(resp)); err != nil {
		t.Fatalf("%s %s: %v: %s", method, path, err, answer)
	}
	return answer
}

func statusError(resp *http.Response) error {
	if resp.StatusCode != http.StatusOK {
		return errors.New(resp.Status)
	}
	return nil
}
