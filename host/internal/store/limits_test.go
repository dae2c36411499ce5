package store_test

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/axsched/ax/host/internal/store"
)

func TestCut(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		in    string
		limit int
		want  string
	}{
		"empty":        {"", 30, ""},
		"short":        {"abc", 30, "abc"},
		"exact":        {strings.Repeat("a", 30), 30, strings.Repeat("a", 30)},
		"one too long": {strings.Repeat("a", 31), 30, strings.Repeat("a", 12) + "… [19 bytes cut]"},
		"CJK":          {strings.Repeat("漢", 20), 40, strings.Repeat("漢", 7) + "… [39 bytes cut]"},
		"emoji":        {strings.Repeat("🙂", 20), 40, strings.Repeat("🙂", 5) + "… [60 bytes cut]"},
		"not UTF-8":    {"a\xff\xfeb", 30, "a\uFFFDb"},
		"NUL":          {"a\x00b", 30, "a\uFFFDb"},
		"no room":      {strings.Repeat("x", 50), 5, "… [50 bytes cut]"},
	} {
		if got := store.Cut(c.in, c.limit); got != c.want {
			t.Errorf("%s: got %q (%d bytes), want %q", name, got, len(got), c.want)
		}
	}
}

func FuzzCut(f *testing.F) {
	f.Add("漢字かな交じり文", 25)
	f.Add("\xff\x00🙂", 24)
	f.Fuzz(func(t *testing.T, s string, limit int) {
		limit = 24 + max(limit, 0)%1000
		got := store.Cut(s, limit)
		if !utf8.ValidString(got) || strings.ContainsRune(got, 0) {
			t.Errorf("Cut(%q, %d) = %q", s, limit, got)
		}
		if len(s) < 1_000_000 && len(got) > limit+4 { // 24 leaves room for the mark of 9,999 bytes
			t.Errorf("Cut(%q, %d) has %d bytes", s, limit, len(got))
		}
	})
}

func TestCutJSON(t *testing.T) {
	t.Parallel()
	long, err := json.Marshal(strings.Repeat("漢\"\\", 1000))
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		in    string
		limit int
		want  string // empty: only checked to be JSON within the limit
	}{
		"nothing":          {"", 100, ""},
		"as it is":         {`{"a": "<&>"}`, 100, `{"a": "<&>"}`},
		"not JSON":         {"it's 漢", 100, `"it's 漢"`},
		"not JSON or UTF":  {"a\xff\x00", 100, "\"a\uFFFD\uFFFD\""},
		"inside a string":  {"\"a\xff\"", 100, "\"a\uFFFD\""},
		"too long":         {string(long), 1000, ""},
		"control bytes":    {strings.Repeat("\x01", 500), 400, ""},
		"long, not JSON":   {strings.Repeat("漢", 500), 400, ""},
		"nearly too long":  {"x" + strings.Repeat("\"", 90), 100, ""},
		"long valid array": {"[" + strings.Repeat("1,", 500) + "1]", 300, ""},
	} {
		got := string(store.CutJSON(json.RawMessage(c.in), c.limit))
		if c.want != "" && got != c.want {
			t.Errorf("%s: got %s, want %s", name, got, c.want)
		}
		if len(got) > c.limit || (c.in != "" && !json.Valid([]byte(got))) {
			t.Errorf("%s: %d bytes, limit %d: %s", name, len(got), c.limit, got)
		}
	}
}
