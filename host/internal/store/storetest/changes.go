package storetest

import (
	"encoding/json"
	"errors"
	"strings"
	"time"

	"github.com/axsched/ax/host/internal/ax"
	"github.com/axsched/ax/host/internal/store"
)

var changeTests = []test{
	{"instance round trip", changeInstance},
	{"long texts are cut", changeLimits},
	{"empty and without Done", changeEmpty},
	{"many rows in one change", changeManyRows},
	{"insert and move in one batch", changeSequence},
	{"duplicate due time", changeDuplicate},
	{"used id", changeUsedID},
	{"a bad change hurts only itself", changeIsolation},
	{"mistakes of the program", changeMistakes},
	{"answers come in order", changeOrder},
}

func fullInstance(b *bed) ax.Instance {
	i := b.newInstance("对账", 0)
	i.Kind, i.Shard, i.Shards, i.Attempt, i.Fence = ax.KindBackfill, 3, 4, 2, 7
	i.Reason, i.Missed, i.MissedUntil, i.TraceID = "因为", 5, noon.Add(time.Hour), "abc"
	i.Params, i.ParamsBound = json.RawMessage(`{"a": "<b>"}`), true
	i.EndedAt, i.RetryAt = noon.Add(time.Second), noon.Add(time.Minute)
	i.Deferred, i.CallbackHash, i.DeadlineAt = true, "00ff", noon.Add(2*time.Hour)
	i.Message, i.Error, i.Data = "完成", "stack", json.RawMessage(`[1, "二"]`)
	return i
}

func changeInstance(b *bed) {
	i := fullInstance(b)
	b.insert(i)
	equal(b, "inserted", b.instance(i.ID), i)

	bare := ax.Instance{ID: ax.InstanceID(b.id()), App: app, TaskID: 1, Kind: ax.KindManual, Status: ax.StatusTriggered, ScheduledAt: noon, CreatedAt: noon}
	b.insert(bare)
	equal(b, "inserted bare", b.instance(bare.ID), bare)
	m := move(bare, ax.StatusRunning)
	full := fullInstance(b)
	full.ID, full.App, full.TaskID, full.TaskName = bare.ID, bare.App, bare.TaskID, bare.TaskName
	full.Kind, full.Shard, full.Shards = bare.Kind, bare.Shard, bare.Shards
	full.ScheduledAt, full.CreatedAt = bare.ScheduledAt, bare.CreatedAt
	full.Missed, full.MissedUntil, full.TraceID = bare.Missed, bare.MissedUntil, bare.TraceID
	m.New = full
	b.applied(ax.Change{Move: m})
	equal(b, "moved", b.instance(bare.ID), full)

	_, err := b.s.Instance(b.Context(), 42)
	b.wantErr(err, store.ErrNotFound)
}

func changeLimits(b *bed) {
	i := b.newInstance("t", 0)
	i.Message, i.Error, i.Reason = strings.Repeat("漢", 2000), strings.Repeat("é", 20000), strings.Repeat("x", 2000)
	data, err := json.Marshal(strings.Repeat("漢\"", 50000))
	b.must(err)
	i.Data = data
	b.applied(ax.Change{Insert: []ax.Instance{i}, Events: []ax.Event{b.newEvent(i, strings.Repeat("字", 50000))}})
	got := b.instance(i.ID)
	for _, f := range []struct {
		name, text string
		limit      int
	}{
		{"message", got.Message, store.MaxMessage},
		{"reason", got.Reason, store.MaxMessage},
		{"error", got.Error, store.MaxError},
		{"data", string(got.Data), store.MaxData},
		{"event", b.eventTexts(i.ID)[0], store.MaxData},
	} {
		if len(f.text) > f.limit || len(f.text) < f.limit/4 {
			b.Errorf("%s has %d bytes, limit %d", f.name, len(f.text), f.limit)
		}
	}
	if !json.Valid(got.Data) {
		b.Errorf("cut data is not JSON: %.60s", got.Data)
	}
}

func changeEmpty(b *bed) {
	b.applied(ax.Change{})
	i := b.newInstance("t", 0)
	b.s.Submit(ax.Change{Insert: []ax.Instance{i}}) // no Done
	b.applied(ax.Change{})                          // after it
	b.instance(i.ID)
}

func changeManyRows(b *bed) {
	var c ax.Change
	for n := range 333 {
		i := b.newInstance("t", time.Duration(n)*time.Second)
		c.Insert = append(c.Insert, i)
		c.Events = append(c.Events, b.newEvent(i, "a"), b.newEvent(i, "b"))
	}
	b.applied(c)
	for _, i := range c.Insert {
		equal(b, "instance", b.instance(i.ID), i)
		equal(b, "events", b.eventTexts(i.ID), []string{"a", "b"})
	}
}

func changeSequence(b *bed) {
	i := b.newInstance("t", 0)
	first := submit(b.s, ax.Change{Insert: []ax.Instance{i}})
	second := submit(b.s, ax.Change{Move: move(i, ax.StatusSuccess)})
	for _, v := range []verdict{<-first, <-second} {
		equal(b, "verdict", v, verdict{applied: true})
	}
	equal(b, "status", b.instance(i.ID).Status, ax.StatusSuccess)
}

