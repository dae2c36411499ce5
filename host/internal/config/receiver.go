package config

import (
	"time"

	"gopkg.in/yaml.v3"

	"github.com/axsched/ax/host/internal/ax"
)

// Receiver says how a notifier wants its messages.
type Receiver struct {
	Language string // en or zh
	// Title and Text are templates, empty for those of the language.
	Title, Text string
	// Timezone of the times in messages and of Quiet; empty for that of the task,
	// and UTC.
	Timezone string
	// Quiet is when it wants none; they come afterwards.
	Quiet []ax.Blackout
	// PerMinute bounds how many messages it gets, 0 = no limit.
	PerMinute int
}

const (
	defaultPerMinute = 20
	maxPerMinute     = 10_000
)

// receiverDraft is the part of a notifier that is not the plugin's, while it is
// read. Quiet hours wait until calendars are known.
type receiverDraft struct {
	Receiver
	component   component
	title, text *yaml.Node
	quiet       *yaml.Node
}

// rule takes in {use: NAME, with: {…}} and how messages are to be.
func (r *receiverDraft) rule() rule {
	return r.component.rule(
		field{"language", choice(&r.Language, "en", "zh")},
		field{"title", noting(text(&r.Title), &r.title)},
		field{"text", noting(text(&r.Text), &r.text)},
		field{"timezone", zone(&r.Timezone)},
		field{"quiet", later(blackouts(new([]ax.Blackout)), &r.quiet)},
		field{"per_minute", integer(&r.PerMinute, 0, maxPerMinute)},
	)
}

// takeReceiver takes in a notifier.
func (d *decoder) takeReceiver(r *receiverDraft, elem *rule, name, n *yaml.Node) {
	*r = receiverDraft{Receiver: Receiver{Language: "en", PerMinute: defaultPerMinute}}
	d.take(elem, "a notifier", n)
	for _, t := range []struct {
		key  string
		node *yaml.Node
	}{{"title", r.title}, {"text", r.text}} {
		if t.node == nil || d.options.CheckMessage == nil {
			continue
		}
		if err := d.options.CheckMessage(t.node.Value); err != nil {
			d.fault(t.node, "%s: %v", t.key, err)
		}
	}
	d.config.Receivers[name.Value] = r.Receiver
	if r.quiet != nil {
		d.quiets = append(d.quiets, quietDraft{d.source, name.Value, r.quiet})
	}
}

// quietDraft is the quiet hours of a notifier, to be read once calendars are
// known.
type quietDraft struct {
	source   *source
	notifier string
	node     *yaml.Node
}

// readQuiet reads the quiet hours of all notifiers.
func (l *loader) readQuiet() {
	for _, q := range l.quiets {
		d := &decoder{l, q.source}
		r := l.config.Receivers[q.notifier]
		rule := blackouts(&r.Quiet)
		d.take(&rule, "quiet", q.node)
		l.config.Receivers[q.notifier] = r
	}
	l.quiets = nil
}

// Zone returns the zone of the times in messages; nil for that of the task.
func (r *Receiver) Zone() *time.Location {
	if r.Timezone == "" {
		return nil
	}
	loc, err := time.LoadLocation(r.Timezone)
	if err != nil {
		return nil // it was checked when it was read
	}
	return loc
}
