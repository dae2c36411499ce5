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

// pace lets through no more than rate bytes a second on average, after a burst
// of one second's worth. A plugin that writes faster has to wait, so that it
// cannot take the machine from the others by flooding its output.
type pace struct {
	rate   float64
	tokens float64
	at     time.Time
}

func newPace(rate int) *pace {
	return &pace{rate: float64(rate), tokens: float64(rate), at: time.Now()}
}

// spend counts n bytes and waits until they are within the rate.
func (p *pace) spend(n int) {
	now := time.Now()
	p.tokens = min(p.rate, p.tokens+now.Sub(p.at).Seconds()*p.rate) - float64(n)
	p.at = now
	if p.tokens < 0 {
		time.Sleep(time.Duration(-p.tokens / p.rate * float64(time.Second)))
	}
}

// pacedReader is a reader at a pace.
type pacedReader struct {
	io.Reader
	pace *pace
}

func (r pacedReader) Read(b []byte) (int, error) {
	n, err := r.Reader.Read(b)
	r.pace.spend(n)
	return n, err
}

// logBudget decides which lines are logged: perSec bytes on average, after a
// burst of burstSeconds times as many, so that a plugin cannot fill the disk.
type logBudget struct {
	perSec  float64
	tokens  float64
	at      time.Time
	dropped int
}

const (
	// lineCost is what a line costs besides its length.
	lineCost     = 200
	burstSeconds = 2
)

func newLogBudget(perSec int) logBudget {
	return logBudget{perSec: float64(perSec), tokens: burstSeconds * float64(perSec)}
}

// take reports whether a line of this length may be logged now, and how many
// were dropped before it.
func (b *logBudget) take(now time.Time, length int) (ok bool, dropped int) {
	if !b.at.IsZero() {
		b.tokens = min(burstSeconds*b.perSec, b.tokens+now.Sub(b.at).Seconds()*b.perSec)
	}
	b.at = now
	if b.tokens < 0 {
		b.dropped++
		return false, 0
	}
	b.tokens -= float64(length + lineCost)
	dropped, b.dropped = b.dropped, 0
	return true, dropped
}

// lineWriter cuts what is written to it into lines of at most maxLine bytes, at
// a pace. It is not safe for concurrent use.
type lineWriter struct {
	fn   func(line []byte, cut bool)
	pace *pace
	line []byte
}

func (w *lineWriter) Write(p []byte) (int, error) {
	n := len(p)
	w.pace.spend(n)
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
