package main

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

// feed writes text in pieces of n bytes, 0 for all at once.
func feed(t *testing.T, limit int, text string, n int) (*capture, string) {
	t.Helper()
	var out bytes.Buffer
	c := newCapture(&out, limit)
	if n == 0 {
		n = max(len(text), 1)
	}
	for rest := []byte(text); len(rest) > 0; rest = rest[min(n, len(rest)):] {
		if k, err := c.Write(rest[:min(n, len(rest))]); err != nil || k != min(n, len(rest)) {
			t.Fatalf("write: %d, %v", k, err)
		}
	}
	c.finish()
	return c, out.String()
}

func TestCapture(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", maxLine)
	tests := map[string]struct {
		limit    int
		in, want string
		dropped  int64
		last     string
	}{
		"nothing":            {64, "", "", 0, ""},
		"one line":           {64, "hello\n", "hello\n", 0, "hello"},
		"no newline":         {64, "hello", "hello\n", 0, "hello"},
		"blank lines":        {64, "a\n\n b \n\n\n", "a\n\n b \n\n\n", 0, " b "},
		"carriage returns":   {64, "a\r\nb\r\n", "a\nb\n", 0, "b"},
		"invalid UTF-8":      {64, "a\xff\xfeb\n\xe4\xb8\n", "a\uFFFDb\n\uFFFD\n", 0, "\uFFFD"},
		"fits in two halves": {16, "1234\n67\nabcd\n12\n", "1234\n67\nabcd\n12\n", 0, "12"},
		"dropped":            {16, "12\n45\n789\nbcd\nfgh\njkl\nno\n", "12\n45\n… 12 bytes dropped …\njkl\nno\n", 12, "no"},
		"endless line":       {16, strings.Repeat("x", 100), "… 92 bytes dropped …\nxxxxxxxx\n", 92, "xxxxxxxx"},
		"long line":          {4 * maxLine, long + "123\nb\n", long + " … 3 bytes of this line dropped …\nb\n", 3, "b"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, n := range []int{0, 1, 7} {
				c, got := feed(t, tt.limit, tt.in, n)
				if got != tt.want || c.dropped() != tt.dropped || c.total != int64(len(tt.in)) || c.last != tt.last {
					t.Errorf("pieces of %d: %q, dropped %d of %d, last %q; want %q, %d, %q",
						n, got, c.dropped(), c.total, c.last, tt.want, tt.dropped, tt.last)
				}
			}
		})
	}
}

// For any input and limit: all is kept or the note tells exactly what is not.
func TestCaptureAccountsForEveryByte(t *testing.T) {
	t.Parallel()
	rnd := rand.New(rand.NewPCG(1, 2))
	for round := range 3000 {
		var text strings.Builder
		for range rnd.IntN(60) {
			text.WriteString(strings.Repeat(string(rune('a'+rnd.IntN(26))), rnd.IntN(12)) + "\n")
		}
		limit := 8 + rnd.IntN(120)
		c, got := feed(t, limit, text.String(), 1+rnd.IntN(40))
		if c.dropped() == 0 {
			if got != text.String() {
				t.Fatalf("round %d, limit %d: %q became %q", round, limit, text.String(), got)
			}
			continue
		}
		note := fmt.Sprintf("… %d bytes dropped …\n", c.dropped())
		head, tail, found := strings.Cut(got, note)
		if !found || !strings.HasPrefix(text.String(), head) || !strings.HasSuffix(text.String(), tail) ||
			len(head)+len(tail)+int(c.dropped()) != text.Len() || len(head) > limit/2 || len(tail) > limit/2 {
			t.Fatalf("round %d, limit %d: %q became %q", round, limit, text.String(), got)
		}
	}
}

