package alert

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/axsched/ax/host/internal/ax"
	"github.com/axsched/ax/pluginapi"
)

// row is a row of ax_alert with what its payload holds. WindowStart is when it
// began to gather, and WindowEnd when it is to leave or, once it was sent, when
// that was. Nothing more is sent of its task until a window after that.
type row struct {
	ax.AlertRow
	facts facts
	// msg is the message, once it leaves, and receipt what the notifier returned
	// last about the task.
	msg     pluginapi.Message
	receipt string
}

// payload is the content of AlertRow.Payload.
type payload struct {
	Message *pluginapi.Message `json:"message,omitempty"`
	Facts   facts              `json:"facts"`
	Receipt string             `json:"receipt,omitempty"`
}

func newRow(task *ax.Task, notifier string, id int64, now, leaves time.Time) *row {
	return &row{
		AlertRow: ax.AlertRow{
			ID: id, App: task.App, TaskID: task.ID, TaskName: task.Name, Notifier: notifier, State: ax.AlertOpen,
			WindowStart: now, WindowEnd: leaves, NextTryAt: leaves,
		},
		facts: facts{Zone: task.Schedule.Timezone},
	}
}

// loadRow makes a row of what the database has.
func loadRow(saved ax.AlertRow) (*row, error) {
	r := &row{AlertRow: saved}
	if len(saved.Payload) == 0 {
		return r, nil
	}
	var p payload
	if err := json.Unmarshal(saved.Payload, &p); err != nil {
		return nil, fmt.Errorf("decode alert %d: %w", saved.ID, err)
	}
	r.facts, r.receipt = p.Facts, p.Receipt
	if p.Message != nil {
		r.msg = *p.Message
	}
	return r, nil
}

// saved returns the row as it goes into the database.
func (r *row) saved() (ax.AlertRow, error) {
	p := payload{Facts: r.facts, Receipt: r.receipt}
	if r.msg.ID != "" {
		p.Message = &r.msg
	}
	raw, err := json.Marshal(p)
	if err != nil {
		return r.AlertRow, fmt.Errorf("encode alert %d: %w", r.ID, err)
	}
	r.Payload = raw
	return r.AlertRow, nil
}

// add gathers a telling.
func (r *row) add(t *telling) {
	r.facts.add(t)
	for _, tally := range t.tallies {
		if r.Count == 0 {
			r.FirstAt, r.LastAt = tally.First, tally.Last
		}
		r.Count += tally.Count
		r.FirstAt, r.LastAt = soonest(r.FirstAt, tally.First), newest(r.LastAt, tally.Last)
	}
	r.Event = r.facts.lead().Event
}

func (r *row) postpone(until time.Time) { r.NextTryAt, r.WindowEnd = until, until }

// leave marks the row as one that is being sent: from now on it does not change.
func (r *row) leave(now time.Time) {
	r.State, r.WindowEnd = ax.AlertSending, now
	r.NextTryAt = now.Add(deliveryTimeout + deliverySlack)
}

// MessageOf returns the message of a row that has left; false for one that
// gathers, or was told by another.
func MessageOf(r *ax.AlertRow) (pluginapi.Message, bool) {
	loaded, err := loadRow(*r)
	if err != nil || loaded.msg.ID == "" {
		return pluginapi.Message{}, false
	}
	return loaded.msg, true
}
