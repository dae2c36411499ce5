package webcall

import (
	"cmp"
	"encoding/base64"
	"net/url"
	"slices"
	"strings"
)

// hidden stands where a secret was.
const hidden = "[hidden]"

// minSecret is the length from which on a text is worth hiding; shorter ones
// would only riddle what people have to read.
const minSecret = 6

// Scrubber hides secrets in text that came from elsewhere: servers like to
// quote what they were sent.
type Scrubber struct {
	secrets  []string // those that are worth hiding, the longest first
	replacer *strings.Replacer
}

// NewScrubber makes a scrubber for secrets. Long ones go first, so that none
// survives as the rest of another.
func NewScrubber(secrets ...string) Scrubber {
	var s Scrubber
	var pairs []string
	longestFirst := func(a, b string) int { return cmp.Compare(len(b), len(a)) }
	for _, secret := range slices.SortedFunc(slices.Values(secrets), longestFirst) {
		if len(secret) >= minSecret {
			s.secrets = append(s.secrets, secret)
			pairs = append(pairs, secret, hidden)
		}
	}
	s.replacer = strings.NewReplacer(pairs...)
	return s
}

// Scrub returns text without the secrets.
func (s Scrubber) Scrub(text string) string { return s.replacer.Replace(text) }

// ScrubHead is Scrub for the beginning of a longer text, which may end within a
// secret.
func (s Scrubber) ScrubHead(text string) string {
	tail := strings.TrimRight(text, "\uFFFD") // half a character
	begun := 0
	for _, secret := range s.secrets {
		n := len(secret) - 1
		for n > begun && !strings.HasSuffix(tail, secret[:n]) {
			n--
		}
		begun = max(begun, n)
	}
	if begun < minSecret {
		return s.Scrub(text)
	}
	return s.Scrub(tail[:len(tail)-begun]) + hidden
}

// Error returns err with a text without the secrets. What it wraps stays, for
// decisions only.
func (s Scrubber) Error(err error) error {
	if text := s.Scrub(err.Error()); text != err.Error() {
		return &scrubbedError{text, err}
	}
	return err
}

// scrubbedError is an error in other words.
type scrubbedError struct {
	text string
	err  error
}

// Error returns the words without secrets.
func (e *scrubbedError) Error() string { return e.text }

// Unwrap returns the error with its own words, which are not to be shown.
func (e *scrubbedError) Unwrap() error { return e.err }

// BasicSecrets returns the forms in which the password of HTTP basic
// authentication may come back: plain, and as the header has it.
func BasicSecrets(user, password string) []string {
	return []string{password, base64.StdEncoding.EncodeToString([]byte(user + ":" + password))}
}

// CredentialsIn returns the parts of a URL that are secrets wherever they
// stand: the password, see [BasicSecrets], and the values of the query.
func CredentialsIn(u *url.URL) []string {
	secrets := []string{u.RawQuery}
	if password, ok := u.User.Password(); ok {
		secrets = append(secrets, BasicSecrets(u.User.Username(), password)...)
	}
	for _, values := range u.Query() {
		for _, value := range values {
			secrets = append(secrets, value, url.QueryEscape(value))
		}
	}
	return secrets
}

// SegmentsOf returns the path of u and its segments, for URLs whose path is
// itself the secret.
func SegmentsOf(u *url.URL) []string {
	return append(strings.Split(u.Path, "/"), u.Path, u.EscapedPath())
}
