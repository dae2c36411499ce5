// Package webcall is what plugins that call URLs share: an HTTP transport, the
// meaning of answers, and error texts that show no secrets.
package webcall

import (
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/axsched/ax/pluginapi"
)

// NewTransport makes a transport that keeps connections for reuse and honours
// the usual proxy variables of the environment. tlsConfig may be nil.
func NewTransport(tlsConfig *tls.Config) *http.Transport {
	const (
		patience     = 10 * time.Second // for each step of connecting
		idleTime     = 90 * time.Second
		idlePerHost  = 16
		headersLimit = 64 << 10
	)
	return &http.Transport{
		Proxy:                  http.ProxyFromEnvironment,
		DialContext:            (&net.Dialer{Timeout: patience}).DialContext,
		TLSHandshakeTimeout:    patience,
		TLSClientConfig:        tlsConfig,
		ForceAttemptHTTP2:      true,
		MaxIdleConnsPerHost:    idlePerHost,
		IdleConnTimeout:        idleTime,
		MaxResponseHeaderBytes: headersLimit,
	}
}

// ParseURL reads an absolute http or https URL. Errors do not quote it.
func ParseURL(text string) (*url.URL, error) {
	u, err := url.Parse(text)
	if err != nil {
		if wrapped, ok := errors.AsType[*url.Error](err); ok {
			err = wrapped.Err // without the URL
		}
		return nil, fmt.Errorf("not a URL: %w", err)
	}
	if u.Scheme != "http" && u.Scheme != "https" {
		return nil, errors.New("expected a URL beginning with http:// or https://")
	}
	if u.Hostname() == "" {
		return nil, errors.New("the URL has no host")
	}
	return u, nil
}

// Status describes an unwelcome status of an answer, such as "status 503
// Service Unavailable, retry after 2m0s". It is permanent unless the status
// says that trying again may help: 408, 425, 429 and all of 5xx. Then it tells
// the host of the wait that the receiver asks for.
func Status(resp *http.Response, now time.Time) error {
	text := "status " + resp.Status
	wait := RetryAfter(resp.Header, now)
	if wait > 0 {
		text += fmt.Sprintf(", retry after %v", wait)
	}
	switch {
	case resp.StatusCode >= 500, resp.StatusCode == http.StatusRequestTimeout,
		resp.StatusCode == http.StatusTooEarly, resp.StatusCode == http.StatusTooManyRequests:
		return pluginapi.RetryAfter(errors.New(text), wait)
	}
	return pluginapi.Permanent(errors.New(text))
}

// RetryAfter reads the Retry-After header, which holds seconds or a date; 0
// means that there is none for the future.
func RetryAfter(header http.Header, now time.Time) time.Duration {
	text := header.Get("Retry-After")
	const year = 365 * 24 * 60 * 60
	if seconds, err := strconv.Atoi(text); err == nil {
		return time.Duration(min(max(seconds, 0), year)) * time.Second
	}
	at, err := http.ParseTime(text)
	if err != nil || at.Before(now) {
		return 0
	}
	return at.Sub(now).Round(time.Second)
}

// ReadHead reads up to limit bytes of a body and makes them valid UTF-8. It
// reads a little further, so that the connection can be used again. An error
// means that the answer broke off within the limit.
func ReadHead(body io.Reader, limit int64) (text string, cut bool, err error) {
	raw, err := io.ReadAll(io.LimitReader(body, limit))
	if err != nil {
		return "", false, fmt.Errorf("read the answer: %w", Cause(err))
	}
	const further = 256 << 10
	n, _ := io.CopyN(io.Discard, body, further) // what is not kept may be missing
	return strings.ToValidUTF8(string(raw), "\uFFFD"), n > 0, nil
}

// ValidHeader reports what is wrong with a header field; the value, which may
// be a secret, is not quoted.
func ValidHeader(name, value string) error {
	const tokens = "!#$%&'*+-.^_`|~"
	bad := func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune(tokens, r))
	}
	switch {
	case name == "" || strings.ContainsFunc(name, bad):
		return fmt.Errorf("%q cannot be the name of a header", name)
	case strings.ContainsFunc(value, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }):
		return fmt.Errorf("%s: the value holds a control character", name)
	}
	return nil
}
