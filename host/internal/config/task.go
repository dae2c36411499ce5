package config

import (
	"cmp"
	"strings"
	"time"

	"gopkg.in/yaml.v3"

	"github.com/axsched/ax/host/internal/ax"
)

// Defaults of tasks that say nothing else.
const (
	defaultConfirm    = 30 * time.Second
	defaultGrace      = 10 * time.Second
	defaultThreshold  = time.Minute
	defaultWindow     = 24 * time.Hour
	defaultCap        = 100
	defaultQueueLimit = 100
)

// Bounds of numbers in tasks.
const (
	maxRetries     = 100
	maxFactor      = 100
	maxConcurrency = 10_000
	maxQueue       = 100_000
	maxCap         = 10_000
	maxAfter       = 1_000
)

// Events lists what a task's notify can be about.
func Events() []string {
	return []string{"failed", "attempt", "timeout", "lost", "missed", "skipped", "slow", "late", "overdue", "parked", "recovered"}
}

// taskDraft is a task while its keys are read.
type taskDraft struct {
	ax.Task
	schedule   scheduleDraft
	job        component
	paramsFrom component
	params     *yaml.Node
	retry      retryDraft
	// What a task itself states, its defaults aside.
	given, givenMisfire stated
}

// retryDraft holds the words of retry that ax.Retry has no field for.
type retryDraft struct {
	delay time.Duration
	on    []string
}

func builtinDefaults() taskDraft {
	t := taskDraft{Task: ax.Task{
		Enabled:        true,
		Strategy:       ax.StrategyLeastTasks,
		ConfirmTimeout: defaultConfirm,
		Grace:          defaultGrace,
		Retry:          ax.DefaultRetry(),
		Concurrency:    1,
		Overlap:        ax.OverlapSkip,
		QueueLimit:     defaultQueueLimit,
		Misfire:        ax.Misfire{Policy: ax.MisfireSkip, Threshold: defaultThreshold, Window: defaultWindow, Cap: defaultCap},
		Notify:         ax.Notify{On: []string{"failed", "timeout", "lost", "slow", "late", "overdue", "parked", "recovered"}, After: 1},
	}}
	t.schedule.Timezone = "UTC"
	return t
}

// defaultFields are the keys that defaults: and a task have in common.
func (t *taskDraft) defaultFields() []field {
	return []field{
		{"group", name(&t.Group)},
		{"timezone", zone(&t.schedule.Timezone)},
		{"jitter", duration(&t.schedule.Jitter, 0)},
		{"blackout", blackouts(&t.schedule.Blackouts)},
		{"on_blackout", choice(&t.schedule.OnBlackout, ax.BlackoutSkip, ax.BlackoutAfter)},
		{"strategy", choice(&t.Strategy, ax.StrategyLeastTasks, ax.StrategyRoundRobin, ax.StrategyConsistentHash, ax.StrategyBroadcast)},
		{"nodes", textMap(&t.Nodes)},
		{"confirm_timeout", duration(&t.ConfirmTimeout, time.Second)},
		{"start_deadline", duration(&t.StartDeadline, time.Second)},
		{"warn_after", duration(&t.WarnAfter, time.Second)},
		{"timeout", duration(&t.Timeout, time.Millisecond)},
		{"retention", duration(&t.Retention, time.Hour)},
		{"grace", duration(&t.Grace, 0)},
		{"retry", t.retryRule()},
		{"concurrency", integer(&t.Concurrency, 1, maxConcurrency)},
		{"overlap", choice(&t.Overlap, ax.OverlapSkip, ax.OverlapDefer, ax.OverlapQueue, ax.OverlapReplace, ax.OverlapAllow)},
		{"queue_limit", integer(&t.QueueLimit, 1, maxQueue)},
		{"misfire", t.misfireRule()},
		{"notify", t.notifyRule()},
	}
}

// fields are the keys of a task.
func (t *taskDraft) fields() []field {
	own := []field{
		{"name", name(&t.Name)},
		{"description", text(&t.Description)},
		{"labels", textMap(&t.Labels)},
		{"enabled", boolean(&t.Enabled)},
		{"job", t.job.rule()},
		{"params", rule{kind: kindObject, take: func(d *decoder, key string, n *yaml.Node) {
			t.params = n
			free(&t.Params).take(d, key, n)
		}}},
		{"params_from", t.paramsFrom.rule()},
	}
	own = append(own, t.defaultFields()...)
	for _, f := range t.schedule.fields() {
		if f.key != "timezone" { // is one of the defaults
			own = append(own, f)
		}
	}
	return own
}