// The same with lines that are cut: what is kept and what the notes tell are
// all that was written.
func TestNotesAddUp(t *testing.T) {
	t.Parallel()
	notes := regexp.MustCompile(`(?m) … (\d+) bytes of this line dropped …$|^… (\d+) bytes dropped …\n`)
	rnd := rand.New(rand.NewPCG(3, 4))
	withCut, withGap := 0, 0
	for round := range 300 {
		limit := maxLine * (1 + rnd.IntN(8))
		var text strings.Builder
		for range rnd.IntN(12) {
			text.WriteString(strings.Repeat("x", rnd.IntN(2*maxLine)) + "\n")
			if rnd.IntN(4) == 0 { // up to the edge of the head
				text.WriteString(strings.Repeat("y", max(limit/2-text.Len()+rnd.IntN(3)-2, 0)) + "\n")
			}
		}
		c, got := feed(t, limit, text.String(), 1+rnd.IntN(maxLine))
		told := int64(0)
		for _, note := range notes.FindAllStringSubmatch(got, -1) {
			n, err := strconv.ParseInt(note[1]+note[2], 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			told += n
			if note[1] != "" {
				withCut++
			} else {
				withGap++
			}
		}
		if kept := len(notes.ReplaceAllString(got, "")); kept+int(told) != text.Len() || c.dropped() != told || kept > limit+1 {
			t.Fatalf("round %d, limit %d: %d bytes kept, notes of %d, counted %d of %d", round, limit, kept, told, c.dropped(), text.Len())
		}
	}
	if withCut == 0 || withGap == 0 {
		t.Errorf("%d lines were cut, %d gaps: the test saw too little", withCut, withGap)
	}
}

func TestCaptureStreamsTheHead(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	c := newCapture(&out, 64)
	for _, piece := range []string{"first\nsec", "ond", "\n"} {
		if _, err := c.Write([]byte(piece)); err != nil {
			t.Fatal(err)
		}
	}
	if out.String() != "first\nsecond\n" {
		t.Errorf("before the end: %q", out.String())
	}
}

func FuzzCapture(f *testing.F) {
	f.Add([]byte("a\nb\n"), uint16(64), uint8(1))
	f.Add([]byte("\xff\n\x00\r\n日本"), uint16(8), uint8(3))
	f.Fuzz(func(t *testing.T, text []byte, limit uint16, n uint8) {
		size := max(int(limit), 8)
		c, got := feed(t, size, string(text), int(n))
		if !utf8.ValidString(got) {
			t.Fatalf("not UTF-8: %q", got)
		}
		const note = 64 // bytes of the note
		if len(got) > 3*size+note || c.total != int64(len(text)) || c.dropped() > c.total {
			t.Fatalf("%d bytes from %d, dropped %d, limit %d", len(got), len(text), c.dropped(), size)
		}
	})
}

// A gigabyte of output through a real pipe costs no memory.
func TestGigabyteKeepsMemoryFlat(t *testing.T) {
	b := newBench(t, `{"shell": "yes 0123456789abcdef | head -c 1073741824; echo; echo the end"}`)
	stop := make(chan struct{})
	highest := make(chan uint64)
	go func() {
		var peak uint64
		for tick := time.Tick(20 * time.Millisecond); ; {
			select {
			case <-tick:
				var m runtime.MemStats
				runtime.ReadMemStats(&m)
				peak = max(peak, m.HeapInuse)
			case <-stop:
				highest <- peak
				return
			}
		}
	}()
	result := b.must(t)
	close(stop)
	if peak := <-highest; peak > 32<<20 {
		t.Errorf("heap grew to %d MiB", peak>>20)
	}
	if result.Message != "the end" || result.Data["output_bytes"] != int64(1<<30+len("\nthe end\n")) {
		t.Errorf("result %+v", result)
	}
	if size := len(b.out.String()); size < 1<<19 || size > 1<<20+100 {
		t.Errorf("kept %d bytes", size)
	}
}

func TestBinaryOutputBecomesText(t *testing.T) {
	t.Parallel()
	b := newBench(t, `{"shell": "head -c 300000 /dev/urandom"}`)
	result := b.must(t)
	if !utf8.ValidString(b.out.String()) || !utf8.ValidString(result.Message) {
		t.Error("output or message is not UTF-8")
	}
	if result.Data["output_bytes"] != int64(300000) {
		t.Errorf("data %v", result.Data)
	}
}

func TestBothStreamsKeepTheirOrder(t *testing.T) {
	t.Parallel()
	b := newBench(t, `{"shell": "i=0; while [ $i -lt 300 ]; do echo out $i; echo err $i >&2; i=$((i+1)); done"}`)
	b.must(t)
	var want strings.Builder
	for i := range 300 {
		fmt.Fprintf(&want, "out %d\nerr %d\n", i, i)
	}
	if got := b.out.String(); got != want.String() {
		t.Errorf("output %q", got)
	}
}
