package holidays

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/emersion/go-ical"
)

// Limits on the lines that are read. The decoder's cost grows with the square
// of a line's length.
const (
	maxLineBytes = 4 << 10
	maxDepth     = 8
)

// bearing are the lines that bear on days. All others are passed over, so that
// whatever is odd about them does not matter.
var bearing = []string{
	"BEGIN", "END", ical.PropUID, ical.PropSummary, ical.PropDateTimeStart, ical.PropDateTimeEnd, ical.PropDuration,
	ical.PropRecurrenceRule, ical.PropRecurrenceDates, ical.PropExceptionDates, ical.PropRecurrenceID, propExceptionRule,
	ical.PropStatus, propSpecialDay,
}

// The decoder does not tell lines. So each line gets its number as a parameter,
// and each component a property of its own for the line on which it begins.
const (
	paramLine = "X-AX-LINE"
	propBegin = "X-AX-BEGIN"
)

// line is a line of content, with its folds undone.
type line struct {
	number int // of the first line in the file
	text   []byte
}

// unfold returns the lines of a file that bear on days, and checks that its
// components begin and end in pairs.
func unfold(data []byte) ([]line, error) {
	if bytes.HasPrefix(data, []byte("\xff\xfe")) || bytes.HasPrefix(data, []byte("\xfe\xff")) {
		return nil, errors.New("line 1: the file is UTF-16: save it as UTF-8")
	}
	var lines []line
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	for number := 1; len(data) > 0; number++ {
		text, rest, _ := bytes.Cut(data, []byte("\n"))
		data = rest
		text = bytes.TrimSuffix(text, []byte("\r"))
		switch {
		case len(text) == 0:
		case (text[0] == ' ' || text[0] == '\t') && len(lines) > 0:
			last := &lines[len(lines)-1]
			last.text = append(last.text, text[1:]...)
		default:
			lines = append(lines, line{number, slices.Clip(text)})
		}
	}
	kept := lines[:0]
	for _, l := range lines {
		name := l.name()
		if name == "BEGIN" || name == "END" {
			l.text = bytes.TrimRight(l.text, " \t")
		}
		if slices.Contains(bearing, name) {
			kept = append(kept, l)
		}
	}
	return kept, checkLines(kept)
}

// name returns the name of the property, in capitals.
func (l line) name() string {
	end := bytes.IndexAny(l.text, ";:")
	return strings.ToUpper(string(l.text[:max(end, 0)]))
}

func (l line) value() string {
	_, value, _ := bytes.Cut(l.text, []byte(":"))
	return strings.ToUpper(string(value))
}

func (l line) fault(format string, args ...any) error {
	return fmt.Errorf("line %d: %w", l.number, fmt.Errorf(format, args...))
}

func checkLines(lines []line) error {
	var open []line
	events := 0
	for _, l := range lines {
		switch name := l.name(); {
		case len(l.text) > maxLineBytes:
			return l.fault("%s has more than %d bytes", name, maxLineBytes)
		case !utf8.Valid(l.text):
			return l.fault("%s is not UTF-8: save the file as UTF-8", name)
		case len(open) == 0 && !strings.EqualFold(string(l.text), "BEGIN:VCALENDAR"):
			return l.fault("expected BEGIN:VCALENDAR, got %s", l.text[:min(len(l.text), 40)])
		case name == "BEGIN" && len(open) >= maxDepth:
			return l.fault("more than %d components within one another", maxDepth)
		case name == "BEGIN":
			if open = append(open, l); l.value() == ical.CompEvent {
				events++
			}
			if events > maxEvents {
				return l.fault("more than %d events", maxEvents)
			}
		case name == "END":
			begin := open[len(open)-1]
			if begin.value() != l.value() {
				return l.fault("END:%s, but what began last is the %s of line %d", l.value(), begin.value(), begin.number)
			}
			open = open[:len(open)-1]
		}
	}
	switch {
	case len(lines) == 0:
		return errors.New("line 1: expected BEGIN:VCALENDAR: this is no iCalendar file")
	case len(open) > 0:
		last := open[len(open)-1]
		return last.fault("the %s that begins here has no end: the file is cut off", last.value())
	}
	return nil
}

// numbered returns the line as the decoder gets it.
func (l line) numbered() []byte {
	mark := ";" + paramLine + "=" + strconv.Itoa(l.number)
	if name := l.name(); name != "BEGIN" && name != "END" {
		return slices.Concat(l.text[:len(name)], []byte(mark), l.text[len(name):], []byte("\n"))
	} else if name == "BEGIN" {
		return slices.Concat(l.text, []byte("\n"+propBegin+mark+":\n"))
	}
	return slices.Concat(l.text, []byte("\n"))
}

// lineOf returns the number that a property was given.
func lineOf(p *ical.Prop) int {
	number, err := strconv.Atoi(p.Params.Get(paramLine))
	if err != nil {
		return 1
	}
	return number
}

// feed hands lines to the decoder one at a time.
type feed struct {
	lines []line
	next  int
	ready []byte
}

func (f *feed) Read(p []byte) (int, error) {
	if len(f.ready) == 0 {
		if f.next++; f.next > len(f.lines) {
			return 0, io.EOF
		}
		f.ready = f.lines[f.next-1].numbered()
	}
	n := copy(p, f.ready)
	f.ready = f.ready[n:]
	return n, nil
}

// fault is an error about the line that the decoder is at. To see whether a
// line is folded it looks at one more.
func (f *feed) fault(problem any) error {
	at := f.lines[min(max(f.next-2, 0), len(f.lines)-1)]
	return at.fault("%s", strings.TrimPrefix(fmt.Sprint(problem), "ical: "))
}

// decode returns the events of all calendars in a file.
func decode(lines []line) (events []ical.Event, err error) {
	f := &feed{lines: lines}
	defer func() {
		if p := recover(); p != nil { // as it does for lines without a colon
			err = f.fault("malformed line")
		}
	}()
	decoder := ical.NewDecoder(f)
	for {
		c, err := decoder.Decode()
		switch {
		case errors.Is(err, io.EOF):
			return events, nil
		case err != nil:
			return nil, f.fault(err)
		}
		events = append(events, c.Events()...)
	}
}