// taskNeeds are the keys that every task must have; when it is due is said by
// one of several.
func taskNeeds() []string { return []string{"name", "job"} }

// retryRule takes in a number of retries or the whole policy.
func (t *taskDraft) retryRule() rule {
	var one time.Duration
	fields := []field{
		{"count", integer(&t.Retry.Count, 0, maxRetries)},
		{"delay", duration(&t.retry.delay, 0)},
		{"delays", listOf(duration(&one, 0), func() { t.Retry.Delays = nil },
			func() { t.Retry.Delays = append(t.Retry.Delays, one) })},
		{"factor", number(&t.Retry.Factor, 1, maxFactor)},
		{"max", duration(&t.Retry.Max, time.Millisecond)},
		{"on", choices(&t.retry.on, "failed", "timeout", "lost")},
	}
	count := integer(&t.Retry.Count, 0, maxRetries)
	return rule{kind: kindObject, fields: fields, short: &count, take: func(d *decoder, key string, n *yaml.Node) {
		given := d.object(key, n, fields)
		if given.has("delay") {
			t.Retry.Delays = []time.Duration{t.retry.delay}
		}
		if given.has("delay") && given.has("delays") {
			d.fault(given["delay"], "retry has delay and delays: expected only one of them")
		}
		if given.has("delays") && !given.has("count") {
			t.Retry.Count = len(t.Retry.Delays)
		}
		if given.has("on") {
			t.Retry.On = nil
			for _, word := range t.retry.on {
				t.Retry.On = append(t.Retry.On, ax.Status(strings.ToUpper(word)))
			}
		}
	}}
}

// misfireRule takes in a policy or the policy with its bounds.
func (t *taskDraft) misfireRule() rule {
	policy := choice(&t.Misfire.Policy, ax.MisfireSkip, ax.MisfireOnce, ax.MisfireAll)
	fields := []field{
		{"policy", policy},
		{"threshold", duration(&t.Misfire.Threshold, time.Second)},
		{"window", duration(&t.Misfire.Window, time.Second)},
		{"cap", integer(&t.Misfire.Cap, 1, maxCap)},
	}
	return rule{kind: kindObject, fields: fields, short: &policy, take: func(d *decoder, key string, n *yaml.Node) {
		t.givenMisfire = d.object(key, n, fields)
	}}
}

// notifyRule takes in names of notifiers or the whole of it.
func (t *taskDraft) notifyRule() rule {
	to := words(&t.Notify.To)
	fields := []field{
		{"to", to},
		{"on", choices(&t.Notify.On, Events()...)},
		{"after", integer(&t.Notify.After, 1, maxAfter)},
	}
	return rule{kind: kindObject, fields: fields, short: &to, take: func(d *decoder, key string, n *yaml.Node) {
		d.object(key, n, fields)
	}}
}

// settle checks how the policies of a task go together. Words that have no meaning are refused, so that nobody relies on them.
func (d *decoder) settle(t *taskDraft) {
	if t.Overlap == ax.OverlapAllow {
		if n := t.given["concurrency"]; n != nil {
			d.fault(n, "concurrency has no meaning with overlap: allow, which knows no limit")
		}
		t.Concurrency = 0
	} else if t.Concurrency == 0 {
		t.Concurrency = 1 // the defaults say allow, and the task does not
	}
	if n := t.given["queue_limit"]; n != nil && t.Overlap != ax.OverlapQueue {
		d.fault(n, "queue_limit has no meaning with overlap: %s, expected overlap: queue", t.Overlap)
	}
	if t.Strategy == ax.StrategyBroadcast && t.Overlap != ax.OverlapSkip && t.Overlap != ax.OverlapAllow {
		d.fault(cmp.Or(t.given["overlap"], t.given["strategy"], t.given["name"]), "overlap: %s has no meaning with strategy: broadcast, where each host has a run of its own; expected skip or allow", t.Overlap)
	}
	for _, key := range []string{"window", "cap"} {
		if n := t.givenMisfire[key]; n != nil && t.Misfire.Policy != ax.MisfireAll {
			d.fault(n, "%s has no meaning with the misfire policy %s, expected policy: all", key, t.Misfire.Policy)
		}
	}
}
