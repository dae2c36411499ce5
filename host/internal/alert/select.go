package alert

import (
	"slices"
	"time"

	"github.com/axsched/ax/host/internal/ax"
)

// selection decides which message of a notifier leaves next, and which ones wait
// longer. It is pure.
type selection struct {
	now time.Time
	// horizon is until when a message counts as due, mostly now.
	horizon  time.Time
	settings *Settings
	receiver *Receiver
	// due are the messages that are due, or will be within Gather, the one that
	// has waited longest first.
	due []*row
	// threads are the messages of their tasks for the notifier, unsettled or
	// settled lately, by task.
	threads map[ax.TaskID][]ax.AlertRow
	// told is what left lately, oldest first.
	told     []ax.AlertRow
	silences []ax.AlertSilence
}

// choice is what leaves next.
type choice struct {
	row *row
	// merged are told of by the same message.
	merged []*row
	// changed are those that wait longer.
	changed []*row
	// wait is until when the notifier gets nothing more; zero for no such bound.
	wait time.Time
}

// choose decides. Nothing is chosen if row is nil.
func (s *selection) choose() choice {
	var c choice
	if c.wait = s.rateLimit(); !c.wait.IsZero() {
		return c
	}
	ready, again := s.ready(&c)
	if again != nil && (len(ready) == 0 || again.NextTryAt.Before(ready[0].NextTryAt)) {
		c.row = again
		return c
	}
	for c.row == nil && len(ready) > 0 && s.isDue(ready[0]) {
		var group []*row
		group, ready = s.group(ready)
		s.take(&c, group)
	}
	if c.row == nil {
		c.row = again
	}
	return c
}

func (s *selection) isDue(r *row) bool { return !r.NextTryAt.After(s.horizon) }

// ready returns the messages that nothing holds back, and the first one that left
// before and did not arrive. Those that are held wait longer.
func (s *selection) ready(c *choice) (ready []*row, again *row) {
	for _, r := range s.due {
		if r.State != ax.AlertOpen {
			switch until := s.quiet(r); {
			case !s.isDue(r):
			case until.After(s.now):
				r.NextTryAt = until // it goes on as it left
				c.changed = append(c.changed, r)
			case again == nil:
				again = r
			}
			continue
		}
		until, held := s.hold(r)
		switch {
		case !until.After(s.now):
			ready = append(ready, r)
		case s.isDue(r):
			r.postpone(until)
			r.facts.Held = r.facts.Held || held
			c.changed = append(c.changed, r)
		}
	}
	return ready, again
}

// rateLimit returns until when the receiver wants no more; zero if it does.
func (s *selection) rateLimit() time.Time {
	limit := s.receiver.PerMinute
	if limit <= 0 {
		return time.Time{}
	}
	var sent []time.Time
	for i := range s.told {
		if t := &s.told[i]; t.MergedInto == 0 && t.WindowEnd.After(s.now.Add(-time.Minute)) {
			sent = append(sent, t.WindowEnd)
		}
	}
	if len(sent) < limit {
		return time.Time{}
	}
	return sent[len(sent)-limit].Add(time.Minute)
}

// hold returns until when a message waits although it is due, and whether that is
// because people want no messages.
func (s *selection) hold(r *row) (until time.Time, held bool) {
	until = s.quiet(r)
	held = until.After(s.now)
	for i := range s.threads[r.TaskID] {
		if other := &s.threads[r.TaskID][i]; other.ID != r.ID {
			until = newest(until, quietAfter(other, s.settings.Window, s.now))
		}
	}
	return until, held
}

// quiet returns until when people want no such message; zero or past if they do.
func (s *selection) quiet(r *row) (until time.Time) {
	if q := s.receiver.Quiet; q != nil {
		until = q.Until(s.now)
	}
	for i := range s.silences {
		m := &s.silences[i]
		if (m.Task == "" || r.onlyOf(m.Task)) && (m.Notifier == "" || m.Notifier == r.Notifier) {
			until = newest(until, m.Until)
		}
	}
	return until
}

// onlyOf reports whether the message is about one task and no other.
func (r *row) onlyOf(task string) bool {
	return r.TaskName == task && len(r.facts.Tasks) <= 1
}

// group takes the rows that say the same as the first one; after quiet hours also
// all others that were held.
func (s *selection) group(ready []*row) (group, rest []*row) {
	first := ready[0]
	key := first.facts.digest(first.TaskName)
	for _, r := range ready {
		if len(group) < maxMerged && (r.facts.digest(r.TaskName) == key || first.facts.Held && r.facts.Held) {
			group = append(group, r)
		} else {
			rest = append(rest, r)
		}
	}
	return group, rest
}

// maxMerged bounds how many rows one message tells of.
const maxMerged = 1000

// take decides what becomes of rows that say the same.
func (s *selection) take(c *choice, group []*row) {
	first := group[0]
	key := first.facts.digest(first.TaskName)
	summary := first.facts.Held && len(group) > 1
	before, lastTold := s.toldOf(key)
	merge := s.settings.MergeFrom
	switch {
	case summary:
	case merge > 0 && before >= merge:
		// People know of it, and hear of the others when they hear of it again.
		for _, r := range group {
			r.postpone(lastTold.Add(s.settings.Window))
			c.changed = append(c.changed, r)
		}
		return
	case merge > 0 && before+len(group) >= merge:
		first.facts.Like = before
	default:
		group = group[:1]
	}
	first.facts.Summary = summary && !same(group)
	c.row, c.merged = first, group[1:]
	for _, r := range group {
		r.Digest = key
	}
	if len(group) > 1 {
		first.facts.tellOf(group)
	}
}

// same reports whether all rows say the same.
func same(group []*row) bool {
	key := group[0].facts.digest(group[0].TaskName)
	return !slices.ContainsFunc(group, func(r *row) bool { return r.facts.digest(r.TaskName) != key })
}

// toldOf returns of how many tasks people were told the same within the window,
// and when the last time.
func (s *selection) toldOf(key string) (tasks int, last time.Time) {
	seen := map[ax.TaskID]bool{}
	for i := range s.told {
		t := &s.told[i]
		if t.Digest != key || !t.WindowEnd.After(s.now.Add(-s.settings.Window)) {
			continue
		}
		seen[t.TaskID] = true
		last = newest(last, t.WindowEnd)
	}
	return len(seen), last
}

// tellOf fills in what a message about several tasks says.
func (f *facts) tellOf(group []*row) {
	var lines []taskLine
	var hosts []string
	last := group[0]
	for _, r := range group {
		lines = append(lines, taskLine{Name: r.TaskName, Event: r.facts.lead().Event, Count: r.Count})
		for _, host := range r.facts.Hosts {
			if !slices.Contains(hosts, host) {
				hosts = append(hosts, host)
			}
		}
		if r.LastAt.After(last.LastAt) {
			last = r
		}
	}
	f.Tasks, f.TasksMore = lines[:min(len(lines), maxTasks)], max(len(lines)-maxTasks, 0)
	f.Hosts = hosts[:min(len(hosts), maxHosts)]
	if isFailure(f.lead().Event) {
		f.Error = last.facts.Error
	}
}
