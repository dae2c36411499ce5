package pluginhost

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"time"
)

// maxLine is the longest line kept of a plugin's output; more of it is cut.
const maxLine = 256 << 10

// readLines calls fn for each line of r until r ends. The line has no line end
// and is valid only during the call; cut tells that more of it was dropped.
// Whatever r brings, the memory used stays within maxLine.
func readLines(r io.Reader, fn func(line []byte, cut bool)) {
	in := bufio.NewReaderSize(r, 32<<10)
	var line []byte
	var cut, begun bool
	for {
		part, err := in.ReadSlice('\n')
		begun = begun || len(part) > 0
		full := err == nil
		if full {
			part = part[:len(part)-1]
		}
		room := maxLine - len(line)
		cut = cut || len(part) > room
		line = append(line, part[:min(len(part), room)]...)
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			if begun {
				fn(line, cut)
			}
			return
		}
		if full {
			fn(line, cut)
			line, cut, begun = line[:0], false, false
		}
	}
}

// throttledReader reads no more than rate bytes a second on average, after a
// burst of one second's worth. A plugin that writes faster has to wait, so that
// it cannot take the machine from the others by flooding its stderr.
type throttledReader struct {
	r      io.Reader
	rate   int
	tokens float64
	at     time.Time
}

func throttle(r io.Reader, rate int) io.Reader {
	return &throttledReader{r: r, rate: rate, tokens: float64(rate), at: time.Now()}
}

func (t *throttledReader) Read(p []byte) (int, error) {
	now := time.Now()
	rate := float64(t.rate)
	t.tokens = min(rate, t.tokens+now.Sub(t.at).Seconds()*rate)
	t.at = now
	if t.tokens < 0 {
		time.Sleep(time.Duration(-t.tokens / rate * float64(time.Second)))
	}
	n, err := t.r.Read(p)
	t.tokens -= float64(n)
	return n, err
}

// lineBudget decides which lines are logged: perSec on average after a burst
// of four times as many.
type lineBudget struct {
	perSec  float64
	tokens  float64
	at      time.Time
	dropped int
}

func newLineBudget(perSec int) lineBudget {
	return lineBudget{perSec: float64(perSec), tokens: 4 * float64(perSec)}
}

// take reports whether a line may be logged now, and how many were dropped
// before it.
func (b *lineBudget) take(now time.Time) (ok bool, dropped int) {
	if !b.at.IsZero() {
		b.tokens = min(4*b.perSec, b.tokens+now.Sub(b.at).Seconds()*b.perSec)
	}
	b.at = now
	if b.tokens < 1 {
		b.dropped++
		return false, 0
	}
	b.tokens--
	dropped, b.dropped = b.dropped, 0
	return true, dropped
}

// lineWriter cuts what is written to it into lines of at most maxLine bytes.
// It is not safe for concurrent use.
type lineWriter struct {
	fn   func(line []byte, cut bool)
	line []byte
}

func (w *lineWriter) Write(p []byte) (int, error) {
	n := len(p)
	for len(p) > 0 {
		part, rest, full := bytes.Cut(p, []byte{'\n'})
		w.line = append(w.line, part[:min(len(part), maxLine-len(w.line))]...)
		if full {
			w.fn(w.line, len(w.line) == maxLine)
			w.line = w.line[:0]
		}
		p = rest
	}
	return n, nil
}
