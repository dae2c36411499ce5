package executor

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/axsched/ax/host/internal/ax"
)

// written is a writer that takes everything at once, or fails. With held set it
// answers only when it is told to.
type written struct {
	events []ax.Event
	err    error
	held   bool
	open   []func(applied bool, err error)
}

// Submit implements Writer.
func (w *written) Submit(c ax.Change) {
	if w.err == nil {
		w.events = append(w.events, c.Events...)
	}
	if w.held {
		w.open = append(w.open, c.Done)
		return
	}
	c.Done(w.err == nil, w.err)
}

// texts are the rows so far, shortened.
func (w *written) texts() string {
	var all []string
	for _, e := range w.events {
		all = append(all, fmt.Sprintf("%s %.100s", e.Level, e.Text))
	}
	return strings.Join(all, "|")
}

func newTestLog() (*outputLog, *written) {
	w := &written{}
	e := New(Config{Node: "n", Writer: w, IDs: ax.NewIDs(1), Log: hclog.NewNullLogger()})
	return newOutputLog(e, &ax.Instance{ID: 7, TaskID: 8, Attempt: 2}), w
}

func linesOf(texts ...string) []ax.Line {
	lines := make([]ax.Line, len(texts))
	for i, text := range texts {
		lines[i] = ax.Line{Level: "output", Text: text}
	}
	return lines
}

func TestLinesOfALevelShareARow(t *testing.T) {
	t.Parallel()
	log, w := newTestLog()
	at := time.Date(2026, 3, 1, 10, 0, 0, 0, time.UTC)
	log.write(ax.Output{Lines: []ax.Line{
		{At: at, Level: "output", Text: "one"}, {At: at.Add(time.Second), Level: "output", Text: "two"},
		{At: at, Level: "warn", Text: "three"},
		{At: at, Level: "output", Text: strings.Repeat("x", maxEvent)}, {At: at, Level: "output", Text: "four"},
	}})
	log.close()
	var got []string
	for i, e := range w.events {
		got = append(got, fmt.Sprintf("%s %.9q", e.Level, e.Text))
		if e.InstanceID != 7 || e.TaskID != 8 || e.Attempt != 2 || e.Node != "n" || e.Stage != ax.StageOutput || !e.At.Equal(at) {
			t.Errorf("event %+v", e)
		}
		if i > 0 && e.ID <= w.events[i-1].ID {
			t.Errorf("event %d does not come after the one before", e.ID)
		}
	}
	if want := `output "one\ntwo", warn "three", output "xxxxxxxxx", output "four"`; strings.Join(got, ", ") != want {
		t.Errorf("got %s, want %s", strings.Join(got, ", "), want)
	}
}

// TestOutputIsBounded: what is beyond the limit is counted.
func TestOutputIsBounded(t *testing.T) {
	t.Parallel()
	log, w := newTestLog()
	line := strings.Repeat("x", maxEvent-1)
	const fit = maxOutput / maxEvent
	for range fit + 3 {
		log.write(ax.Output{Lines: linesOf(line)})
	}
	if len(w.events) != fit {
		t.Errorf("%d rows, want %d", len(w.events), fit)
	}
	log.close()
	last := w.events[len(w.events)-1]
	if want := fmt.Sprintf("… 3 lines of output (%d bytes) are missing here: an attempt may write 17 MiB …", 3*len(line)); len(w.events) != fit+1 ||
		last.Level != "warn" || last.Text != want {
		t.Errorf("%d rows, the last one: %s %.100s", len(w.events), last.Level, last.Text)
	}
}

// What is missing is told where it is missing, whoever lost it.
func TestGapsAreMarkedInPlace(t *testing.T) {
	t.Parallel()
	log, w := newTestLog()
	log.write(ax.Output{Lines: linesOf("a")})
	log.write(ax.Output{Dropped: 4, DroppedBytes: 40, Lines: linesOf("b")})
	w.err = errors.New("the database is away")
	log.write(ax.Output{Lines: linesOf("123", "4")})
	log.write(ax.Output{Dropped: 1, DroppedBytes: 6, Lines: linesOf("5")}) // the mark is lost with its change
	w.err = nil
	log.write(ax.Output{Lines: linesOf("c")})
	log.close()
	want := "output a|warn … 4 lines of output (40 bytes) are missing here: the host did not take them in time …|output b|" +
		"warn … 4 lines of output (11 bytes) are missing here: the database did not take them …|output c"
	if got := w.texts(); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// A job waits for a slow database, but not long for one that is away.
func TestOutputWaitsForTheDatabase(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		log, w := newTestLog()
		w.held = true
		begin := time.Now()
		for range window {
			log.write(ax.Output{Lines: linesOf("at once")})
		}
		if waited := time.Since(begin); waited != 0 {
			t.Errorf("waited %s within the window", waited)
		}
		time.AfterFunc(windowWait/2, func() { w.open[0](true, nil) })
		log.write(ax.Output{Lines: linesOf("when the first is there")})
		if waited := time.Since(begin); waited != windowWait/2 {
			t.Errorf("waited %s, want %s", waited, windowWait/2)
		}
		begin = time.Now()
		log.write(ax.Output{Lines: linesOf("nevertheless")})
		if waited := time.Since(begin); waited != windowWait || len(w.events) != window+2 {
			t.Errorf("waited %s, %d rows", waited, len(w.events))
		}
		for _, done := range w.open[1:] {
			done(true, nil) // the one that went beyond the window has no slot to give back
		}
		if len(log.slots) != 0 {
			t.Errorf("%d slots are taken", len(log.slots))
		}
	})
}

func TestProgress(t *testing.T) {
	t.Parallel()
	for want, p := range map[string]ax.Progress{
		"3":                           {Done: 3},
		"1 of 3 (33 %)":               {Done: 1, Total: 3},
		"3 of 3 (100 %): all is done": {Done: 3, Total: 3, Message: "all is done"},
		"29 of 100 (29 %)":            {Done: 29, Total: 100},
		fmt.Sprint(int64(math.MaxInt64)) + " of 9223372036854775807 (100 %)": {Done: math.MaxInt64, Total: math.MaxInt64},
	} {
		log, w := newTestLog()
		log.write(ax.Output{Progress: &p})
		if len(w.events) != 1 || w.events[0].Text != want || w.events[0].Stage != ax.StageProgress {
			t.Errorf("got %+v, want %s", w.events, want)
		}
	}
}
