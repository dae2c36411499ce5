package storetest

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/axsched/ax/host/internal/ax"
	"github.com/axsched/ax/host/internal/store"
)

var (
	alertTests = []test{
		{"save and replace", alertSave},
		{"pending, sent, failed, given up", alertOutbox},
		{"filter", alertFilter},
	}
	auditTests = []test{
		{"write and page", auditPages},
	}
)

func (b *bed) newAlert(next time.Duration) ax.AlertRow {
	return ax.AlertRow{
		ID: b.id(), App: app, TaskID: 7, Notifier: "ops", Event: "failed", State: ax.AlertOpen,
		WindowStart: noon, WindowEnd: noon.Add(10 * time.Minute), Count: 1, FirstAt: noon, LastAt: noon,
		Payload: json.RawMessage(`{"text":"坏了"}`), NextTryAt: noon.Add(next),
	}
}

func (b *bed) alerts(f ax.AlertFilter) []ax.AlertRow {
	b.Helper()
	f.App = app
	rows, err := b.s.Alerts(b.Context(), f)
	b.must(err)
	return rows
}

func (b *bed) pending(at time.Duration) []int64 {
	b.Helper()
	rows, err := b.s.PendingAlerts(b.Context(), app, noon.Add(at), 10)
	b.must(err)
	ids := []int64{}
	for _, r := range rows {
		ids = append(ids, r.ID)
	}
	return ids
}

func alertSave(b *bed) {
	row, other := b.newAlert(0), b.newAlert(0)
	b.must(b.s.SaveAlerts(b.Context(), row, other))
	row.Count, row.LastAt, row.Attempts, row.LastError = 5, noon.Add(time.Minute), 2, "refused"
	row.Payload, row.State, row.NextTryAt = nil, ax.AlertFailed, time.Time{}
	b.must(b.s.SaveAlerts(b.Context(), row))
	b.must(b.s.SaveAlerts(b.Context()))
	equal(b, "alerts", b.alerts(ax.AlertFilter{}), []ax.AlertRow{other, row})
}

func alertOutbox(b *bed) {
	late, soon, early := b.newAlert(2*time.Minute), b.newAlert(time.Minute), b.newAlert(0)
	foreign := b.newAlert(0)
	foreign.App = "other"
	b.must(b.s.SaveAlerts(b.Context(), late, soon, early, foreign))
	equal(b, "pending before", b.pending(-time.Second), []int64{})
	equal(b, "pending, longest waiting first", b.pending(time.Minute), []int64{early.ID, soon.ID})

	b.must(b.s.MarkSent(b.Context(), early.ID))
	b.must(b.s.MarkFailed(b.Context(), soon.ID, "451", noon.Add(5*time.Minute)))
	b.must(b.s.MarkFailed(b.Context(), late.ID, "550", time.Time{}))
	equal(b, "pending then", b.pending(4*time.Minute), []int64{})
	equal(b, "pending later", b.pending(5*time.Minute), []int64{soon.ID})
	b.must(b.s.MarkSent(b.Context(), soon.ID))

	states := map[int64]string{}
	for _, r := range b.alerts(ax.AlertFilter{}) {
		states[r.ID] = fmt.Sprintf("%s %d %s", r.State, r.Attempts, r.LastError)
	}
	equal(b, "states", states, map[int64]string{early.ID: "sent 1 ", soon.ID: "sent 2 ", late.ID: "given_up 1 550"})
	b.wantErr(b.s.MarkSent(b.Context(), 42), store.ErrNotFound)
	b.wantErr(b.s.MarkFailed(b.Context(), 42, "", noon), store.ErrNotFound)
}

func alertFilter(b *bed) {
	old, other, sent := b.newAlert(0), b.newAlert(0), b.newAlert(0)
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
