package alert

import (
	"fmt"
	"slices"
	"time"

	"github.com/axsched/ax/host/internal/ax"
)

// book is what is known about alerts: a pure state that others save and send.
type book struct {
	window  time.Duration
	ids     *ax.IDs
	streaks map[ax.TaskID]*streak
	threads map[threadKey]*thread
	// changed holds rows that differ from the database, urgent tells that one of
	// them waits for it.
	changed map[*row]bool
	urgent  bool
	// counts holds failures in a row that differ from the database.
	counts map[ax.TaskID]int
}

type threadKey struct {
	task     ax.TaskID
	notifier string
}

// thread is what one notifier hears of one task.
type thread struct {
	// rows have not arrived yet, oldest first. Only the first can be leaving, so
	// there are two at most: that one, and one that gathers.
	rows []*row
	// quiet is until when nothing more may be sent.
	quiet time.Time
}

func newBook(window time.Duration, ids *ax.IDs) *book {
	return &book{
		window: window, ids: ids,
		streaks: map[ax.TaskID]*streak{}, threads: map[threadKey]*thread{},
		changed: map[*row]bool{}, counts: map[ax.TaskID]int{},
	}
}

// load takes rows of the database in. It returns an error for each row that
// cannot be understood, and leaves it out.
func (b *book) load(rows []ax.AlertRow, now time.Time) []error {
	var faults []error
	slices.SortFunc(rows, func(x, y ax.AlertRow) int { return int(min(max(x.ID-y.ID, -1), 1)) })
	// Times beyond this come from a clock that was wrong.
	latest := now.Add(b.window)
	for _, saved := range rows {
		th := b.thread(threadKey{saved.TaskID, saved.Notifier})
		if saved.State != ax.AlertOpen {
			th.quiet = soonest(latest, newest(th.quiet, saved.WindowEnd.Add(b.window)))
		}
		if saved.State == ax.AlertSent || saved.State == ax.AlertGivenUp {
			continue
		}
		r, err := loadRow(saved)
		if err != nil {
			faults = append(faults, fmt.Errorf("alert %d: %w", saved.ID, err))
			continue
		}
		r.NextTryAt = soonest(latest, r.NextTryAt)
		th.rows = append(th.rows, r)
	}
	b.release(now)
	return faults
}

func (b *book) thread(key threadKey) *thread {
	th := b.threads[key]
	if th == nil {
		th = &thread{}
		b.threads[key] = th
	}
	return th
}

// observe takes an event in, and reports whether that changed anything.
func (b *book) observe(task *ax.Task, ev event, now time.Time) bool {
	switch {
	case ev.failure():
		if told := b.fail(task, &ev); told != nil {
			count := b.streaks[task.ID].count
			b.tell(task, now, func(r *row) { r.gatherFailures(&ev, told, count) })
		}
	case ev.name == succeeded:
		s, ok := b.succeed(task)
		if s.count == 0 {
			return false
		}
		ev.name, ev.text = recovered, s.ended(ev.at)
		if ok && wanted(task, recovered) {
			b.tell(task, now, func(r *row) { r.gather(&ev) })
		}
	case ev.name == unparked:
		return b.unpark(task, ev.at)
	case wanted(task, ev.name):
		b.tell(task, now, func(r *row) { r.gather(&ev) })
	default:
		return false
	}
	return true
}

// tell adds to the message that gathers, for each receiver of the task.
func (b *book) tell(task *ax.Task, now time.Time, add func(*row)) {
	for i, notifier := range task.Notify.To {
		if slices.Contains(task.Notify.To[:i], notifier) {
			continue
		}
		th := b.thread(threadKey{task.ID, notifier})
		r := th.gathering()
		if r == nil {
			r = newRow(task, notifier, b.ids.Next(now), now, newest(now, th.quiet))
			th.rows = append(th.rows, r)
		}
		add(r)
		th.release(now, b.window)
		b.touch(r)
	}
}

// unpark notes in messages that were not sent yet that the task goes on.
func (b *book) unpark(task *ax.Task, at time.Time) bool {
	changed := false
	for _, notifier := range task.Notify.To {
		th := b.threads[threadKey{task.ID, notifier}]
		if th == nil {
			continue
		}
		if r := th.gathering(); r != nil && r.unpark(at) {
			b.touch(r)
			changed = true
		}
	}
	return changed
}

// gathering returns the row that takes further events, nil if a new one must.
func (th *thread) gathering() *row {
	if n := len(th.rows); n > 0 && !th.rows[n-1].leaving {
		return th.rows[n-1]
	}
	return nil
}

// release lets the first row leave if its time has come: from then on it does
// not change. It reports whether it did.
func (th *thread) release(now time.Time, window time.Duration) bool {
	if len(th.rows) == 0 || th.rows[0].leaving || th.rows[0].NextTryAt.After(now) {
		return false
	}
	th.rows[0].leaving = true
	th.quiet = now.Add(window)
	return true
}

func (b *book) touch(r *row) {
	r.version++
	b.changed[r] = true
	b.urgent = b.urgent || r.leaving
}

// release lets rows leave whose time has come, and forgets threads of which
// nothing needs to be known any more.
func (b *book) release(now time.Time) {
	for key, th := range b.threads {
		if len(th.rows) == 0 {
			if !th.quiet.After(now) {
				delete(b.threads, key)
			}
			continue
		}
		if th.release(now, b.window) && b.changed[th.rows[0]] {
			b.urgent = true
		}
	}
}

// due returns the row that has waited longest for each notifier that is free.
func (b *book) due(now time.Time, busy map[string]bool) map[string]*row {
	first := map[string]*row{}
	for _, th := range b.threads {
		if len(th.rows) == 0 {
			continue
		}
		r := th.rows[0]
		if !r.leaving || b.changed[r] || busy[r.Notifier] || r.NextTryAt.After(now) {
			continue
		}
		if other := first[r.Notifier]; other == nil || r.before(other) {
			first[r.Notifier] = r
		}
	}
	return first
}

// next returns when the next row is due that is not yet, or a thread can be
// forgotten; zero for never.
func (b *book) next(now time.Time) time.Time {
	var next time.Time
	for _, th := range b.threads {
		at := th.quiet
		if len(th.rows) > 0 {
			at = th.rows[0].NextTryAt
		}
		if at.After(now) {
			next = earlier(next, at)
		}
	}
	return next
}

// settle notes what became of a delivery.
func (b *book) settle(r *row, v verdict, now time.Time) {
	r.Attempts++
	r.State, r.LastError, r.NextTryAt = v.state, v.cause, v.again
	b.touch(r)
	if v.state == ax.AlertFailed {
		return
	}
	th := b.thread(threadKey{r.TaskID, r.Notifier})
	if v.state == ax.AlertSent {
		r.WindowEnd = now
		th.quiet = now.Add(b.window)
	}
	th.rows = th.rows[1:] // only the first is ever sent
	if len(th.rows) > 0 && th.rows[0].NextTryAt.Before(th.quiet) {
		th.rows[0].postpone(th.quiet)
		b.touch(th.rows[0])
	}
}

func newest(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

func soonest(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}
