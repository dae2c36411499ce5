package main

import (
	"bytes"
	"fmt"
	"io"
	"strings"
)

// maxLine is where long lines are cut, in bytes.
const maxLine = 16 << 10

// capture takes the raw output of a command. It passes the first half of the
// limit on as it comes, in whole lines, and holds back the newest half, which
// finish passes on after a note of how many bytes are missing between the two.
// It never keeps more than the limit, whatever it is given. Every byte is passed
// on or counted in exactly one note. Bytes are the command's: a carriage return
// at the end of a line and what is no UTF-8 count as passed on.
type capture struct {
	out  io.Writer
	half int

	line     []byte // unfinished line, only until the head is full
	lineOver int64  // bytes of that line beyond maxLine
	head     int    // bytes passed on
	tail     []byte // newest bytes once the head is full: at least half, if there are so many
	headFull bool

	total int64
	gap   int64 // bytes missing between head and tail
	cut   int64 // bytes cut off lines that were passed on
	// last and previous are the newest lines with something in them.
	last, previous string
	// batch gathers lines for out, which takes many at once cheaper.
	batch bytes.Buffer
}

func newCapture(out io.Writer, limit int) *capture {
	return &capture{out: out, half: limit / 2}
}

// dropped is how many bytes are not passed on.
func (c *capture) dropped() int64 { return c.gap + c.cut }

// Write implements io.Writer. It never fails, but takes as long as out does.
func (c *capture) Write(p []byte) (int, error) {
	n := len(p)
	c.total += int64(n)
	for len(p) > 0 && !c.headFull {
		p = c.writeHead(p)
	}
	c.writeTail(p)
	c.flush()
	return n, nil
}

// writeHead takes p up to the end of its first line and returns the rest. A
// line that does not fit goes to the tail, with what follows.
func (c *capture) writeHead(p []byte) []byte {
	part, rest, ended := bytes.Cut(p, []byte{'\n'})
	if min(len(c.line)+len(part), maxLine) > c.half-c.head {
		c.closeHead()
		return p
	}
	keep := part[:min(len(part), maxLine-len(c.line))]
	c.line = append(c.line, keep...)
	c.lineOver += int64(len(part) - len(keep))
	if ended {
		c.endLine()
	}
	return rest
}

// endLine passes the finished line on, or opens the tail with it. One that was
// cut cannot go there, and is passed on even if only its line end is too much.
func (c *capture) endLine() {
	if c.head+len(c.line) == c.half && c.lineOver == 0 {
		c.closeHead()
		c.writeTail([]byte{'\n'})
		return
	}
	c.head += len(c.line) + 1
	c.emit(c.line, c.lineOver)
	c.line, c.lineOver = c.line[:0], 0
}

// closeHead makes the unfinished line, which has not been cut, the beginning of
// the tail.
func (c *capture) closeHead() {
	c.headFull = true
	c.writeTail(c.line)
	c.line = nil
}

// writeTail appends and lets go of what is older than the newest half. It
// moves bytes only once per half, so that a flood costs one copy.
func (c *capture) writeTail(p []byte) {
	for len(p) > 0 {
		if cap(c.tail) == 0 {
			c.tail = make([]byte, 0, 2*c.half)
		}
		if len(c.tail) == cap(c.tail) {
			c.gap += int64(len(c.tail) - c.half)
			c.tail = c.tail[:copy(c.tail, c.tail[len(c.tail)-c.half:])]
		}
		n := min(len(p), cap(c.tail)-len(c.tail))
		c.tail = append(c.tail, p[:n]...)
		p = p[n:]
	}
}

// finish passes the tail on. Nothing may be written after it.
func (c *capture) finish() {
	if len(c.line) > 0 {
		c.emit(c.line, c.lineOver)
	}
	if over := len(c.tail) - c.half; over > 0 {
		c.gap += int64(over)
		c.tail = c.tail[over:]
	}
	if c.gap > 0 && len(c.tail) > 0 {
		// The oldest line of the tail is most likely not whole.
		if i := bytes.IndexByte(c.tail, '\n'); i >= 0 && i < len(c.tail)-1 {
			c.gap += int64(i + 1)
			c.tail = c.tail[i+1:]
		}
		fmt.Fprintf(&c.batch, "… %d bytes dropped …\n", c.gap)
	}
	for line := range bytes.Lines(c.tail) {
		line = bytes.TrimSuffix(line, []byte{'\n'})
		keep := line[:min(len(line), maxLine)]
		c.emit(keep, int64(len(line)-len(keep)))
	}
	c.tail = nil
	c.flush()
}

// emit adds a line to the batch. over is how many of its bytes were cut off.
func (c *capture) emit(raw []byte, over int64) {
	line := strings.ToValidUTF8(strings.TrimSuffix(string(raw), "\r"), "\uFFFD")
	if strings.TrimSpace(line) != "" {
		c.previous, c.last = c.last, line
	}
	c.batch.WriteString(line)
	if over > 0 {
		c.cut += over
		fmt.Fprintf(&c.batch, " … %d bytes of this line dropped …", over)
	}
	c.batch.WriteByte('\n')
}

func (c *capture) flush() {
	if c.batch.Len() > 0 {
		_, _ = c.out.Write(c.batch.Bytes()) // an OutputWriter never fails
		c.batch.Reset()
	}
}
