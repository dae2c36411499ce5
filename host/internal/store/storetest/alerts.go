package storetest

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/axsched/ax/host/internal/ax"
)

var (
	alertTests = []test{
		{"write and write over", alertWrite},
		{"write over what somebody else has written", alertMoved},
		{"filter", alertFilter},
		{"turns", alertTurns},
		{"what was told", alertTold},
		{"dead letters", alertDeadLetters},
		{"lease", alertLease},
		{"silences", alertSilences},
	}
	auditTests = []test{
		{"write and page", auditPages},
	}
)

func (b *bed) newAlert() ax.AlertRow {
	return ax.AlertRow{
		ID: b.id(), App: app, TaskID: 7, TaskName: "对账", Notifier: "ops", Event: "failed", State: ax.AlertOpen,
		WindowStart: noon, WindowEnd: noon.Add(10 * time.Minute), Count: 1, FirstAt: noon, LastAt: noon,
		Payload: json.RawMessage(`{"text":"坏了"}`), NextTryAt: noon,
	}
}

// takeLease takes the lease of the alerts from whoever has it.
func (b *bed) takeLease() ax.AlertLease {
	b.Helper()
	l, ok, err := b.s.TakeAlertLease(b.Context(), app, "h1", time.Hour, true)
	b.must(err)
	if !ok {
		b.Fatal("the lease was not given")
	}
	return l
}

// writeAlerts writes rows, and returns them as they are from then on.
func (b *bed) writeAlerts(rows ...ax.AlertRow) []ax.AlertRow {
	b.Helper()
	b.must(b.s.WriteAlerts(b.Context(), ax.AlertBatch{Lease: b.takeLease(), TTL: time.Hour, Rows: rows}))
	for i := range rows {
		rows[i].Version++
	}
	return rows
}

func (b *bed) alerts(f ax.AlertFilter) []ax.AlertRow {
	b.Helper()
	f.App = app
	rows, err := b.s.Alerts(b.Context(), f)
	b.must(err)
	return rows
}

func alertWrite(b *bed) {
	rows := b.writeAlerts(b.newAlert(), b.newAlert())
	row := rows[0]
	row.Count, row.LastAt, row.Attempts, row.LastError = 5, noon.Add(time.Minute), 2, "refused"
	row.Payload, row.State, row.NextTryAt, row.Digest = nil, ax.AlertFailed, time.Time{}, "failed-1"
	row = b.writeAlerts(row)[0]
	b.writeAlerts()
	equal(b, "alerts", b.alerts(ax.AlertFilter{}), []ax.AlertRow{rows[1], row})
	got, err := b.s.Alert(b.Context(), app, row.ID)
	b.must(err)
	equal(b, "alert", got, row)
	_, err = b.s.Alert(b.Context(), "other", row.ID)
	b.wantErr(err, ax.ErrNotFound)
}

func alertMoved(b *bed) {
	row := b.writeAlerts(b.newAlert())[0]
	b.writeAlerts(row)
	other := b.newAlert()
	lease := b.takeLease()
	err := b.s.WriteAlerts(b.Context(), ax.AlertBatch{Lease: lease, Rows: []ax.AlertRow{other, row}})
	b.wantErr(err, ax.ErrMoved)
	err = b.s.WriteAlerts(b.Context(), ax.AlertBatch{Lease: lease, Rows: []ax.AlertRow{other}, Events: []int64{99}})
	b.wantErr(err, ax.ErrMoved)
	equal(b, "alerts", len(b.alerts(ax.AlertFilter{})), 1) // all or nothing
}

func alertFilter(b *bed) {
	old, other, sent := b.newAlert(), b.newAlert(), b.newAlert()
	old.WindowStart, old.WindowEnd = noon.Add(-time.Hour), noon.Add(-50*time.Minute)
	other.TaskID, other.Notifier = 8, "dev"
	sent.State, sent.WindowStart = ax.AlertSent, noon.Add(time.Minute)
	b.writeAlerts(old, other, sent)
	for name, c := range map[string]struct {
		filter ax.AlertFilter
		want   []int64
	}{
		"all, newest window first": {ax.AlertFilter{}, []int64{sent.ID, other.ID, old.ID}},
		"task":                     {ax.AlertFilter{TaskID: 8}, []int64{other.ID}},
		"name":                     {ax.AlertFilter{Task: "对账"}, []int64{sent.ID, other.ID, old.ID}},
		"no such name":             {ax.AlertFilter{Task: "t"}, nil},
		"notifier":                 {ax.AlertFilter{Notifier: "ops"}, []int64{sent.ID, old.ID}},
		"state":                    {ax.AlertFilter{States: []ax.AlertState{ax.AlertSent, ax.AlertGivenUp}}, []int64{sent.ID}},
		"window":                   {ax.AlertFilter{EndsAfter: noon}, []int64{sent.ID, other.ID}},
		"page":                     {ax.AlertFilter{Before: sent.ID}, []int64{other.ID, old.ID}},
		"limit":                    {ax.AlertFilter{Limit: 1}, []int64{sent.ID}},
	} {
		var got []int64
		for _, r := range b.alerts(c.filter) {
			got = append(got, r.ID)
		}
		equal(b, name, got, c.want)
	}
}

