package alert

import (
	"slices"
	"time"

	"github.com/axsched/ax/host/internal/ax"
)

// streak is the failures of a task in a row.
type streak struct {
	count int
	// since is when the first one happened; zero if an earlier life saw it.
	since time.Time
	// untold are those that nobody was told of, since there were too few.
	untold []tally
	// seeded: count comes from the database, and it is not known yet how many
	// of them were told.
	seeded bool
}

// seed sets how often tasks have failed in a row before.
func (b *book) seed(counts map[ax.TaskID]int) {
	for id, n := range counts {
		if n > 0 {
			b.streaks[id] = &streak{count: n, seeded: true}
		}
	}
}

// fail counts a failure. It returns what is to be told: nothing while there are
// fewer than Notify.After in a row, and then also of those before.
func (b *book) fail(task *ax.Task, ev *event) []tally {
	s := b.streaks[task.ID]
	if s == nil {
		s = &streak{since: ev.at}
		b.streaks[task.ID] = s
	}
	if s.seeded && s.count < task.Notify.After {
		s.untold = []tally{{Event: ev.name, Count: s.count, First: ev.at, Last: ev.at}}
	}
	s.seeded = false
	s.count++
	b.counts[task.ID] = s.count
	if wanted(task, ev.name) {
		s.untold = addTally(s.untold, newTally(ev))
	}
	if s.count < task.Notify.After || !wanted(task, ev.name) {
		return nil
	}
	told := s.untold
	s.untold = nil
	return told
}

// succeed ends a streak and reports whether that is a recovery.
func (b *book) succeed(task *ax.Task) (streak, bool) {
	s := b.streaks[task.ID]
	if s == nil {
		return streak{}, false
	}
	delete(b.streaks, task.ID)
	b.counts[task.ID] = 0
	return *s, s.count >= task.Notify.After
}

// ended says what a recovery at that time ended.
func (s *streak) ended(at time.Time) string {
	text := "after " + number(s.count, "failure")
	if took := at.Sub(s.since); !s.since.IsZero() && took >= time.Second {
		text += " in " + short(took)
	}
	return text
}

func wanted(task *ax.Task, name string) bool { return slices.Contains(task.Notify.On, name) }
