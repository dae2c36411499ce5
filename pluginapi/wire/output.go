package wire

import (
	"bytes"
	"fmt"
	"sync"
	"sync/atomic"
	"unicode/utf8"
)

// maxLine is how much of a line is kept.
const maxLine = 256 << 10

// cutLine shortens a line to maxLine bytes and says so.
func cutLine(text string, more int) string {
	if more == 0 && len(text) <= maxLine {
		return text
	}
	end := min(maxLine, len(text))
	for range utf8.UTFMax - 1 { // not in the middle of a character
		if r, size := utf8.DecodeLastRuneInString(text[:end]); r != utf8.RuneError || size != 1 {
			break
		}
		end--
	}
	return fmt.Sprintf("%s … [%d bytes cut off]", text[:end], len(text)-end+more)
}

// lineWriter splits raw output into lines. It implements
// pluginapi.OutputWriter.
type lineWriter struct {
	emit   func(text string) // may wait for the host
	closed atomic.Bool

	mu   sync.Mutex
	part []byte // of the line that has not ended, at most maxLine bytes
	over int    // bytes of it beyond that
}

// Write takes output. It never fails, but may wait for the host; what comes
// after Close vanishes.
func (w *lineWriter) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for rest := p; len(rest) > 0 && !w.closed.Load(); {
		head, tail, ended := bytes.Cut(rest, []byte{'\n'})
		room := min(maxLine-len(w.part), len(head))
		w.part = append(w.part, head[:room]...)
		w.over += len(head) - room
		if ended {
			w.flush()
		}
		rest = tail
	}
	return len(p), nil
}

// Close emits a last line that has no line feed. A Write in progress, of a
// goroutine that the job left behind, ends early.
func (w *lineWriter) Close() {
	w.closed.Store(true)
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.part)+w.over > 0 {
		w.flush()
	}
}

func (w *lineWriter) flush() {
	w.emit(cutLine(string(bytes.TrimSuffix(w.part, []byte{'\r'})), w.over))
	w.part, w.over = w.part[:0], 0
}
