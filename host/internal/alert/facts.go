package alert

import (
	"crypto/sha256"
	"encoding/hex"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/axsched/ax/host/internal/ax"
)

const (
	// maxReason bounds the reason in a tally, in bytes.
	maxReason = 300
	// maxHosts and maxTasks bound the lists of names in a message.
	maxHosts = 5
	maxTasks = 50
)

// facts is what a message is made of, kept with it so that any host can go on
// gathering.
type facts struct {
	// Tallies are in the order of their newest events.
	Tallies []tally `json:"tallies"`
	// Run is the newest one, Hosts where the failed ones ran, Attempts how many
	// attempts they took.
	Run      run      `json:"run,omitzero"`
	Hosts    []string `json:"hosts,omitempty"`
	Attempts int      `json:"attempts,omitempty"`
	// Streak is how many failures in a row there were at the newest one.
	Streak int `json:"streak,omitempty"`
	// Error of the newest failure, digested.
	Error string `json:"error,omitempty"`
	// Cause is a hash of the error that a recovery ended.
	Cause string `json:"cause,omitempty"`
	// Subject: it is about something that is no task.
	Subject bool   `json:"subject,omitempty"`
	Zone    string `json:"zone,omitempty"`
	// Held: quiet hours or a silence kept it back.
	Held bool `json:"held,omitempty"`

	// What follows is filled in when the message leaves.

	// Tasks are those that it is about, if there are several, and TasksMore how
	// many are not listed.
	Tasks     []taskLine `json:"tasks,omitempty"`
	TasksMore int        `json:"tasks_more,omitempty"`
	// Like is how many other tasks were told of lately that say the same.
	Like int `json:"like,omitempty"`
	// Summary: it is about all that was held, whatever that says.
	Summary bool `json:"summary,omitempty"`
}

// taskLine is one task in a message about several.
type taskLine struct {
	Name  string `json:"name"`
	Event string `json:"event"`
	Count int    `json:"count"`
}

// tally counts events of one name.
type tally struct {
	Event string    `json:"event"`
	Count int       `json:"count"`
	First time.Time `json:"first"`
	Last  time.Time `json:"last"`
	// Reason of the newest one, for what is no failure.
	Reason string `json:"reason,omitempty"`
	// Over is when a parked task went on.
	Over time.Time `json:"over,omitzero"`
	// Ended and Took are how many failures a recovery ended, and after how long.
	Ended int           `json:"ended,omitempty"`
	Took  time.Duration `json:"took,omitempty"`
}

func newTally(ev *ax.AlertEvent) tally {
	t := tally{Event: ev.Event, Count: max(ev.Count, 1), First: ev.At, Last: ev.At}
	if !isFailure(ev.Event) {
		t.Reason = cut(strings.Join(strings.Fields(ev.Detail), " "), maxReason)
	}
	return t
}

// addTally adds newer events to the tally of their name, which becomes the last.
func addTally(list []tally, more tally) []tally {
	if i := slices.IndexFunc(list, func(t tally) bool { return t.Event == more.Event }); i >= 0 {
		old := list[i]
		more.Count += old.Count
		more.First, more.Last = soonest(old.First, more.First), newest(old.Last, more.Last)
		more.Ended, more.Took = more.Ended+old.Ended, more.Took+old.Took
		if more.Reason == "" {
			more.Reason = old.Reason
		}
		list = slices.Delete(list, i, i+1)
	}
	return append(list, more)
}

// telling is what a message is to gather: events of a task since the last time.
type telling struct {
	tallies []tally
	run     run
	streak  int
	// failure: the newest of them is one, with this error.
	failure  bool
	error    string
	hosts    []string
	attempts int
	cause    string
}

// add gathers a telling.
func (f *facts) add(t *telling) {
	for _, tally := range t.tallies {
		f.Tallies = addTally(f.Tallies, tally)
	}
	if t.run != (run{}) {
		f.Run = t.run
	}
	if t.failure {
		f.Error, f.Streak = t.error, t.streak
	}
	f.Attempts += t.attempts
	for _, host := range t.hosts {
		if host != "" && !slices.Contains(f.Hosts, host) && len(f.Hosts) < maxHosts {
			f.Hosts = append(f.Hosts, host)
		}
	}
	if t.cause != "" {
		f.Cause = t.cause
	}
}

// unpark notes that a parked task went on, and reports whether the message tells
// of its parking.
func (f *facts) unpark(at time.Time) bool {
	for i := range f.Tallies {
		if t := &f.Tallies[i]; t.Event == parked && t.Over.IsZero() {
			t.Over = at
			return true
		}
	}
	return false
}

// lead returns the tally that gives the message its name: the newest that says
// how the task fares now, or else the newest of all.
func (f *facts) lead() *tally {
	lead := &f.Tallies[len(f.Tallies)-1]
	for i := range f.Tallies {
		if t := &f.Tallies[i]; isState(t.Event) {
			lead = t
		}
	}
	return lead
}

// digest is equal for messages that say the same of different tasks. task is the
// name that may stand in the text.
func (f *facts) digest(task string) string {
	lead := f.lead()
	switch {
	case isFailure(lead.Event):
		return lead.Event + "-" + causeOf(f.Error, task)
	case lead.Event == recovered:
		return recovered + "-" + f.Cause
	}
	return lead.Event + "-" + causeOf(lead.Reason, task)
}

var (
	hexRuns   = regexp.MustCompile(`\b(0x)?[0-9a-f]{6,}(-[0-9a-f]{4,})*\b`)
	digitRuns = regexp.MustCompile(`[0-9]+`)
)

// causeLines bounds how much of an error decides whether it is the same as
// another: the beginning of a stack, where it says what happened.
const causeLines = 5

// causeOf returns a hash of an error in which numbers, ids and the name of the
// task make no difference.
func causeOf(text, task string) string {
	lines := strings.SplitN(text, "\n", causeLines+1)
	text = strings.Join(lines[:min(len(lines), causeLines)], "\n")
	if len(task) > 2 {
		text = strings.ReplaceAll(text, task, "@")
	}
	text = digitRuns.ReplaceAllString(hexRuns.ReplaceAllString(strings.ToLower(text), "#"), "#")
	sum := sha256.Sum256([]byte(strings.Join(strings.Fields(text), " ")))
	return hex.EncodeToString(sum[:8])
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

// earlier returns the first of two times, where zero is never.
func earlier(a, b time.Time) time.Time {
	if a.IsZero() || (!b.IsZero() && b.Before(a)) {
		return b
	}
	return a
}
