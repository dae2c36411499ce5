package pluginhost

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"
)

const (
	tailLines    = 20   // of output, kept for error reports
	tailLineSize = 1000 // bytes kept of each
	maxLogFields = 50   // of a structured line
)

// output takes what a plugin process writes: its stderr, and what comes on its
// stdout besides the handshake. It logs lines within a budget, keeps the last
// ones for error reports, and gathers the text of a panic into one record.
type output struct {
	panicSize int

	mu        sync.Mutex
	log       hclog.Logger
	budget    logBudget
	tail      []string
	inPanic   bool
	panicText []byte
}

func newOutput(log hclog.Logger, l limits) *output {
	return &output{log: log, panicSize: l.panicTextSize, budget: newLogBudget(l.logPerSec)}
}

// identify adds the process to the records that follow.
func (o *output) identify(pid int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.log = o.log.With("pid", pid)
}

// stderrLine takes a line of the plugin's stderr, to which package serve sends also
// what the author prints to stdout: which of the two it was is not known.
func (o *output) stderrLine(line []byte, cut bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	entry, structured := parseLogLine(line)
	if structured {
		o.inPanic = false
	} else if o.inPanic = o.inPanic || startsPanic(line); o.inPanic {
		if len(o.panicText)+len(line) < o.panicSize {
			o.panicText = append(append(o.panicText, line...), '\n')
		}
		o.remember(line)
		return
	}
	o.remember(line)
	if !o.allowed(line) {
		return
	}
	if !structured {
		o.write("output", line, cut)
		return
	}
	o.log.Log(entry.level, entry.message, entry.fields...)
}

// strayLine takes a line of stdout that is not the handshake.
func (o *output) strayLine(line []byte, cut bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(bytes.TrimSpace(line)) == 0 {
		return
	}
	o.remember(line)
	if o.allowed(line) {
		o.write("stray output", line, cut)
	}
}

// write logs a raw line.
func (o *output) write(what string, line []byte, cut bool) {
	fields := []any{"text", bounded(printable(line), maxStack)}
	if cut {
		fields = append(fields, "longer_than", maxLine)
	}
	o.log.Info(what, fields...)
}

// allowed takes a line from the budget and tells of lines dropped before.
func (o *output) allowed(line []byte) bool {
	ok, dropped := o.budget.take(time.Now(), len(line))
	if dropped > 0 {
		o.log.Warn("lines of output were not logged, too many of them", "lines", dropped)
	}
	return ok
}

func (o *output) remember(line []byte) {
	if len(line) > tailLineSize {
		line = line[:tailLineSize]
	}
	if len(o.tail) == tailLines {
		o.tail = o.tail[1:]
	}
	o.tail = append(o.tail, printable(line))
}

// close is called once the process has ended and all its output was taken.
func (o *output) close() {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.budget.dropped > 0 {
		o.log.Warn("lines of output were not logged, too many of them", "lines", o.budget.dropped)
	}
	if len(o.panicText) > 0 {
		o.log.Error("the plugin panicked", "text", string(bytes.ToValidUTF8(o.panicText, []byte("?"))))
	}
}

// report returns the text of the panic or else the last lines, for an error
// message; it may be empty.
func (o *output) report() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.panicText) > 0 {
		return bounded(string(bytes.ToValidUTF8(bytes.TrimSpace(o.panicText), []byte("?"))), maxStack)
	}
	return bounded(strings.Join(o.tail, "\n"), maxStack)
}

// startsPanic reports whether a line is the first one that the Go runtime
// writes before it ends the process.
func startsPanic(line []byte) bool {
	return bytes.HasPrefix(line, []byte("panic: ")) || bytes.HasPrefix(line, []byte("fatal error: "))
}

// logLine is a line in the JSON form of hclog.
type logLine struct {
	level   hclog.Level
	message string
	fields  []any // keys and values
}

// parseLogLine reads a line in the JSON form of hclog. Everything in it comes
// from the plugin and may be of any type: what does not fit is kept as a field.
func parseLogLine(line []byte) (logLine, bool) {
	line = bytes.TrimSpace(line)
	if len(line) == 0 || line[0] != '{' {
		return logLine{}, false
	}
	var all map[string]any
	if json.Unmarshal(line, &all) != nil {
		return logLine{}, false
	}
	message, isText := all["@message"].(string)
	level, hasLevel := all["@level"].(string)
	if !isText || !hasLevel {
		return logLine{}, false
	}
	entry := logLine{level: hclog.LevelFromString(level), message: bounded(printable([]byte(message)), maxStack)}
	if entry.level == hclog.NoLevel || entry.level >= hclog.Off {
		entry.level = hclog.Info
	}
	for _, key := range slices.Sorted(maps.Keys(all)) {
		if key == "@message" || key == "@level" || key == "@timestamp" || len(entry.fields) >= 2*maxLogFields {
			continue
		}
		entry.fields = append(entry.fields, printable([]byte(strings.TrimPrefix(key, "@"))), fieldValue(all[key]))
	}
	return entry, true
}

// fieldValue keeps plain values and writes the others as JSON.
func fieldValue(v any) any {
	switch v := v.(type) {
	case string:
		return bounded(v, maxText)
	case float64, bool:
		return v
	case nil:
		return "null"
	}
	text, err := json.Marshal(v)
	if err != nil { // not possible: it was read from JSON
		return fmt.Sprint(v)
	}
	return bounded(string(text), maxText)
}

// printable makes text from a plugin safe for a line of a log: no line ends,
// no escape sequences for the terminal, only UTF-8.
func printable(text []byte) string {
	return strings.Map(func(r rune) rune {
		if (r < ' ' && r != '\t') || r == 0x7f {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(string(text), "\uFFFD"))
}
