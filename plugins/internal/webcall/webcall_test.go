package webcall

import (
	"errors"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/axsched/ax/pluginapi"
)

func TestStatus(t *testing.T) {
	t.Parallel()
	tests := map[int]bool{ // status: permanent
		304: true, 400: true, 401: true, 404: true, 409: true, 422: true,
		408: false, 425: false, 429: false, 500: false, 503: false, 599: false,
	}
	for code, permanent := range tests {
		err := Status(&http.Response{StatusCode: code, Status: "line"}, time.Time{})
		if pluginapi.IsPermanent(err) != permanent || err.Error() != "status line" {
			t.Errorf("%d: %v, permanent %v", code, err, !permanent)
		}
	}
}

// The wait that a receiver asks for reaches the host with what may be tried again.
func TestStatusTellsTheWait(t *testing.T) {
	t.Parallel()
	for code, want := range map[int]time.Duration{429: 30 * time.Second, 503: 30 * time.Second, 404: 0} {
		resp := &http.Response{StatusCode: code, Status: "line", Header: http.Header{"Retry-After": {"30"}}}
		if err := Status(resp, time.Time{}); pluginapi.RetryWait(err) != want {
			t.Errorf("%d: wait %v, want %v", code, pluginapi.RetryWait(err), want)
		}
	}
}

func TestRetryAfter(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 1, 10, 0, 0, 300e6, time.UTC)
	tests := map[string]time.Duration{
		"": 0, "120": 2 * time.Minute, "0": 0, "-5": 0, "soon": 0, "1.5": 0,
		"99999999999":                   365 * 24 * time.Hour,
		"Sun, 01 Mar 2026 10:01:00 GMT": time.Minute,
		"Sun, 01 Mar 2026 09:59:00 GMT": 0,
	}
	for text, want := range tests {
		if got := RetryAfter(http.Header{"Retry-After": {text}}, now); got != want {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
}

func TestParseURL(t *testing.T) {
	t.Parallel()
	if u, err := ParseURL("https://me:pw@shop.example:8443/a?b=c"); err != nil || Origin(u) != "https://shop.example:8443" {
		t.Errorf("%v, %v", u, err)
	}
	for _, text := range []string{"", "shop.example/s3cret", "//s3cret", "http:///s3cret", "file:///s3cret", "http://s3cret:x@h:port/", "http://h/\x7fs3cret"} {
		if _, err := ParseURL(text); err == nil || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestScrubber(t *testing.T) {
	t.Parallel()
	u, err := url.Parse("https://me:password1@h/services/T0123456/a%20b%20c%20d?token=a%2Fb%2Fc%2Fd&v=1")
	if err != nil {
		t.Fatal(err)
	}
	s := NewScrubber(append(SegmentsOf(u), CredentialsIn(u)...)...)
	tests := map[string]string{
		"no /services/T0123456/a b c d here": "no [hidden] here",
		"GET " + u.RequestURI():              "GET [hidden]?[hidden]",
		"team T0123456 is unknown":           "team [hidden] is unknown",
		"user me, password1, a/b/c/d, v 1":   "user me, [hidden], [hidden], v 1",
	}
	for text, want := range tests {
		if got := s.Scrub(text); got != want {
			t.Errorf("%q became %q, want %q", text, got, want)
		}
	}
	heads := map[string]string{
		"of passw": "of passw", "of passwo": "of [hidden]", "of password": "of [hidden]", "of password1": "of [hidden]",
		"GET /services/T012\uFFFD": "GET [hidden]", "as it is": "as it is",
	}
	for text, want := range heads {
		if got := s.ScrubHead(text); got != want {
			t.Errorf("the head %q became %q, want %q", text, got, want)
		}
	}
	if got := NewScrubber().Scrub("as it is"); got != "as it is" {
		t.Errorf("no secrets: %q", got)
	}
}

func TestReadHead(t *testing.T) {
	t.Parallel()
	text, cut, err := ReadHead(strings.NewReader("日本語"), 5)
	if text != "日\uFFFD" || !cut || err != nil {
		t.Errorf("%q, %v, %v", text, cut, err)
	}
	text, cut, err = ReadHead(strings.NewReader("12345"), 5)
	if text != "12345" || cut || err != nil {
		t.Errorf("%q, %v, %v", text, cut, err)
	}
	broken := errors.New("connection reset")
	if _, _, err := ReadHead(iotest.ErrReader(&url.Error{Op: "Get", URL: "http://s3cret", Err: broken}), 5); !errors.Is(err, broken) || strings.Contains(err.Error(), "s3cret") {
		t.Errorf("error %v", err)
	}
}
