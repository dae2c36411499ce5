package executor

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/axsched/ax/host/internal/ax"
)

// written gathers the events of all changes.
type written struct{ events []ax.Event }

func (w *written) Submit(c ax.Change) { w.events = append(w.events, c.Events...) }

func newTestLog() (*outputLog, *written) {
	w := &written{}
	e := New(Config{Node: "n", Writer: w, IDs: ax.NewIDs(1)})
	return newOutputLog(e, &ax.Instance{ID: 7, TaskID: 8, Attempt: 2}), w
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

// TestOutputIsBounded: what is beyond the limit is counted, with what the plugin
// has dropped itself.
func TestOutputIsBounded(t *testing.T) {
	t.Parallel()
	log, w := newTestLog()
	line := ax.Line{Level: "output", Text: strings.Repeat("x", maxEvent-1)}
	const fit = maxOutput / maxEvent
	for range fit + 3 {
		log.write(ax.Output{Lines: []ax.Line{line}})
	}
	log.write(ax.Output{Dropped: 4})
	if len(w.events) != fit {
		t.Errorf("%d rows, want %d", len(w.events), fit)
	}
	log.close()
	if last := w.events[len(w.events)-1]; len(w.events) != fit+1 || last.Level != "warn" || !strings.HasPrefix(last.Text, "7 lines of output were dropped") {
		t.Errorf("%d rows, the last one: %s %.80s", len(w.events), last.Level, last.Text)
	}
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
