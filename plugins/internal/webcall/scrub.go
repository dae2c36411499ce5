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
type Scrubber struct{ replacer *strings.Replacer }

// NewScrubber makes a scrubber for secrets. Long ones go first, so that none
// survives as the rest of another.
func NewScrubber(secrets ...string) Scrubber {
	var pairs []string
	longestFirst := func(a, b string) int { return cmp.Compare(len(b), len(a)) }
	for _, secret := range slices.SortedFunc(slices.Values(secrets), longestFirst) {
		if len(secret) >= minSecret {
			pairs = append(pairs, secret, hidden)
		}
	}
	return Scrubber{strings.NewReplacer(pairs...)}
}

// Scrub returns text without the secrets.
func (s Scrubber) Scrub(text string) string { return s.replacer.Replace(text) }

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
