package redact

import (
	"strings"
	"testing"
)

func TestRedactor(t *testing.T) {
	t.Parallel()
	var r Redactor
	if got := r.String("s3cret"); got != "s3cret" {
		t.Errorf("without secrets: %q", got)
	}
	r.Set([]string{"s3cret", "s3cret-and-more", "ab", "quo\"te\n"})
	for text, want := range map[string]string{
		"token=s3cret.":             "token=[secret].",
		"s3cret-and-more s3cret":    "[secret] [secret]",
		`{"p":"quo\"te\n"}`:         `{"p":"[secret]"}`,
		"ab is too short to hide":   "ab is too short to hide",
		"the line quo\"te is found": "the line [secret] is found",
	} {
		if got := r.String(text); got != want {
			t.Errorf("%q became %q, want %q", text, got, want)
		}
	}
	r.Set([]string{"-- key --\nMIIEvQIBADANBg\r\n  kqhkiG9w0BAQEF\n"})
	for _, text := range []string{"out: MIIEvQIBADANBg", "kqhkiG9w0BAQEF", "  | kqhkiG9w0BAQEF"} {
		if got := r.String(text); strings.Contains(got, "kqh") || strings.Contains(got, "MII") {
			t.Errorf("a line of a secret of several shows: %q", got)
		}
	}
	if got := r.String("-- key --"); got != "-- key --" {
		t.Errorf("a short line of a secret became %q", got)
	}
	r.Set([]string{"other"})
	var b strings.Builder
	if n, err := r.Writer(&b).Write([]byte("s3cret other")); n != 12 || err != nil {
		t.Errorf("Write: %d, %v", n, err)
	}
	if b.String() != "[secret] [secret]" {
		t.Errorf("an old secret shows after a change: %q", b.String())
	}
}