func alertTurns(b *bed) {
	first, second, dev, merged, sent := b.newAlert(), b.newAlert(), b.newAlert(), b.newAlert(), b.newAlert()
	second.NextTryAt, second.State, second.TaskID = noon.Add(time.Minute), ax.AlertFailed, 8
	dev.Notifier, dev.NextTryAt = "dev", noon.Add(time.Hour)
	merged.State, merged.MergedInto, merged.NextTryAt = ax.AlertSending, second.ID, noon.Add(-time.Hour)
	sent.State, sent.NextTryAt, sent.WindowEnd = ax.AlertSent, time.Time{}, noon.Add(-time.Hour)
	b.writeAlerts(first, second, dev, merged, sent)
	turns, err := b.s.AlertTurns(b.Context(), app)
	b.must(err)
	equal(b, "turns", turns, map[string]time.Time{"ops": noon, "dev": noon.Add(time.Hour)})
	due, err := b.s.DueAlerts(b.Context(), app, "ops", noon.Add(time.Minute), 10)
	b.must(err)
	equal(b, "due", ids(due), []int64{first.ID, second.ID})
	rows, err := b.s.TaskAlerts(b.Context(), app, []ax.TaskID{7, 99}, noon)
	b.must(err)
	equal(b, "of a task", ids(rows), []int64{first.ID, dev.ID, merged.ID})
	dead := b.newAlert()
	dead.Notifier, dead.State, dead.WindowEnd = "old", ax.AlertGivenUp, noon.Add(-time.Hour)
	b.writeAlerts(dead)
	queues, err := b.s.AlertQueues(b.Context(), app)
	b.must(err)
	equal(b, "queues", queues, []ax.AlertQueue{
		{Notifier: "dev", Waiting: 1, Since: dev.WindowEnd}, {Notifier: "old", Dead: 1}, {Notifier: "ops", Waiting: 2, Since: first.WindowEnd},
	})

	b.must(b.s.AdvanceAlerts(b.Context(), app, noon, noon.Add(time.Minute)))
	turns, err = b.s.AlertTurns(b.Context(), app)
	b.must(err)
	equal(b, "turn of what waited longer", turns["dev"], noon)
}

func ids(rows []ax.AlertRow) []int64 {
	var list []int64
	for i := range rows {
		list = append(list, rows[i].ID)
	}
	return list
}

func alertTold(b *bed) {
	carrier, other, gathers := b.newAlert(), b.newAlert(), b.newAlert()
	carrier.State, carrier.Digest, carrier.WindowEnd, carrier.NextTryAt = ax.AlertSending, "failed-1", noon, noon.Add(time.Minute)
	other.State, other.Digest, other.MergedInto, other.TaskID, other.WindowEnd = ax.AlertSending, "failed-1", carrier.ID, 8, noon
	b.writeAlerts(carrier, other, gathers)
	told, err := b.s.ToldAlerts(b.Context(), app, "ops", noon.Add(-time.Second))
	b.must(err)
	equal(b, "told", ids(told), []int64{carrier.ID, other.ID})
	b.must(b.s.WakeAlerts(b.Context(), app, noon))
	due, err := b.s.DueAlerts(b.Context(), app, "ops", noon, 10)
	b.must(err)
	equal(b, "due after the death of the sender", ids(due), []int64{carrier.ID, gathers.ID})

	at := noon.Add(time.Minute)
	b.must(b.s.WriteAlerts(b.Context(), ax.AlertBatch{
		Lease: b.takeLease(), Merged: []ax.AlertMerge{{Into: carrier.ID, State: ax.AlertMerged, At: at}},
		Notifiers: []ax.AlertNotifier{{App: app, Name: "ops", FailingSince: noon, Failures: 3, NextTryAt: at, LastError: "拒绝"}},
	}))
	got, err := b.s.Alert(b.Context(), app, other.ID)
	b.must(err)
	equal(b, "state of what was merged", got.State, ax.AlertMerged)
	equal(b, "its time", got.WindowEnd, at)
	want := ax.AlertNotifier{App: app, Name: "ops", SentAt: at}
	b.must(b.s.WriteAlerts(b.Context(), ax.AlertBatch{Lease: b.takeLease(), Notifiers: []ax.AlertNotifier{want}}))
	notifiers, err := b.s.AlertNotifiers(b.Context(), app)
	b.must(err)
	equal(b, "notifiers", notifiers, []ax.AlertNotifier{want})
}

