package storetest

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/axsched/ax/host/internal/ax"
	"github.com/axsched/ax/host/internal/store"
)

var lifecycleTests = []test{
	{"what was written is there after reopening", lifecycleReopen},
	{"close answers everything submitted before", lifecycleCloseBusy},
	{"prefixes keep sets of tables apart", lifecyclePrefix},
	{"schema check", lifecycleSchema},
	{"canceled contexts", lifecycleCanceled},
	{"clock", lifecycleClock},
}

func lifecycleReopen(b *bed) {
	row, i := fullTask(), fullInstance(b)
	b.apply(row)
	b.insert(i)
	b.must(b.s.Close())
	b.must(b.s.Close())
	b.wantErr(b.write(ax.Change{}).err, store.ErrClosed)
	if _, err := b.s.Tasks(b.Context(), app); err == nil {
		b.Error("a closed store reads")
	}
	b.s = OpenWith(b.T, b.options)
	equal(b, "state", b.task(row.Name).TaskState, row.TaskState)
	equal(b, "instance", b.instance(i.ID), i)
}

func lifecycleCloseBusy(b *bed) {
	const senders, each = 8, 500
	var applied, closed, other atomic.Int64
	started := make(chan struct{}, senders)
	done := make(chan struct{}, senders)
	for range senders {
		go func() {
			for n := range each {
				b.s.Submit(ax.Change{
					Events: []ax.Event{{ID: b.id(), InstanceID: 1, At: noon, Stage: ax.StageOutput}},
					Done: func(ok bool, err error) {
						switch {
						case ok && err == nil:
							applied.Add(1)
						case errors.Is(err, store.ErrClosed):
							closed.Add(1)
						default:
							other.Add(1)
						}
					},
				})
				if n == each/4 {
					started <- struct{}{}
				}
			}
			done <- struct{}{}
		}()
	}
	<-started
	b.must(b.s.Close())
	for range senders {
		<-done
	}
	equal(b, "answers", applied.Load()+closed.Load(), senders*each)
	equal(b, "other answers", other.Load(), 0)
	b.s = OpenWith(b.T, b.options)
	events, err := b.s.Events(b.Context(), ax.EventFilter{Instance: 1, Limit: senders * each})
	b.must(err)
	equal(b, "events in the database", int64(len(events)), applied.Load())
}

func lifecyclePrefix(b *bed) {
	o := b.options
	o.Prefix = "second_"
	second := &bed{T: b.T, options: o, s: OpenWith(b.T, o), ids: b.ids}
	b.apply(Task(app, "t", noon))
	i := b.newInstance("t", 0)
	b.insert(i)
	tasks, err := second.s.Tasks(b.Context(), app)
	b.must(err)
	equal(b, "tasks of the other prefix", len(tasks), 0)
	second.apply(Task(app, "t", noon.Add(time.Hour)))
	second.insert(i)
	equal(b, "next", b.task("t").NextAt, noon)

	for _, wrong := range []string{"Ax_", "1x", "a-b", "x; DROP TABLE ax_task; --"} {
		o.Prefix = wrong
		if s, err := store.Open(b.Context(), o); err == nil {
			s.Close()
			b.Errorf("prefix %q was taken", wrong)
		}
	}
}

func lifecycleSchema(b *bed) {
	b.must(b.s.CheckSchema(b.Context()))
	report, err := b.s.Migrate(b.Context())
	b.must(err)
	equal(b, "files applied by a second call", len(report.Applied), 0)
	equal(b, "version", report.From, report.To)
	o := b.options
	o.Prefix = "empty_"
	s, err := store.Open(b.Context(), o)
	b.must(err)
	defer s.Close()
	b.wantErr(s.CheckSchema(b.Context()), store.ErrSchemaOld)
	// A change without tables is answered, with an error, at once.
	if v := <-submit(s, ax.Change{Insert: []ax.Instance{b.newInstance("t", 0)}}); v.err == nil || v.applied {
		b.Errorf("change without a schema: %v", v)
	}
}

func lifecycleCanceled(b *bed) {
	b.apply(Task(app, "t", noon))
	ctx, cancel := context.WithCancel(b.Context())
	cancel()
	_, err := b.s.Tasks(ctx, app)
	b.wantErr(err, context.Canceled)
	_, err = b.s.Instances(ctx, ax.InstanceFilter{})
	b.wantErr(err, context.Canceled)
	err = b.s.ApplyTasks(ctx, store.ApplyParams{App: app, Now: noon, Upsert: []ax.TaskRow{Task(app, "u", noon)}})
	b.wantErr(err, context.Canceled)
	b.wantErr(b.s.Audit(ctx, ax.AuditRow{At: noon, App: app}), context.Canceled)

	// A context that ends in the middle of a large transaction leaves nothing
	// of it, and a connection that works.
	rows := make([]ax.TaskRow, 1000)
	for n := range rows {
		rows[n] = Task(app, "many-"+time.Duration(n).String(), noon)
	}
	cut := 0
	for wait := 100 * time.Microsecond; ; wait *= 3 {
		ctx, cancel := context.WithTimeout(b.Context(), wait)
		err := b.s.ApplyTasks(ctx, store.ApplyParams{App: app, Now: noon, Upsert: rows})
		cancel()
		tasks, readErr := b.s.Tasks(b.Context(), app)
		b.must(readErr)
		if err == nil {
			equal(b, "tasks", len(tasks), len(rows)+1)
			break
		}
		cut++
		b.wantErr(err, context.DeadlineExceeded)
		equal(b, "tasks after a call that was cut short", len(tasks), 1)
		b.insert(b.newInstance("t", wait))
	}
	if cut == 0 {
		b.Error("no call was cut short")
	}
}

func lifecycleClock(b *bed) {
	first, err := b.s.Now(b.Context())
	b.must(err)
	second, err := b.s.Now(b.Context())
	b.must(err)
	if second.Before(first) || first.Location() != time.UTC || time.Since(first).Abs() > time.Hour {
		b.Errorf("clock of the database: %v, then %v", first, second)
	}
}
