package storetest

import (
	"errors"
	"fmt"
	"reflect"
	"testing"
	"time"

	"github.com/axsched/ax/host/internal/ax"
	"github.com/axsched/ax/host/internal/store"
)

// Create makes a new, empty database and returns how to open it. It may be
// opened several times at once.
type Create func(t *testing.T) store.Options

// Run runs the conformance suite against the databases that create makes.
func Run(t *testing.T, create Create) {
	for _, group := range []struct {
		name  string
		tests []test
	}{
		{"tasks", taskTests},
		{"state", stateTests},
		{"changes", changeTests},
		{"conditions", conditionTests},
		{"instances", instanceTests},
		{"backlog", backlogTests},
		{"tally", tallyTests},
		{"due times", dueTests},
		{"events", eventTests},
		{"nodes", nodeTests},
		{"owners", ownerTests},
		{"task versions", versionTests},
		{"alerts", alertTests},
		{"events for alerts", alertEventTests},
		{"audit", auditTests},
		{"requests", requestTests},
		{"purge", purgeTests},
		{"lifecycle", lifecycleTests},
		{"races", raceTests},
	} {
		t.Run(group.name, func(t *testing.T) {
			t.Parallel()
			for _, test := range group.tests {
				t.Run(test.name, func(t *testing.T) {
					t.Parallel()
					test.run(newBed(t, create(t)))
				})
			}
		})
	}
}

type test struct {
	name string
	run  func(*bed)
}

const app = "shop"

// noon is the time at which the tests take place.
var noon = time.Date(2026, 3, 14, 12, 0, 0, 123456000, time.UTC)

// bed is one test with a store of its own.
type bed struct {
	*testing.T
	options store.Options
	s       *store.Store
	ids     *ax.IDs
}

func newBed(t *testing.T, o store.Options) *bed {
	return &bed{T: t, options: o, s: OpenWith(t, o), ids: ax.NewIDs(1)}
}

func (b *bed) id() int64 { return b.ids.Next(noon) }

// must ends the test if there was an error.
func (b *bed) must(err error) {
	b.Helper()
	if err != nil {
		b.Fatal(err)
	}
}

func (b *bed) wantErr(got, want error) {
	b.Helper()
	if !errors.Is(got, want) {
		b.Errorf("got error %v, want %v", got, want)
	}
}

// equal compares deeply.
func equal[T any](b *bed, what string, got, want T) {
	b.Helper()
	if !reflect.DeepEqual(got, want) {
		b.Errorf("%s:\n got %+v\nwant %+v", what, got, want)
	}
}

// apply writes tasks.
func (b *bed) apply(rows ...ax.TaskRow) {
	b.Helper()
	b.must(b.s.ApplyTasks(b.Context(), store.ApplyParams{App: app, Actor: "eve", Now: noon, Upsert: rows}))
}

// task reads a task by name.
func (b *bed) task(name string) ax.TaskRow {
	b.Helper()
	row, err := b.s.Task(b.Context(), app, name)
	b.must(err)
	return row
}

// instance reads an instance.
func (b *bed) instance(id ax.InstanceID) ax.Instance {
	b.Helper()
	i, err := b.s.Instance(b.Context(), id)
	b.must(err)
	return i
}

// newInstance returns a running instance of the task, due at noon plus offset.
func (b *bed) newInstance(task string, offset time.Duration) ax.Instance {
	return ax.Instance{
		ID: ax.InstanceID(b.id()), App: app, TaskID: ax.NewTaskID(app, task), TaskName: task,
		ScheduledAt: noon.Add(offset), Kind: ax.KindScheduled, Status: ax.StatusRunning,
		Attempt: 1, Fence: 1, Owner: "host-1-a", Node: "host-1", CreatedAt: noon, StartedAt: noon,
	}
}

func (b *bed) newEvent(i ax.Instance, text string) ax.Event {
	return ax.Event{
		ID: b.id(), InstanceID: i.ID, TaskID: i.TaskID, At: noon, Attempt: i.Attempt,
		Stage: ax.StageClaimed, Level: "info", Node: i.Node, Text: text,
	}
}

// move returns the Move of i to a status.
func move(i ax.Instance, to ax.Status) *ax.Move {
	m := &ax.Move{From: i.Status, Fence: i.Fence, New: i}
	m.New.Status = to
	return m
}

// verdict is what Done was told.
type verdict struct {
	applied bool
	err     error
}

func (v verdict) String() string { return fmt.Sprintf("applied %v, error %v", v.applied, v.err) }

// submit submits a change and returns where its verdict will come.
func submit(s *store.Store, c ax.Change) <-chan verdict {
	ch := make(chan verdict, 1)
	c.Done = func(applied bool, err error) { ch <- verdict{applied, err} }
	s.Submit(c)
	return ch
}

// write submits a change and waits for its verdict.
func (b *bed) write(c ax.Change) verdict { return <-submit(b.s, c) }

// applied writes a change that must be applied.
func (b *bed) applied(c ax.Change) {
	b.Helper()
	if v := b.write(c); !v.applied || v.err != nil {
		b.Fatalf("change: %v", v)
	}
}

// refused writes a change whose condition must not hold.
func (b *bed) refused(c ax.Change) {
	b.Helper()
	if v := b.write(c); v.applied || v.err != nil {
		b.Fatalf("change: %v, want it refused without an error", v)
	}
}

// insert writes instances.
func (b *bed) insert(is ...ax.Instance) {
	b.Helper()
	b.applied(ax.Change{Insert: is})
}

// events reads the texts of the events of an instance.
func (b *bed) eventTexts(id ax.InstanceID) []string {
	b.Helper()
	events, err := b.s.Events(b.Context(), ax.EventFilter{Instance: id})
	b.must(err)
	var texts []string
	for _, e := range events {
		texts = append(texts, e.Text)
	}
	return texts
}
