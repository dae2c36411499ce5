package wire_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/axsched/ax/pluginapi"
	"github.com/axsched/ax/pluginapi/plugintest"
	pb "github.com/axsched/ax/pluginapi/proto/ax/plugin/v1"
	"github.com/axsched/ax/pluginapi/wire"
)

// triggerFunc is a trigger without settings.
type triggerFunc func(ctx context.Context, after time.Time) (time.Time, error)

// Next implements pluginapi.Trigger.
func (f triggerFunc) Next(ctx context.Context, after time.Time) (time.Time, error) {
	return f(ctx, after)
}

// batchFunc is a trigger that gives batches.
type batchFunc struct {
	triggerFunc
	batch func(after, until time.Time, n int) []time.Time
}

// NextBatch implements pluginapi.BatchTrigger.
func (f batchFunc) NextBatch(_ context.Context, after, until time.Time, n int) ([]time.Time, error) {
	return f.batch(after, until, n), nil
}

func triggers(t *testing.T, byName map[string]pluginapi.Trigger) *plugintest.Host {
	t.Helper()
	var components []pluginapi.Component
	for name, trigger := range byName {
		components = append(components, pluginapi.TriggerOf(name, "For a test.",
			func(struct{}, pluginapi.Env) (pluginapi.Trigger, error) { return trigger, nil }))
	}
	return plugintest.New(t, components...)
}

var start = time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)

func hourly(_ context.Context, after time.Time) (time.Time, error) {
	return after.Truncate(time.Hour).Add(time.Hour), nil
}

func hours(n ...int) (list []time.Time) {
	for _, h := range n {
		list = append(list, start.Add(time.Duration(h)*time.Hour))
	}
	return list
}

// nextCase is a trigger and what the host learns of it after start.
type nextCase struct {
	trigger   pluginapi.Trigger
	max       int           // default 3
	until     time.Duration // after start, default 10 h
	want      []time.Time
	exhausted bool
	problem   string
}

func nextCases() map[string]nextCase {
	constant := func(answer time.Time) triggerFunc {
		return func(context.Context, time.Time) (time.Time, error) { return answer, nil }
	}
	batch := func(answer ...time.Time) batchFunc {
		return batchFunc{hourly, func(time.Time, time.Time, int) []time.Time { return answer }}
	}
	return map[string]nextCase{
		"hourly":             {trigger: triggerFunc(hourly), want: hours(1, 2, 3)},
		"until":              {trigger: triggerFunc(hourly), until: 2 * time.Hour, want: hours(1, 2)},
		"just before":        {trigger: triggerFunc(hourly), until: 2*time.Hour - time.Microsecond, want: hours(1)},
		"nothing asked":      {trigger: triggerFunc(hourly), max: -1},
		"until is not after": {trigger: triggerFunc(hourly), until: -time.Hour},
		"exhausted":          {trigger: constant(time.Time{}), exhausted: true},
		"once": {trigger: triggerFunc(func(ctx context.Context, after time.Time) (time.Time, error) {
			if !after.Before(hours(1)[0]) {
				return time.Time{}, nil
			}
			return hourly(ctx, after)
		}), want: hours(1), exhausted: true},
		"stands still": {trigger: constant(hours(1)[0]), want: hours(1), problem: "not after the time asked for"},
		"goes back":    {trigger: constant(start.Add(-time.Hour)), problem: "not after the time asked for"},
		"says now":     {trigger: triggerFunc(func(_ context.Context, after time.Time) (time.Time, error) { return after, nil }), problem: "not after"},
		"too fine": {trigger: triggerFunc(func(_ context.Context, after time.Time) (time.Time, error) {
			return after.Add(time.Nanosecond), nil
		}), problem: "not after"},
		"error": {trigger: triggerFunc(func(context.Context, time.Time) (time.Time, error) {
			return time.Time{}, errors.New("no list for 2027")
		}), problem: "no list for 2027"},
		"panic": {trigger: triggerFunc(func(context.Context, time.Time) (time.Time, error) { panic("oops") }), problem: "panic: oops"},

		"batch":           {trigger: batch(hours(1, 2, 3)...), want: hours(1, 2, 3)},
		"short batch":     {trigger: batch(hours(1)...), until: 3 * time.Hour, want: hours(1, 2, 3)},
		"empty batch":     {trigger: batchFunc{constant(time.Time{}), func(time.Time, time.Time, int) []time.Time { return nil }}, exhausted: true},
		"batch too long":  {trigger: batch(hours(1, 2, 3, 4)...), want: hours(1, 2, 3), problem: "more than were asked for"},
		"batch too late":  {trigger: batch(hours(1, 11)...), want: hours(1), problem: "later than was asked for"},
		"batch falls":     {trigger: batch(hours(2, 1)...), want: hours(2), problem: "not after the one before"},
		"batch repeats":   {trigger: batch(hours(1, 1)...), want: hours(1), problem: "not after the one before"},
		"batch too early": {trigger: batch(hours(0)...), problem: "not after"},
	}
}

