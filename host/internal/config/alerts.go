package config

import (
	"net/url"
	"time"

	"gopkg.in/yaml.v3"

	"github.com/axsched/ax/host/internal/ax"
)

// Alerts says how people are told.
type Alerts struct {
	// Window is the time within which a notifier gets at most one message about a
	// task, Gather how long the first one waits for others that say the same.
	Window, Gather time.Duration
	// MergeFrom is how many tasks must say the same for one message, 0 = never.
	MergeFrom int
	// Expire is how long the delivery of a message is tried.
	Expire time.Duration
	// To names the notifiers that hear of plugins and hosts.
	To []string
	// OverdueAfter is how long a due time may be without a record, 0 = for ever.
	OverdueAfter time.Duration
	Heartbeat    Heartbeat
}

// Heartbeat says which URL is called regularly while all is well.
type Heartbeat struct {
	URL   string // empty for none
	Every time.Duration
}

// Defaults and bounds of alerts.
const (
	defaultAlertWindow  = 10 * time.Minute
	defaultAlertGather  = 2 * time.Second
	defaultMergeFrom    = 3
	defaultAlertExpire  = 48 * time.Hour
	defaultOverdueAfter = time.Minute
	defaultBeat         = time.Minute
	maxMergeFrom        = 1000
)

// alertsDraft is alerts: while its keys are read. Names of notifiers wait until
// these are known.
type alertsDraft struct {
	to       *Alerts
	groups   *yaml.Node
	receives *yaml.Node // to
	beat     *yaml.Node // heartbeat.url
}

func defaultAlerts() Alerts {
	return Alerts{
		Window: defaultAlertWindow, Gather: defaultAlertGather, MergeFrom: defaultMergeFrom, Expire: defaultAlertExpire,
		OverdueAfter: defaultOverdueAfter, Heartbeat: Heartbeat{Every: defaultBeat},
	}
}

func (a *alertsDraft) rule() rule {
	fields := []field{
		{"to", noting(words(&a.to.To), &a.receives)},
		{"window", duration(&a.to.Window, time.Second)},
		{"gather", duration(&a.to.Gather, 0)},
		{"merge_from", integer(&a.to.MergeFrom, 0, maxMergeFrom)},
		{"expire", duration(&a.to.Expire, time.Minute)},
		{"overdue_after", duration(&a.to.OverdueAfter, 0)},
		{"heartbeat", section("heartbeat",
			field{"url", noting(text(&a.to.Heartbeat.URL), &a.beat)},
			field{"every", duration(&a.to.Heartbeat.Every, time.Second)})},
		{"groups", later(named(new(taskDraft).notifyRule()), &a.groups)},
	}
	return section("alerts", fields...)
}

// finishAlerts checks what needs to know the notifiers.
func (d *decoder) finishAlerts(a *alertsDraft) {
	for _, receiver := range a.to.To {
		d.checkReceiver("to", a.receives, receiver)
	}
	if a.beat == nil {
		return
	}
	u, err := url.Parse(a.to.Heartbeat.URL)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		d.fault(a.beat, "url: expected a URL such as https://example.com/ping/ax, got %s", d.show(a.beat))
	}
}

// groupNotify returns what groups of tasks say about notify, by their names; base
// is what they begin with.
func (d *decoder) groupNotify(groups *yaml.Node, base ax.Notify) map[string]ax.Notify {
	all := map[string]ax.Notify{}
	var draft taskDraft
	r := draft.notifyRule()
	d.eachNamed("groups", groups, func(key, value *yaml.Node) {
		draft.Notify = base
		d.take(&r, "groups."+key.Value, value)
		for _, receiver := range draft.Notify.To {
			d.checkReceiver("groups."+key.Value, value, receiver)
		}
		all[key.Value] = draft.Notify
	})
	return all
}

// checkReceiver looks the name of a notifier up, which stands in or below a node.
func (d *decoder) checkReceiver(key string, n *yaml.Node, receiver string) {
	if _, ok := d.notifiers[receiver]; !ok && n != nil {
		d.unknownName(key, findText(n, receiver), "notifier", receiver, sortedKeys(d.notifiers))
	}
}

// groupOf returns the group that a task, which is not read yet, belongs to.
func groupOf(task *yaml.Node, otherwise string) string {
	for _, p := range pairs(task) {
		if p.key.Value == "group" {
			return p.value.Value
		}
	}
	return otherwise
}
