package alert

import (
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

func TestDigest(t *testing.T) {
	t.Parallel()
	frames := make([]string, 100)
	for i := range frames {
		frames[i] = fmt.Sprintf("\tmain.f%d()", i)
	}
	stack := "panic: boom\n" + strings.Join(frames, "\n") + "\nexit status 2\n"
	tests := []struct{ name, text, want string }{
		{"empty", "", ""},
		{"one line", "  no such file\r\n", "no such file"},
		{"colors", "\x1b[31mred\x1b[0m\x00", "[31mred[0m"},
		{"no UTF-8", "a\xffb", "a\uFFFDb"},
		{"stack", stack, "panic: boom\n" + strings.Join(frames[:9], "\n") + "\n… 89 lines left out …\n" + strings.Join(frames[98:], "\n") + "\nexit status 2"},
		{"just short enough", strings.Repeat("x\n", 14), strings.TrimSpace(strings.Repeat("x\n", 14))},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			if got := digest(test.text); got != test.want {
				t.Errorf("got  %q\nwant %q", got, test.want)
			}
		})
	}
}

func TestDigestIsBounded(t *testing.T) {
	t.Parallel()
	for _, unit := range []string{"x", "错", "🦀", "错\n", "x\n", strings.Repeat("错", 300) + "\n", "\xff"} {
		for extra := range 5 { // every position of the border within a rune
			got := digest(strings.Repeat("a", extra) + strings.Repeat(unit, 100_000/len(unit)))
			if len(got) > maxDigest+100 || !utf8.ValidString(got) {
				t.Errorf("%d times %q: %d bytes, valid %v", 100_000/len(unit), unit[:1], len(got), utf8.ValidString(got))
			}
			if !strings.Contains(got, "…") {
				t.Errorf("%q: nothing tells that it was cut", unit)
			}
		}
	}
}

func FuzzDigest(f *testing.F) {
	f.Add("panic: x\n\ngoroutine 1 [running]:\n")
	f.Fuzz(func(t *testing.T, text string) {
		got := digest(text)
		if len(got) > maxDigest+100 || !utf8.ValidString(got) || strings.ContainsRune(got, 0) {
			t.Errorf("%q", got)
		}
	})
}

func TestShort(t *testing.T) {
	t.Parallel()
	for d, want := range map[time.Duration]string{
		0: "0s", 10 * time.Second: "10s", 70 * time.Second: "1m10s", 37 * time.Minute: "37m",
		time.Hour: "1h", 10 * time.Hour: "10h", 90 * time.Minute: "1h30m", time.Hour + 400*time.Millisecond: "1h",
	} {
		if got := short(d); got != want {
			t.Errorf("%v: %q, want %q", d, got, want)
		}
	}
}
