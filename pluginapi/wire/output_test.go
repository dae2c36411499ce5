package wire

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestLineWriter(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		writes []string
		want   []string
	}{
		"nothing":            {nil, nil},
		"lines":              {[]string{"a\nb\n"}, []string{"a", "b"}},
		"line in parts":      {[]string{"he", "l", "lo\nwor", "ld\n"}, []string{"hello", "world"}},
		"last without end":   {[]string{"a\nrest"}, []string{"a", "rest"}},
		"empty lines":        {[]string{"\n\na\n"}, []string{"", "", "a"}},
		"carriage returns":   {[]string{"a\r\nb\r", "\nc\rd\n"}, []string{"a", "b", "c\rd"}},
		"several at a time":  {[]string{"1\n2\n3\n4"}, []string{"1", "2", "3", "4"}},
		"rune in two writes": {[]string{"\xe6\x97", "\xa5\n"}, []string{"日"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var got []string
			w := &lineWriter{emit: func(text string) { got = append(got, text) }}
			for _, s := range test.writes {
				if n, err := w.Write([]byte(s)); n != len(s) || err != nil {
					t.Errorf("Write(%q) = %d, %v", s, n, err)
				}
			}
			w.Close()
			if !slices.Equal(got, test.want) {
				t.Errorf("lines %q, want %q", got, test.want)
			}
		})
	}
}

func TestLongLinesAreCut(t *testing.T) {
	t.Parallel()
	var got []string
	w := &lineWriter{emit: func(text string) { got = append(got, text) }}
	chunk := bytes.Repeat([]byte("日"), 1000)
	written := 0
	for range 400 { // 1.2 MB without a line feed
		n, _ := w.Write(chunk)
		written += n
		if len(w.part) > maxLine {
			t.Fatalf("%d bytes are kept", len(w.part))
		}
	}
	_, _ = w.Write([]byte("\nnext\n"))
	if len(got) != 2 || got[1] != "next" {
		t.Fatalf("%d lines", len(got))
	}
	text, mark, _ := strings.Cut(got[0], " … ")
	if !utf8.ValidString(text) || len(text) > maxLine || len(text) < maxLine-utf8.UTFMax {
		t.Errorf("%d bytes are kept, valid: %t", len(text), utf8.ValidString(text))
	}
	if want := fmt.Sprintf("[%d bytes cut off]", written-len(text)); mark != want {
		t.Errorf("mark %q, want %q", mark, want)
	}
}