func alertDeadLetters(b *bed) {
	row := b.newAlert()
	row.State, row.Attempts, row.NextTryAt = ax.AlertGivenUp, 5, time.Time{}
	b.writeAlerts(row)
	later := noon.Add(time.Hour)
	b.must(b.s.ResendAlert(b.Context(), app, row.ID, later))
	got, err := b.s.Alert(b.Context(), app, row.ID)
	b.must(err)
	if got.State != ax.AlertFailed || got.Attempts != 0 || !got.NextTryAt.Equal(later) {
		b.Errorf("after it was asked for again: %+v", got)
	}
	b.wantErr(b.s.ResendAlert(b.Context(), app, row.ID, later), ax.ErrNotFound)
	b.wantErr(b.s.DropAlert(b.Context(), app, row.ID), ax.ErrNotFound)
	got.State = ax.AlertGivenUp
	b.writeAlerts(got)
	b.wantErr(b.s.DropAlert(b.Context(), "other", row.ID), ax.ErrNotFound)
	b.must(b.s.DropAlert(b.Context(), app, row.ID))
	equal(b, "dropped", len(b.alerts(ax.AlertFilter{States: []ax.AlertState{ax.AlertDropped}})), 1)
}

func alertLease(b *bed) {
	take := func(owner string, ttl time.Duration, dead bool) (ax.AlertLease, bool) {
		b.Helper()
		l, ok, err := b.s.TakeAlertLease(b.Context(), app, owner, ttl, dead)
		b.must(err)
		return l, ok
	}
	first, ok := take("h1", time.Hour, false)
	equal(b, "first", ok, true)
	held, ok := take("h2", time.Hour, false)
	equal(b, "of another", ok, false)
	equal(b, "holder", held.Owner, "h1")
	second, ok := take("h2", time.Hour, true)
	equal(b, "of the dead", ok, true)
	b.wantErr(b.s.WriteAlerts(b.Context(), ax.AlertBatch{Lease: first, Rows: []ax.AlertRow{b.newAlert()}}), ax.ErrLeaseLost)
	equal(b, "rows of who has lost it", len(b.alerts(ax.AlertFilter{})), 0)
	b.must(b.s.WriteAlerts(b.Context(), ax.AlertBatch{Lease: second, TTL: -time.Hour})) // its time is over
	third, ok := take("h3", time.Hour, false)
	equal(b, "after its time", ok, true)
	b.must(b.s.LeaveAlertLease(b.Context(), second)) // no longer its own
	_, ok = take("h1", time.Hour, false)
	equal(b, "left by somebody else", ok, false)
	b.must(b.s.LeaveAlertLease(b.Context(), third))
	_, ok = take("h1", time.Hour, false)
	equal(b, "left by its holder", ok, true)
}

func alertSilences(b *bed) {
	over := ax.AlertSilence{ID: b.id(), App: app, Until: noon, At: noon.Add(-time.Hour), By: "ann"}
	long := ax.AlertSilence{ID: b.id(), App: app, Task: "对账", Notifier: "ops", Until: noon.Add(time.Hour), Reason: "维护", At: noon, By: "ann"}
	for _, m := range []ax.AlertSilence{over, long} {
		b.must(b.s.Silence(b.Context(), m))
	}
	got, err := b.s.Silences(b.Context(), app, noon)
	b.must(err)
	equal(b, "silences", got, []ax.AlertSilence{long})
	b.must(b.s.EndSilence(b.Context(), app, long.ID))
	b.wantErr(b.s.EndSilence(b.Context(), app, long.ID), ax.ErrNotFound)
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
