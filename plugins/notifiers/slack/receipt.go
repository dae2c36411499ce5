package main

import (
	"encoding/json"
	"time"

	"github.com/axsched/ax/pluginapi"
	"github.com/axsched/ax/plugins/internal/notice"
)

// thread is the first message about a task that has not recovered since.
type thread struct {
	channel string // id
	ts      string // how Slack names the message
	opened  time.Time
	first   notice.Notice
}

// receipt is an open thread as the host keeps it, so that it outlives the
// process and is known on all hosts.
type receipt struct {
	Target  string        `json:"target"` // the channel as the settings name it
	Channel string        `json:"channel"`
	TS      string        `json:"ts"`
	Opened  time.Time     `json:"opened"`
	First   notice.Notice `json:"first"`
}

// receiptOf writes a thread for the host. The words of the first message are cut
// to the room that there is.
func (b *bot) receiptOf(open thread) string {
	encode := func(first notice.Notice) []byte {
		raw, err := json.Marshal(receipt{b.cfg.Channel, open.channel, open.ts, open.opened, first})
		if err != nil { // a time beyond the year 9999
			return nil
		}
		return raw
	}
	first, fits := open.first.Shrink(func(n notice.Notice) bool { return len(encode(n)) <= pluginapi.MaxReceipt })
	if !fits {
		first = notice.Notice{Title: open.first.Title}
	}
	return string(encode(first))
}

// threadOf reads what receiptOf wrote, if it is for the channel of the settings.
func (b *bot) threadOf(text string) (thread, bool) {
	var r receipt
	if json.Unmarshal([]byte(text), &r) != nil || r.Target != b.cfg.Channel || r.Channel == "" || r.TS == "" {
		return thread{}, false
	}
	return thread{channel: r.Channel, ts: r.TS, opened: r.Opened, first: r.First}, true
}
