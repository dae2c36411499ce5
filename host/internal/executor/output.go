package executor

import (
	"fmt"
	"sync"
	"time"

	"github.com/axsched/ax/host/internal/ax"
)

const (
	// maxOutput bounds what one attempt may write into ax_log. The largest
	// output_limit of the job exec is within it.
	maxOutput = 17 << 20
	// maxEvent bounds one row of output.
	maxEvent = 32 << 10
	// window is how many changes of one attempt's output wait for the database
	// at a time. The job waits meanwhile, so that a flood does not fill the queue
	// in which the changes of all tasks stand.
	window = 2
	// windowWait bounds that wait, should the database be away: a run that is to
	// end must be able to. Then the changes gather, up to maxOutput.
	windowWait = time.Second
)

// outputLog turns a job's output into rows of ax_log while it runs. It is used
// by one goroutine at a time.
type outputLog struct {
	e     *Executor
	inst  *ax.Instance
	left  int
	over  amount        // beyond maxOutput
	slots chan struct{} // of the window

	mu   sync.Mutex
	lost amount // what the database did not take, until a row tells of it
}

// amount is a number of lines, and the bytes of their texts.
type amount struct{ lines, bytes uint64 }

func (a *amount) add(lines []ax.Line) {
	for _, l := range lines {
		a.lines++
		a.bytes += uint64(len(l.Text))
	}
}

func newOutputLog(e *Executor, inst *ax.Instance) *outputLog {
	return &outputLog{e: e, inst: inst, left: maxOutput, slots: make(chan struct{}, window)}
}

// write takes output. It waits while the database is behind.
func (l *outputLog) write(out ax.Output) {
	lost, dropped := l.takeLost(), amount{out.Dropped, out.DroppedBytes}
	events := l.missing("the database did not take them", lost)
	events = append(events, l.missing("the host did not take them in time", dropped)...)
	told := amount{lost.lines + dropped.lines, lost.bytes + dropped.bytes}
	if p := out.Progress; p != nil {
		events = append(events, l.e.event(l.inst, l.e.cfg.Now(), ax.StageProgress, "info", progressText(p)))
	}
	for lines := out.Lines; len(lines) > 0; {
		ev, n := l.row(lines)
		if l.left -= len(ev.Text) + 1; l.left < 0 {
			l.over.add(lines[:n])
		} else {
			told.add(lines[:n])
			events = append(events, ev)
		}
		lines = lines[n:]
	}
	if len(events) > 0 {
		l.submit(events, told)
	}
}

// row joins the first n lines, which are of one level, into one event.
func (l *outputLog) row(lines []ax.Line) (ev ax.Event, n int) {
	n, size := 1, len(lines[0].Text)
	for n < len(lines) && lines[n].Level == lines[0].Level && size+len(lines[n].Text) < maxEvent {
		size += len(lines[n].Text) + 1
		n++
	}
	text := make([]byte, 0, size)
	for i, line := range lines[:n] {
		if i > 0 {
			text = append(text, '\n')
		}
		text = append(text, line.Text...)
	}
	ev = l.e.event(l.inst, lines[0].At, ax.StageOutput, lines[0].Level, string(text))
	ev.ID = l.e.cfg.IDs.Next(l.e.cfg.Now()) // in the order of arrival, whatever the plugin's clock says
	return ev, n
}

// submit hands rows, which tell of so many lines, to the writer once there is
// room in the window.
func (l *outputLog) submit(events []ax.Event, lines amount) {
	wait := time.NewTimer(windowWait)
	defer wait.Stop()
	leave := func() { <-l.slots }
	select {
	case l.slots <- struct{}{}:
	case <-wait.C:
		leave = func() {}
	}
	l.e.cfg.Writer.Submit(ax.Change{Events: events, Done: func(_ bool, err error) {
		if err != nil {
			l.lose(lines, err)
		}
		leave()
	}})
}

// lose notes lines that are not in the database. The log of the host may be the
// only place where that can be told.
func (l *outputLog) lose(lines amount, err error) {
	l.e.cfg.Log.Error("output of a job was not written", "instance_id", l.inst.ID,
		"lines", lines.lines, "bytes", lines.bytes, "error", err)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lost.lines += lines.lines
	l.lost.bytes += lines.bytes
}

func (l *outputLog) takeLost() amount {
	l.mu.Lock()
	defer l.mu.Unlock()
	lost := l.lost
	l.lost = amount{}
	return lost
}

// missing makes the row that stands where lines are missing, if any are.
func (l *outputLog) missing(why string, n amount) []ax.Event {
	if n.lines == 0 {
		return nil
	}
	text := fmt.Sprintf("… %d lines of output (%d bytes) are missing here: %s …", n.lines, n.bytes, why)
	return []ax.Event{l.e.event(l.inst, l.e.cfg.Now(), ax.StageOutput, "warn", text)}
}

// close tells what is missing at the end.
func (l *outputLog) close() {
	lost := l.takeLost()
	events := l.missing("the database did not take them", lost)
	events = append(events, l.missing(fmt.Sprintf("an attempt may write %d MiB", maxOutput>>20), l.over)...)
	if len(events) > 0 {
		l.submit(events, amount{lost.lines + l.over.lines, lost.bytes + l.over.bytes})
	}
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
