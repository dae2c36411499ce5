package config

import (
	"reflect"
	"testing"
	"time"

	"github.com/axsched/ax/host/internal/ax"
)

func TestAlerts(t *testing.T) {
	t.Parallel()
	c := loadGood(t)
	wantAlerts := Alerts{
		Window: 15 * time.Minute, Expire: 24 * time.Hour, To: []string{"ops"}, OverdueAfter: 2 * time.Minute,
		Heartbeat: Heartbeat{URL: "https://hc.example/ping", Every: 30 * time.Second},
	}
	if !reflect.DeepEqual(c.Alerts, wantAlerts) {
		t.Errorf("got\n%+v\nwant\n%+v", c.Alerts, wantAlerts)
	}
	wantOps := Receiver{
		Language: "zh", Title: "[{{.App}}] {{.Title}}", Text: "{{.Opening}}", Timezone: "Asia/Shanghai", PerMinute: 5,
		Quiet: []ax.Blackout{{From: 22 * time.Hour, To: 7 * time.Hour}, {To: 24 * time.Hour, Calendar: "china"}},
	}
	if got := c.Receivers["ops"]; !reflect.DeepEqual(got, wantOps) {
		t.Errorf("got\n%+v\nwant\n%+v", got, wantOps)
	}
	if got, want := c.Receivers["nobody"], (Receiver{Language: "en", PerMinute: 20}); !reflect.DeepEqual(got, want) {
		t.Errorf("got\n%+v\nwant\n%+v", got, want)
	}
}

// TestNotifyOfGroups: a task's own words count most, then those of its group,
// then the defaults, key by key.
func TestNotifyOfGroups(t *testing.T) {
	t.Parallel()
	c := load(t, map[string]string{"config.yaml": `
app: a
defaults: {group: rest, notify: {to: ops, after: 2}}
alerts: {groups: {billing: {to: [money, ops], on: [failed]}, rest: {after: 5}}}
notifiers: {ops: {use: log}, money: {use: log}}
tasks:
  - {name: in-group, group: billing, every: 1h, job: {use: exec}}
  - {name: own-words, group: billing, every: 1h, job: {use: exec}, notify: {to: ops}}
  - {name: default-group, every: 1h, job: {use: exec}}
  - {name: no-such-group, group: other, every: 1h, job: {use: exec}}
`})
	all := []string{"failed", "timeout", "lost", "slow", "late", "overdue", "parked", "recovered"}
	want := map[string]ax.Notify{
		"in-group":      {To: []string{"money", "ops"}, On: []string{"failed"}, After: 2},
		"own-words":     {To: []string{"ops"}, On: []string{"failed"}, After: 2},
		"default-group": {To: []string{"ops"}, On: all, After: 5},
		"no-such-group": {To: []string{"ops"}, On: all, After: 2},
	}
	for i := range c.Tasks {
		if got := c.Tasks[i].Notify; !reflect.DeepEqual(got, want[c.Tasks[i].Name]) {
			t.Errorf("%s: got %+v, want %+v", c.Tasks[i].Name, got, want[c.Tasks[i].Name])
		}
	}
}