func changeDuplicate(b *bed) {
	b.apply(Task(app, "t", noon))
	first, second := b.newInstance("t", 0), b.newInstance("t", 0)
	b.insert(first)
	v := b.write(ax.Change{
		Plan:   &ax.Plan{Task: first.TaskID, From: noon, To: noon.Add(time.Hour)},
		Insert: []ax.Instance{second}, Events: []ax.Event{b.newEvent(second, "lost")},
	})
	b.wantErr(v.err, store.ErrDuplicate)
	equal(b, "applied", v.applied, false)
	equal(b, "next of the task", b.task("t").NextAt, noon)
	_, err := b.s.Instance(b.Context(), second.ID)
	b.wantErr(err, store.ErrNotFound)
	equal(b, "events", len(b.eventTexts(second.ID)), 0)

	// Another kind or shard is another instance.
	second.Kind = ax.KindManual
	b.insert(second)
	third := b.newInstance("t", 0)
	third.Shard = 1
	b.insert(third)
}

func changeUsedID(b *bed) {
	i := b.newInstance("t", 0)
	e := b.newEvent(i, "x")
	b.applied(ax.Change{Insert: []ax.Instance{i}, Events: []ax.Event{e}})
	// With another due time the id need not be noticed: tables with partitions
	// have no key that holds the id alone.
	again := b.newInstance("t", 0)
	again.ID, again.Shard = i.ID, 1
	for _, c := range []ax.Change{{Insert: []ax.Instance{again}}, {Events: []ax.Event{e}}} {
		v := b.write(c)
		if v.applied || v.err == nil || errors.Is(v.err, store.ErrDuplicate) {
			b.Errorf("used id: %v, want an error that is not ErrDuplicate", v)
		}
	}
	equal(b, "instance", b.instance(i.ID), i)
}

// changeIsolation sends everything that can go wrong among changes that are
// right, all at once, so that they share transactions.
func changeIsolation(b *bed) {
	b.apply(Task(app, "t", noon))
	taken := b.newInstance("t", -time.Hour)
	b.insert(taken)
	var good, bad []<-chan verdict
	var want []ax.Instance
	for n := range 100 {
		i := b.newInstance("t", time.Duration(n)*time.Second)
		want = append(want, i)
		good = append(good, submit(b.s, ax.Change{Insert: []ax.Instance{i}, Events: []ax.Event{b.newEvent(i, "good")}}))
		twin := b.newInstance("t", -time.Hour)
		bad = append(bad, submit(b.s, ax.Change{Insert: []ax.Instance{twin}, Events: []ax.Event{b.newEvent(twin, "bad")}}))
		wrong := b.newInstance("t", time.Duration(n)*time.Minute+time.Millisecond)
		wrong.Status = "NONSENSE"
		bad = append(bad, submit(b.s, ax.Change{Insert: []ax.Instance{wrong}}))
	}
	for _, v := range good {
		equal(b, "good change", <-v, verdict{applied: true})
	}
	for _, v := range bad {
		if got := <-v; got.applied || got.err == nil {
			b.Errorf("bad change: %v", got)
		}
	}
	for _, i := range want {
		equal(b, "instance", b.instance(i.ID), i)
		equal(b, "events", b.eventTexts(i.ID), []string{"good"})
	}
	counts, err := b.s.CountInstances(b.Context(), ax.InstanceFilter{App: app})
	b.must(err)
	equal(b, "rows", counts, map[ax.Status]int{ax.StatusRunning: 101})
}

func changeMistakes(b *bed) {
	i := b.newInstance("t", 0)
	b.insert(i)
	with := func(change func(*ax.Instance)) []ax.Instance {
		n := b.newInstance("t", time.Hour)
		change(&n)
		return []ax.Instance{n}
	}
	for name, c := range map[string]ax.Change{
		"move back":            {Move: move(i, ax.StatusMissed)},
		"move from final":      {Move: &ax.Move{From: ax.StatusSuccess, New: i}},
		"move to nonsense":     {Move: move(i, "NONSENSE")},
		"stay final":           {Move: &ax.Move{From: ax.StatusFailed, New: ax.Instance{Status: ax.StatusFailed}}},
		"begin finished":       {Insert: with(func(n *ax.Instance) { n.Status = ax.StatusSuccess })},
		"begin pending":        {Insert: with(func(n *ax.Instance) { n.Status = ax.StatusPending })},
		"no due time":          {Insert: with(func(n *ax.Instance) { n.ScheduledAt = time.Time{} })},
		"params not JSON":      {Insert: with(func(n *ax.Instance) { n.Params = json.RawMessage("{") })},
		"event without number": {Events: []ax.Event{{At: noon}}},
		"event without time":   {Events: []ax.Event{{ID: 1}}},
	} {
		v := b.write(c)
		if v.applied || v.err == nil || errors.Is(v.err, store.ErrUnavailable) || errors.Is(v.err, store.ErrDuplicate) {
			b.Errorf("%s: %v", name, v)
		}
	}
	stay := move(i, ax.StatusRunning)
	stay.New.Deferred = true
	b.applied(ax.Change{Move: stay})
	equal(b, "deferred", b.instance(i.ID).Deferred, true)
}

func changeOrder(b *bed) {
	const n = 3000
	order := make(chan int, n)
	for k := range n {
		c := ax.Change{Done: func(bool, error) { order <- k }}
		if k%7 == 0 {
			c.Events = []ax.Event{{}} // a mistake
		}
		b.s.Submit(c)
	}
	for k := range n {
		if got := <-order; got != k {
			b.Fatalf("answer %d came as number %d", got, k)
		}
	}
	st := b.s.Stats()
	equal(b, "applied and failed", st.Applied+st.Failed, n)
	equal(b, "failed", st.Failed, (n+6)/7)
}
