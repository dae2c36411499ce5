package preview

import (
	"context"
	"slices"
	"time"

	"github.com/axsched/ax/host/internal/trigger"
)

const (
	// replayBatch is how many due times of a task are computed at once.
	replayBatch = 256
	// worst is how many of the busiest minutes and seconds are kept.
	worst = 10

	second = int64(time.Second / time.Microsecond)
	minute = 60 * second
	// daily and progressTimes are how often the progress is told, in simulated
	// time and in due times.
	daily         = 24 * 60 * minute
	progressTimes = 1_000_000
)

// stream is the due times of one task to come, in Unix microseconds.
type stream struct {
	table *trigger.Timetable
	known []int64
	next  int // of known
	after time.Time
	done  bool
}

// replay merges the due times of all tasks in the order of time.
type replay struct {
	Simulation
	report  *Report
	streams []stream
	queue   queue
	minutes counter
	seconds counter
	buckets counter
	// told and toldTimes are how far it was when the progress was told last.
	told, toldTimes int64
	// beyond tells of each task whether its calendars lack a list for the year.
	beyond []yearMark
}

// yearMark is what is known about a task in a year.
type yearMark struct {
	from, until int64
	beyond      bool
}

func newReplay(s Simulation, r *Report, tables []*trigger.Timetable) *replay {
	p := &replay{
		Simulation: s, report: r, streams: make([]stream, len(tables)), beyond: make([]yearMark, len(tables)),
		minutes: newCounter(len(tables)), seconds: newCounter(len(tables)), buckets: newCounter(len(tables)),
	}
	for i, table := range tables {
		p.streams[i] = stream{table: table, after: s.From.Add(-1), done: table == nil}
	}
	return p
}

// run replays the span.
func (p *replay) run(ctx context.Context) {
	for i := range p.streams {
		if at, ok := p.take(ctx, i); ok {
			p.queue.push(at, i)
		}
	}
	p.told = p.From.UnixMicro()
	for len(p.queue) > 0 && ctx.Err() == nil {
		at, task := p.queue[0].at, p.queue[0].task
		p.fire(at, task)
		if next, ok := p.take(ctx, task); ok {
			p.queue.replace(next)
		} else {
			p.queue.pop()
		}
	}
	p.endSecond()
	p.endMinute()
	p.endBucket()
}

// take returns the next due time of a task.
func (p *replay) take(ctx context.Context, task int) (int64, bool) {
	s := &p.streams[task]
	if s.next == len(s.known) {
		if s.done {
			return 0, false
		}
		p.fetch(ctx, task)
		if len(s.known) == 0 {
			return 0, false
		}
	}
	s.next++
	return s.known[s.next-1], true
}

// fetch computes more due times of a task.
func (p *replay) fetch(ctx context.Context, task int) {
	s := &p.streams[task]
	times, exhausted, err := s.table.Next(ctx, s.after, p.To.Add(-1), replayBatch)
	if err != nil {
		p.report.PerTask[task].Error = err.Error()
	}
	s.known, s.next, s.done = s.known[:0], 0, exhausted || err != nil || len(times) < replayBatch
	for _, t := range times {
		s.known = append(s.known, t.UnixMicro())
	}
	if len(times) > 0 {
		s.after = times[len(times)-1]
	}
}

// fire counts a due time.
func (p *replay) fire(at int64, task int) {
	if at >= p.seconds.end {
		p.endSecond()
		p.seconds.begin(at-mod(at, second), second)
		if at >= p.minutes.end {
			p.endMinute()
			p.minutes.begin(at-mod(at, minute), minute)
		}
		if at >= p.buckets.end {
			p.endBucket()
			p.beginBucket(at)
		}
		if p.Progress != nil && (at >= p.told+daily || p.report.DueTimes-p.toldTimes >= progressTimes) {
			p.told, p.toldTimes = at, p.report.DueTimes
			p.Progress(time.UnixMicro(at))
		}
	}
	p.seconds.add(task)
	p.minutes.add(task)
	p.buckets.add(task)
	p.report.DueTimes++
	t := &p.report.PerTask[task]
	if t.DueTimes++; t.DueTimes == 1 {
		t.First = p.time(at)
	}
	t.Last = p.time(at)
	p.markBeyond(t, at, task)
}

// markBeyond notes a due time that is beyond what a calendar knows. The
// calendars are asked once a year.
func (p *replay) markBeyond(t *TaskReport, at int64, task int) {
	mark := &p.beyond[task]
	if at < mark.from || at >= mark.until {
		local := time.UnixMicro(at).In(p.streams[task].table.Zone())
		year := local.Year()
		mark.from = time.Date(year, time.January, 1, 0, 0, 0, 0, local.Location()).UnixMicro()
		mark.until = time.Date(year+1, time.January, 1, 0, 0, 0, 0, local.Location()).UnixMicro()
		mark.beyond = len(p.streams[task].table.Beyond(local)) > 0
	}
	if mark.beyond {
		if t.Beyond++; t.Beyond == 1 {
			t.BeyondFrom = p.time(at)
		}
	}
}

func (p *replay) time(at int64) time.Time { return time.UnixMicro(at).In(p.Zone) }

func (p *replay) endSecond() {
	c := &p.seconds
	if len(c.touched) > 1 {
		p.report.Collisions.Seconds++
		p.report.Collisions.Worst = p.keep(p.report.Collisions.Worst, c)
	}
	c.clear()
}

func (p *replay) endMinute() {
	c := &p.minutes
	if len(c.touched) > 1 {
		p.report.Collisions.Minutes++
	}
	if c.total > 0 {
		p.report.Busiest = p.keep(p.report.Busiest, c)
	}
	c.clear()
}

func (p *replay) endBucket() {
	c := &p.buckets
	if c.total > 0 {
		p.report.Buckets = append(p.report.Buckets, Bucket{Start: p.time(c.start), DueTimes: c.total, Tasks: len(c.touched)})
	}
	c.clear()
}

// beginBucket begins the unit that an instant is in.
func (p *replay) beginBucket(at int64) {
	local := p.time(at)
	var start, end time.Time
	switch p.Unit {
	case PerDay:
		year, month, day := local.Date()
		start, end = time.Date(year, month, day, 0, 0, 0, 0, p.Zone), time.Date(year, month, day+1, 0, 0, 0, 0, p.Zone)
	case PerHour:
		start = local.Add(-time.Duration(local.Minute())*time.Minute - time.Duration(local.Second())*time.Second - time.Duration(local.Nanosecond()))
		end = start.Add(time.Hour)
	case PerMinute:
		start = local.Truncate(time.Minute)
		end = start.Add(time.Minute)
	}
	p.buckets.begin(start.UnixMicro(), end.UnixMicro()-start.UnixMicro())
}

// keep puts a moment into a list of the worst, if it belongs there. Of equals
// the earlier one stays.
func (p *replay) keep(list []Moment, c *counter) []Moment {
	if len(list) == worst && list[worst-1].DueTimes >= c.total {
		return list
	}
	m := Moment{At: p.time(c.start), DueTimes: c.total}
	for _, task := range c.touched {
		m.Tasks = append(m.Tasks, TaskCount{Task: p.report.PerTask[task].Task, DueTimes: c.counts[task]})
	}
	at := slices.IndexFunc(list, func(o Moment) bool { return o.DueTimes < m.DueTimes })
	if at < 0 {
		at = len(list)
	}
	list = slices.Insert(list, at, m)
	return list[:min(len(list), worst)]
}

// mod is the remainder that is never negative.
func mod(a, n int64) int64 { return (a%n + n) % n }
