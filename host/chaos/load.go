package main

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/axsched/ax/host/chaos/internal/verdict"
	"github.com/axsched/ax/pluginapi/cron"
)

// task is a task of the load: what the configuration says, and what is known of
// it without asking a host.
type task struct {
	name string
	// yaml are its keys, without the name, the bounds and the job's journal.
	schedule, policy, job string
	every                 time.Duration
	next                  func(after time.Time) time.Time
	probe                 bool
}

// outlasting is how many tasks there are whose jobs last for as long as the
// database is away.
const outlasting = 4

// makeTasks makes tasks that are due as often as the options say, in all.
func makeTasks(random *rand.Rand, o options) ([]task, error) {
	var tasks []task
	if o.Outage > 0 {
		for i := range outlasting {
			t := task{name: fmt.Sprintf("long%d", i), every: 30 * time.Second, policy: "overlap: allow, retry: {count: 2, delay: 500ms}"}
			t.job = fmt.Sprintf("takes: %dms", upTo(random, o.Outage).Milliseconds())
			t.byEvery(random)
			tasks = append(tasks, t)
		}
	}
	for left := float64(o.Rate); left > 0; {
		t := task{name: fmt.Sprintf("t%04d", len(tasks))}
		switch n := random.IntN(10); {
		case n < 6:
			t.beProbe(random)
		case n < 8:
			t.beShort(random)
		case n < 9:
			t.beLong(random)
		default:
			t.beFailing(random)
		}
		if n := random.IntN(4); n == 0 && !t.probe {
			if err := t.byCron(random); err != nil {
				return nil, err
			}
		} else {
			t.byEvery(random)
		}
		tasks = append(tasks, t)
		left -= float64(time.Second) / float64(t.every)
	}
	return tasks, nil
}

func pick[T any](random *rand.Rand, from ...T) T { return from[random.IntN(len(from))] }

// beProbe makes a task whose due times start at once.
func (t *task) beProbe(random *rand.Rand) {
	t.probe = true
	t.every = pick[time.Duration](random, 1, 1, 2, 3) * time.Second
	t.policy = "overlap: allow, retry: {count: 2, delay: 200ms}"
	t.job = "takes: 0ms"
}

// beShort makes a task whose runs mostly end before the next one is due.
func (t *task) beShort(random *rand.Rand) {
	t.every = pick[time.Duration](random, 1, 2, 2, 5) * time.Second
	t.policy = fmt.Sprintf("overlap: %s, retry: %s, misfire: %s",
		pick(random, "skip", "allow", "queue, queue_limit: 50"),
		pick(random, "0", "{count: 1, delay: 100ms}"),
		pick(random, "skip", "{policy: skip, threshold: 1s}", "{policy: once, threshold: 2s}", "{policy: all, threshold: 2s, cap: 3}"))
	t.job = fmt.Sprintf("takes: %dms", random.IntN(300))
}

// beLong makes a task whose runs last for some time, some until after the next
// due time.
func (t *task) beLong(random *rand.Rand) {
	t.every = pick[time.Duration](random, 1, 2, 5) * time.Second
	t.policy = fmt.Sprintf("overlap: %s, retry: {count: 2, delay: 500ms}", pick(random, "skip", "queue, queue_limit: 3", "defer", "allow"))
	t.job = fmt.Sprintf("takes: %dms", 300+random.IntN(1700))
}

// beFailing makes a task whose first attempts fail, or all of them.
func (t *task) beFailing(random *rand.Rand) {
	t.every = pick[time.Duration](random, 2, 5) * time.Second
	t.policy = fmt.Sprintf("overlap: %s, retry: {delays: [100ms, %dms]}", pick(random, "skip", "allow"), 200+random.IntN(1500))
	t.job = fmt.Sprintf("takes: %dms, fails: %d", random.IntN(200), pick(random, 1, 1, 2, 5))
}

// byEvery gives the task a grid with a phase of its own, so that due times are
// spread.
func (t *task) byEvery(random *rand.Rand) {
	anchor := time.UnixMilli(1_700_000_000_000 + random.Int64N(t.every.Milliseconds())).UTC()
	t.schedule = fmt.Sprintf("every: %s, anchor: %q", t.every, anchor.Format(time.RFC3339Nano))
	every := t.every
	t.next = func(after time.Time) time.Time {
		return anchor.Add(after.Sub(anchor).Truncate(every) + every) // after is later than the anchor
	}
}

// byCron makes it due at whole seconds, together with others.
func (t *task) byCron(random *rand.Rand) error {
	seconds := int(t.every / time.Second)
	text := fmt.Sprintf("%d/%d * * * * ?", random.IntN(seconds), seconds)
	schedule, err := cron.Parse(text, cron.Options{})
	if err != nil {
		return fmt.Errorf("make a task: %w", err)
	}
	t.schedule = fmt.Sprintf("cron: %q", text)
	t.next = func(after time.Time) time.Time { return schedule.Next(after.UTC()) }
	return nil
}

// configured writes the part of the configuration that all hosts share.
func configured(tasks []task, from, until time.Time, journal string) string {
	var b strings.Builder
	b.WriteString("tasks:\n")
	for _, t := range tasks {
		fmt.Fprintf(&b, "- {name: %s, %s, from: %q, until: %q, %s, job: {use: work, with: {journal: %q, %s}}}\n",
			t.name, t.schedule, from.UTC().Format(time.RFC3339), until.UTC().Format(time.RFC3339), t.policy, journal, t.job)
	}
	return b.String()
}

// known is what the verdict knows of the tasks.
func known(tasks []task) []verdict.Task {
	all := make([]verdict.Task, len(tasks))
	for i, t := range tasks {
		all[i] = verdict.Task{Name: t.name, Next: t.next, Probe: t.probe}
	}
	return all
}