func TestNext(t *testing.T) {
	t.Parallel()
	for name, test := range nextCases() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			host := triggers(t, map[string]pluginapi.Trigger{"t": test.trigger})
			until := start.Add(test.until)
			if test.until == 0 {
				until = start.Add(10 * time.Hour)
			}
			count := uint32(3)
			if test.max < 0 {
				count = 0
			}
			id, err := host.Prepare(pluginapi.KindTrigger, "t", nil)
			if err != nil {
				t.Fatal(err)
			}
			result := next(t, host, &pb.NextItem{
				SpecId: id, After: wire.EncodeTime(start), Until: wire.EncodeTime(until), Max: count,
			})[0]
			var got []time.Time
			for _, at := range result.GetTimes() {
				got = append(got, wire.DecodeTime(at, nil))
			}
			if fmt.Sprint(got) != fmt.Sprint(test.want) || result.GetExhausted() != test.exhausted {
				t.Errorf("got %v, exhausted %t; want %v, %t", got, result.GetExhausted(), test.want, test.exhausted)
			}
			if p := result.GetProblem(); !strings.Contains(p.GetMessage(), test.problem) || (p == nil) != (test.problem == "") {
				t.Errorf("problem %v, want %q", p, test.problem)
			}
		})
	}
}

func next(t *testing.T, host *plugintest.Host, items ...*pb.NextItem) []*pb.NextResult {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	reply, err := host.Client.Trigger.Next(ctx, &pb.NextRequest{Items: items})
	if err != nil {
		t.Fatal(err)
	}
	if len(reply.GetResults()) != len(items) {
		t.Fatalf("%d items gave %d results", len(items), len(reply.GetResults()))
	}
	return reply.GetResults()
}

// One trigger that hangs, one that panics and one that is unknown must not
// spoil the answers of the others in the batch.
func TestBadTriggersDoNotSpoilABatch(t *testing.T) {
	t.Parallel()
	host := triggers(t, map[string]pluginapi.Trigger{
		"good":  triggerFunc(hourly),
		"panic": triggerFunc(func(context.Context, time.Time) (time.Time, error) { panic("oops") }),
		"hang": triggerFunc(func(ctx context.Context, _ time.Time) (time.Time, error) {
			<-t.Context().Done() // deaf to its own context
			return time.Time{}, nil
		}),
	})
	var items []*pb.NextItem
	for _, name := range []string{"hang", "good", "panic", "nobody", "hang", "good"} {
		id := name
		if name != "nobody" {
			var err error
			if id, err = host.Prepare(pluginapi.KindTrigger, name, nil); err != nil {
				t.Fatal(err)
			}
		}
		items = append(items, &pb.NextItem{
			SpecId: id, After: wire.EncodeTime(start), Until: wire.EncodeTime(start.Add(24 * time.Hour)), Max: 3,
		})
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	reply, err := host.Client.Trigger.Next(ctx, &pb.NextRequest{Items: items})
	if err != nil {
		t.Fatal(err)
	}
	want := []pb.Problem_Kind{
		pb.Problem_RETRYABLE, 0, pb.Problem_INTERNAL, pb.Problem_UNKNOWN_SPEC, pb.Problem_RETRYABLE, 0,
	}
	for i, result := range reply.GetResults() {
		if result.GetSpecId() != items[i].GetSpecId() || result.GetProblem().GetKind() != want[i] {
			t.Errorf("item %d: %v, want %v", i, result, want[i])
		}
		if want[i] == 0 && len(result.GetTimes()) != 3 {
			t.Errorf("item %d: %v", i, result)
		}
	}
}

func TestNextOfAnotherKind(t *testing.T) {
	t.Parallel()
	host := plugintest.New(t, jobComponent(nil))
	id, err := host.Prepare(pluginapi.KindJob, "job", nil)
	if err != nil {
		t.Fatal(err)
	}
	result := next(t, host, &pb.NextItem{SpecId: id, Until: 1, Max: 1})[0]
	if result.GetProblem().GetKind() != pb.Problem_INVALID {
		t.Errorf("result %v", result)
	}
}

func BenchmarkNextBatch(b *testing.B) {
	component := pluginapi.TriggerOf("t", "For a test.",
		func(struct{}, pluginapi.Env) (pluginapi.Trigger, error) { return triggerFunc(hourly), nil })
	trigger := plugintest.New(b, component).Trigger("t", nil)
	const n = 1000
	for b.Loop() {
		times, err := trigger.NextBatch(b.Context(), start, start.AddDate(1, 0, 0), n)
		if err != nil || len(times) != n {
			b.Fatalf("%d times, %v", len(times), err)
		}
	}
	b.ReportMetric(n*float64(b.N)/b.Elapsed().Seconds(), "times/s")
}
