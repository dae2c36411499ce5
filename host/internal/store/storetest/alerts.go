package storetest

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/axsched/ax/host/internal/ax"
)

var (
	alertTests = []test{
		{"save and replace", alertSave},
		{"filter", alertFilter},
	}
	auditTests = []test{
		{"write and page", auditPages},
	}
)

func (b *bed) newAlert() ax.AlertRow {
	return ax.AlertRow{
		ID: b.id(), App: app, TaskID: 7, Notifier: "ops", Event: "failed", State: ax.AlertOpen,
		WindowStart: noon, WindowEnd: noon.Add(10 * time.Minute), Count: 1, FirstAt: noon, LastAt: noon,
		Payload: json.RawMessage(`{"text":"坏了"}`), NextTryAt: noon,
	}
}

func (b *bed) alerts(f ax.AlertFilter) []ax.AlertRow {
	b.Helper()
	f.App = app
	rows, err := b.s.Alerts(b.Context(), f)
	b.must(err)
	return rows
}

func alertSave(b *bed) {
	row, other := b.newAlert(), b.newAlert()
	b.must(b.s.SaveAlerts(b.Context(), row, other))
	row.Count, row.LastAt, row.Attempts, row.LastError = 5, noon.Add(time.Minute), 2, "refused"
	row.Payload, row.State, row.NextTryAt = nil, ax.AlertFailed, time.Time{}
	b.must(b.s.SaveAlerts(b.Context(), row))
	b.must(b.s.SaveAlerts(b.Context()))
	equal(b, "alerts", b.alerts(ax.AlertFilter{}), []ax.AlertRow{other, row})
}

func alertFilter(b *bed) {
	old, other, sent := b.newAlert(), b.newAlert(), b.newAlert()
	old.WindowStart, old.WindowEnd = noon.Add(-time.Hour), noon.Add(-50*time.Minute)
	other.TaskID = 8
	sent.State, sent.WindowStart = ax.AlertSent, noon.Add(time.Minute)
	b.must(b.s.SaveAlerts(b.Context(), old, other, sent))
	for name, c := range map[string]struct {
		filter ax.AlertFilter
		want   []int64
	}{
		"all, newest window first": {ax.AlertFilter{}, []int64{sent.ID, other.ID, old.ID}},
		"task":                     {ax.AlertFilter{TaskID: 8}, []int64{other.ID}},
		"state":                    {ax.AlertFilter{States: []ax.AlertState{ax.AlertSent, ax.AlertGivenUp}}, []int64{sent.ID}},
		"window":                   {ax.AlertFilter{EndsAfter: noon}, []int64{sent.ID, other.ID}},
		"limit":                    {ax.AlertFilter{Limit: 1}, []int64{sent.ID}},
	} {
		var got []int64
		for _, r := range b.alerts(c.filter) {
			got = append(got, r.ID)
		}
		equal(b, name, got, c.want)
	}
}

func auditPages(b *bed) {
	for n := range 5 {
		b.must(b.s.Audit(b.Context(), ax.AuditRow{
			At: noon.Add(time.Duration(n) * time.Second), App: app, Actor: "eve", Action: "config.reload", Object: fmt.Sprint(n % 2),
			Detail: json.RawMessage(fmt.Sprintf(`{"n":%d}`, n)),
		}))
	}
	b.must(b.s.Audit(b.Context(), ax.AuditRow{At: noon, App: "other"}))
	var got []string
	f := ax.AuditFilter{App: app, Limit: 2}
	for {
		page, err := b.s.AuditTrail(b.Context(), f)
		b.must(err)
		if len(page) == 0 {
			break
		}
		for _, r := range page {
			got = append(got, string(r.Detail))
		}
		f.Before = page[len(page)-1].ID
	}
	equal(b, "trail", got, []string{`{"n":4}`, `{"n":3}`, `{"n":2}`, `{"n":1}`, `{"n":0}`})
	page, err := b.s.AuditTrail(b.Context(), ax.AuditFilter{App: app, Object: "1"})
	b.must(err)
	equal(b, "rows of one object", len(page), 2)
	equal(b, "time", page[0].At, noon.Add(3*time.Second))
}
