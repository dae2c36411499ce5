package alert

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/axsched/ax/host/internal/ax"
	"github.com/axsched/ax/pluginapi"
)

// maxReason bounds the reason in a tally, in bytes.
const maxReason = 300

// row is a message that has not arrived, and its row of ax_alert. There
// WindowStart is when it began to gather, and WindowEnd when it is to leave; once
// it was sent, when that was. Nothing more is sent until a window after that.
type row struct {
	ax.AlertRow
	task, zone string
	facts      facts
	// leaving: it is about to be sent, and gathers nothing any more.
	leaving bool
	// version counts the changes.
	version int
	// msg is the message as it stands in the database.
	msg pluginapi.Message
}

// facts is what a message is made of, kept with it so that a later life can go
// on gathering.
type facts struct {
	// Tallies are in the order of their newest events.
	Tallies []tally `json:"tallies"`
	// Run is the newest one.
	Run run `json:"run,omitzero"`
	// Streak is how many failures in a row there were at the newest one.
	Streak int `json:"streak,omitempty"`
	// Error of the newest failure. The message has it as well.
	Error string `json:"-"`
}

// tally counts events of one name.
type tally struct {
	Event string    `json:"event"`
	Count int       `json:"count"`
	First time.Time `json:"first"`
	Last  time.Time `json:"last"`
	// Reason of the newest one, for what is no failure. A recovery's says what
	// it ended: "after 12 failures in 37m".
	Reason string `json:"reason,omitempty"`
	// Over is when a parked task went on.
	Over time.Time `json:"over,omitzero"`
}

// payload is the content of AlertRow.Payload: the message and its facts.
type payload struct {
	pluginapi.Message
	Facts facts `json:"facts"`
}

func newRow(task *ax.Task, notifier string, id int64, now, leaves time.Time) *row {
	return &row{
		AlertRow: ax.AlertRow{
			ID: id, App: task.App, TaskID: task.ID, Notifier: notifier, State: ax.AlertOpen,
			WindowStart: now, WindowEnd: leaves, NextTryAt: leaves,
		},
		task: task.Name, zone: task.Schedule.Timezone,
	}
}

// loadRow makes a row of what the database has.
func loadRow(saved ax.AlertRow) (*row, error) {
	var p payload
	if err := json.Unmarshal(saved.Payload, &p); err != nil {
		return nil, fmt.Errorf("decode its payload: %w", err)
	}
	p.Facts.Error = p.LastError
	return &row{
		AlertRow: saved, task: p.Task, zone: p.Zone, facts: p.Facts,
		leaving: saved.State == ax.AlertFailed, msg: p.Message,
	}, nil
}

func newTally(ev *event) tally {
	t := tally{Event: ev.name, Count: 1, First: ev.at, Last: ev.at}
	if !ev.failure() {
		t.Reason = cut(strings.Join(strings.Fields(ev.text), " "), maxReason)
	}
	return t
}

// addTally adds newer events to the tally of their name, which becomes the last.
func addTally(list []tally, more tally) []tally {
	if i := slices.IndexFunc(list, func(t tally) bool { return t.Event == more.Event }); i >= 0 {
		more.Count += list[i].Count
		more.First, more.Last = soonest(list[i].First, more.First), newest(list[i].Last, more.Last)
		list = slices.Delete(list, i, i+1)
	}
	return append(list, more)
}

// gather adds an event.
func (r *row) gather(ev *event) {
	r.add(newTally(ev))
	if ev.run != (run{}) {
		r.facts.Run = ev.run
	}
}

// gatherFailures adds failures, of which ev is the newest.
func (r *row) gatherFailures(ev *event, told []tally, streak int) {
	for _, t := range told {
		r.add(t)
	}
	r.facts.Error, r.facts.Run, r.facts.Streak = ev.text, ev.run, streak
}

func (r *row) add(t tally) {
	r.facts.Tallies = addTally(r.facts.Tallies, t)
	if r.Count == 0 {
		r.FirstAt = t.First
	}
	r.Count += t.Count
	r.FirstAt, r.LastAt = soonest(r.FirstAt, t.First), newest(r.LastAt, t.Last)
}

// unpark notes that a parked task went on, and reports whether the row tells of
// its parking.
func (r *row) unpark(at time.Time) bool {
	for i := range r.facts.Tallies {
		if t := &r.facts.Tallies[i]; t.Event == parked && t.Over.IsZero() {
			t.Over = at
			return true
		}
	}
	return false
}

func (r *row) postpone(until time.Time) { r.NextTryAt, r.WindowEnd = until, until }

// before reports whether r is to be sent earlier than other.
func (r *row) before(other *row) bool {
	if !r.NextTryAt.Equal(other.NextTryAt) {
		return r.NextTryAt.Before(other.NextTryAt)
	}
	return r.ID < other.ID
}

// snapshot returns a copy that shares nothing that changes.
func (r *row) snapshot() row {
	c := *r
	c.facts.Tallies = slices.Clone(r.facts.Tallies)
	return c
}

// render makes the message and puts it into the columns. zone is that of r.zone.
func (r *row) render(node string, zone *time.Location) error {
	lead := r.leading()
	r.Event = lead.Event
	r.msg = pluginapi.Message{
		ID: strconv.FormatInt(r.ID, 10), App: r.App, Node: node, Task: r.task,
		Event: r.Event, Severity: severity(r.Event), Title: r.title(lead), Text: r.text(lead, zone),
		Count: r.Count, First: r.FirstAt, Last: r.LastAt,
		LastError: r.facts.Error, InstanceID: r.facts.Run.Instance, Zone: r.zone,
	}
	raw, err := json.Marshal(payload{r.msg, r.facts})
	if err != nil {
		return fmt.Errorf("encode alert %d: %w", r.ID, err)
	}
	r.Payload = raw
	return nil
}

// leading returns the tally that gives the message its name: the newest that
// says how the task fares now, or else the newest of all.
func (r *row) leading() *tally {
	lead := &r.facts.Tallies[len(r.facts.Tallies)-1]
	for i := range r.facts.Tallies {
		if t := &r.facts.Tallies[i]; isState(t.Event) {
			lead = t
		}
	}
	return lead
}
