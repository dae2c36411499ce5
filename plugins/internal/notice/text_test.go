package notice

import (
	"strings"
	"testing"
	"unicode/utf16"
	"unicode/utf8"
)

func TestCut(t *testing.T) {
	t.Parallel()
	tests := []struct {
		text  string
		limit int
		want  string
	}{
		{"日本語", 3, "日本語"},
		{"日本語日", 3, "日本…"},
		{"日本", 1, "…"},
		{"日本", 0, ""},
		{"", 0, ""},
	}
	for _, tt := range tests {
		if got := Cut(tt.text, tt.limit); got != tt.want {
			t.Errorf("Cut(%q, %d) = %q, want %q", tt.text, tt.limit, got, tt.want)
		}
	}
}

// What a rune takes may differ, and the mark takes something as well.
func TestFit(t *testing.T) {
	t.Parallel()
	tests := []struct {
		text  string
		limit int
		size  func(rune) int
		want  string
	}{
		{"a日b", 5, utf8.RuneLen, "a日b"},
		{"a日b", 4, utf8.RuneLen, "a…"},
		{"日本語", 8, utf8.RuneLen, "日…"},
		{"日本語", 3, utf8.RuneLen, "…"},
		{"日本語", 2, utf8.RuneLen, ""},
		{"🔥🔥", 4, utf16.RuneLen, "🔥🔥"},
		{"🔥🔥", 3, utf16.RuneLen, "🔥…"},
		{"🔥🔥", 2, utf16.RuneLen, "…"},
		{"\xff\xff\xff", 2, func(rune) int { return 1 }, "\xff…"},
	}
	for _, tt := range tests {
		if got := Fit(tt.text, tt.limit, tt.size); got != tt.want {
			t.Errorf("Fit(%q, %d) = %q, want %q", tt.text, tt.limit, got, tt.want)
		}
	}
	if got := CutBytes("日\xff本語", 9); got != "日\uFFFD…" {
		t.Errorf("CutBytes made %q", got)
	}
}

func TestFirstLine(t *testing.T) {
	t.Parallel()
	tests := map[string]string{"": "", " \n\r\n": "", "\n  a \r\nb": "a", "日本語日本": "日本語…"}
	for text, want := range tests {
		if got := FirstLine(text, 4); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func TestOneLine(t *testing.T) {
	t.Parallel()
	tests := map[string]string{
		"":                     "",
		" a\r\n\tb\x00\x1b c ": "a b c",
		"a\u2028b\u0085c":      "a b c",
		"\r\n":                 "",
	}
	for text, want := range tests {
		if got := OneLine(text, 100); got != want {
			t.Errorf("%q became %q, want %q", text, got, want)
		}
	}
	if got := OneLine(strings.Repeat("好", 300), 200); len([]rune(got)) != 200 {
		t.Errorf("%d runes", len([]rune(got)))
	}
}
