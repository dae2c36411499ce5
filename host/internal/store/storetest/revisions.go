package storetest

import (
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/axsched/ax/host/internal/ax"
	"github.com/axsched/ax/host/internal/store"
)

// taskRevisions: a task is made only if there is none, and replaced or deleted
// only in the revision that the caller knows; the audit trail tells both sides.
func taskRevisions(b *bed) {
	row := Task(app, "t", noon)
	row.Source = ax.SourceConsole
	apply := func(seen int64, description string, remove bool) error {
		p := store.ApplyParams{
			App: app, Actor: "ann", Now: noon, Revisions: map[ax.TaskID]int64{row.ID: seen},
			Shown: func(d json.RawMessage) json.RawMessage {
				return json.RawMessage(strings.ReplaceAll(string(d), "hush", "[secret]"))
			},
		}
		if row.Description = description; remove {
			p.Delete = []ax.TaskID{row.ID}
		} else {
			p.Upsert = []ax.TaskRow{row}
		}
		return b.s.ApplyTasks(b.Context(), p)
	}
	b.wantErr(apply(1, "too early", false), ax.ErrRevised)
	b.wantErr(apply(1, "", true), ax.ErrRevised)
	b.must(apply(0, "first hush", false))
	b.wantErr(apply(0, "again", false), ax.ErrRevised)
	b.must(apply(1, "second", false))
	b.wantErr(apply(1, "late", false), ax.ErrRevised)
	b.wantErr(apply(1, "", true), ax.ErrRevised)
	equal(b, "description", b.task("t").Description, "second")
	b.must(apply(2, "", true))
	b.must(apply(0, "anew", false))
	equal(b, "revision", b.task("t").Revision, 3)
	trail, err := b.s.AuditTrail(b.Context(), ax.AuditFilter{App: app, Object: "t"})
	b.must(err)
	var all []string
	for _, audit := range trail {
		var detail struct{ Before, After struct{ Description string } }
		b.must(json.Unmarshal(audit.Detail, &detail))
		all = append(all, audit.Action+" "+detail.Before.Description+" -> "+detail.After.Description)
	}
	equal(b, "audit trail", all, []string{
		"task.create  -> anew", "task.delete second -> ", "task.update first [secret] -> second", "task.create  -> first [secret]",
	})
}

// raceRevisions: of those who edit the same revision one wins, on whichever host.
func raceRevisions(b *bed) {
	row := Task(app, "t", noon)
	b.apply(row)
	const editors = 8
	var won, lost atomic.Int32
	var wait sync.WaitGroup
	for i := range editors {
		s := b.s
		if i%2 == 1 {
			s = OpenWith(b.T, b.options)
		}
		wait.Go(func() {
			mine := row
			mine.Description = strings.Repeat("x", i+1)
			err := s.ApplyTasks(b.Context(), store.ApplyParams{
				App: app, Actor: "ann", Now: noon, Upsert: []ax.TaskRow{mine}, Revisions: map[ax.TaskID]int64{row.ID: 1},
			})
			switch {
			case err == nil:
				won.Add(1)
			case errors.Is(err, ax.ErrRevised), errors.Is(err, ax.ErrMoved):
				lost.Add(1)
			default:
				b.Error(err)
			}
		})
	}
	wait.Wait()
	equal(b, "winners", won.Load(), 1)
	equal(b, "losers", lost.Load(), editors-1)
	equal(b, "revision", b.task("t").Revision, 2)
}

var requestTests = []test{
	{"a key is for one instance", requestOnce},
	{"a key that is a day old can be used again", requestAgain},
	{"keys of one batch", requestBatch},
}

// submit hands in a change and waits for what becomes of it.
func (b *bed) submit(c ax.Change) error {
	result := make(chan error, 1)
	c.Done = func(_ bool, err error) { result <- err }
	b.s.Submit(c)
	return <-result
}

func (b *bed) manual(key string, at time.Time) ax.Change {
	inst := ax.Instance{
		ID: ax.InstanceID(b.id()), App: app, TaskID: 7, TaskName: "t", ScheduledAt: at, CreatedAt: at,
		Kind: ax.KindManual, Status: ax.StatusTriggered,
	}
	return ax.Change{
		Insert:  []ax.Instance{inst},
		Events:  []ax.Event{{ID: b.id(), InstanceID: inst.ID, At: at, Stage: ax.StageTriggerReady, Level: "info", Text: "x"}},
		Request: &ax.Request{App: app, Key: key, Digest: "d", Instance: inst.ID, At: at},
	}
}

func requestOnce(b *bed) {
	_, err := b.s.Request(b.Context(), app, "order 7", noon)
	b.wantErr(err, store.ErrNotFound)
	first, second, other := b.manual("order 7", noon), b.manual("order 7", noon.Add(time.Second)), b.manual("Order 7", noon.Add(2*time.Second))
	b.must(b.submit(first))
	b.wantErr(b.submit(second), ax.ErrRepeated)
	b.must(b.submit(other))
	got, err := b.s.Request(b.Context(), app, "order 7", noon)
	b.must(err)
	equal(b, "request", got, *first.Request)
	_, err = b.s.Instance(b.Context(), second.Insert[0].ID)
	b.wantErr(err, store.ErrNotFound)
	_, err = b.s.Request(b.Context(), "other", "order 7", noon)
	b.wantErr(err, store.ErrNotFound)
}

func requestAgain(b *bed) {
	b.must(b.submit(b.manual("k", noon)))
	_, err := b.s.Request(b.Context(), app, "k", noon.Add(time.Hour))
	b.wantErr(err, store.ErrNotFound)
	b.must(b.submit(b.manual("k", noon.Add(time.Hour))))
	b.must(b.submit(b.manual("young", noon.Add(2*time.Hour))))
	n, err := b.s.PurgeRequests(b.Context(), app, noon.Add(90*time.Minute), 10)
	b.must(err)
	equal(b, "keys deleted", n, 1)
	_, err = b.s.Request(b.Context(), app, "young", noon)
	b.must(err)
}

// requestBatch: changes with the same key in one transaction do not spoil others.
func requestBatch(b *bed) {
	var changes []ax.Change
	results := make(chan error, 30)
	for i := range 30 {
		c := b.manual("key "+string(rune('a'+i%10)), noon.Add(time.Duration(i)*time.Second))
		c.Done = func(_ bool, err error) { results <- err }
		changes = append(changes, c)
	}
	b.s.SubmitAll(changes)
	good := 0
	for range changes {
		if err := <-results; err == nil {
			good++
		} else {
			b.wantErr(err, ax.ErrRepeated)
		}
	}
	equal(b, "written", good, 10)
}
