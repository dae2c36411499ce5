package executor

import (
	"fmt"
	"strings"
	"time"

	"github.com/axsched/ax/host/internal/ax"
)

const (
	// maxOutput bounds what one attempt may write into ax_log.
	maxOutput = 8 << 20
	// maxEvent bounds one row of output.
	maxEvent = 32 << 10
)

// outputLog turns a job's output into rows of ax_log while it runs. It is used
// by one goroutine at a time.
type outputLog struct {
	e       *Executor
	inst    *ax.Instance
	left    int
	dropped uint64
}

func newOutputLog(e *Executor, inst *ax.Instance) *outputLog {
	return &outputLog{e: e, inst: inst, left: maxOutput}
}

func (l *outputLog) write(out ax.Output) {
	l.dropped += out.Dropped
	var events []ax.Event
	if p := out.Progress; p != nil {
		events = append(events, l.e.event(l.inst, time.Now(), ax.StageProgress, "info", progressText(p)))
	}
	for lines := out.Lines; len(lines) > 0; {
		var ev ax.Event
		ev, lines = l.next(lines)
		if l.left -= len(ev.Text) + 1; l.left < 0 {
			l.dropped += uint64(strings.Count(ev.Text, "\n") + 1)
			continue
		}
		events = append(events, ev)
	}
	if len(events) > 0 {
		l.e.cfg.Writer.Submit(ax.Change{Events: events})
	}
}

// next joins lines of one level into one row.
func (l *outputLog) next(lines []ax.Line) (ax.Event, []ax.Line) {
	n, size := 1, len(lines[0].Text)
	for n < len(lines) && lines[n].Level == lines[0].Level && size+len(lines[n].Text) < maxEvent {
		size += len(lines[n].Text) + 1
		n++
	}
	texts := make([]string, n)
	for i, line := range lines[:n] {
		texts[i] = line.Text
	}
	ev := l.e.event(l.inst, lines[0].At, ax.StageOutput, lines[0].Level, strings.Join(texts, "\n"))
	ev.ID = l.e.cfg.IDs.Next(time.Now()) // in the order of arrival, whatever the plugin's clock says
	return ev, lines[n:]
}

// close notes what was dropped.
func (l *outputLog) close() {
	if l.dropped == 0 {
		return
	}
	text := fmt.Sprintf("%d lines of output were dropped: an attempt may write %d MiB, and no faster than the host takes it", l.dropped, maxOutput>>20)
	l.e.cfg.Writer.Submit(ax.Change{Events: []ax.Event{l.e.event(l.inst, time.Now(), ax.StageOutput, "warn", text)}})
}

func progressText(p *ax.Progress) string {
	text := fmt.Sprint(p.Done)
	if p.Total > 0 {
		text = fmt.Sprintf("%d of %d (%d %%)", p.Done, p.Total, int(100*float64(p.Done)/float64(p.Total)))
	}
	if p.Message != "" {
		text += ": " + p.Message
	}
	return text
}
