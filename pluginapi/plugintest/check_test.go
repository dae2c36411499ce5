package plugintest_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"
	_ "time/tzdata"

	"github.com/axsched/ax/pluginapi"
	"github.com/axsched/ax/pluginapi/plugintest"
)

// fakeTest notes failures instead of failing.
type fakeTest struct {
	testing.TB
	mu       sync.Mutex
	failures []string
}

// Errorf implements testing.TB.
func (f *fakeTest) Errorf(format string, args ...any) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.failures = append(f.failures, fmt.Sprintf(format, args...))
}

// Failed implements testing.TB.
func (f *fakeTest) Failed() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.failures) > 0
}

type triggerFunc func(after time.Time) (time.Time, error)

// Next implements pluginapi.Trigger.
func (f triggerFunc) Next(_ context.Context, after time.Time) (time.Time, error) { return f(after) }

type batchFunc struct {
	triggerFunc
	batch func(after, until time.Time, n int) []time.Time
}

// NextBatch implements pluginapi.BatchTrigger.
func (f batchFunc) NextBatch(_ context.Context, after, until time.Time, n int) ([]time.Time, error) {
	return f.batch(after, until, n), nil
}

func hourly(after time.Time) (time.Time, error) {
	return after.Truncate(time.Hour).Add(time.Hour), nil
}

// daily is due at 02:30 by the clocks of a zone; where they skip it, at the
// time that package time gives instead.
func daily(zone *time.Location) triggerFunc {
	return func(after time.Time) (time.Time, error) {
		year, month, day := after.In(zone).Date()
		for ; ; day++ {
			if at := time.Date(year, month, day, 2, 30, 0, 0, zone); at.After(after) {
				return at, nil
			}
		}
	}
}

func load(t *testing.T, name string) *time.Location {
	t.Helper()
	zone, err := time.LoadLocation(name)
	if err != nil {
		t.Fatal(err)
	}
	return zone
}

func TestCheckTriggerTakesGoodOnes(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"UTC", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Asia/Shanghai"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			zone := load(t, name)
			plugintest.CheckTrigger(t, triggerFunc(hourly), zone)
			plugintest.CheckTrigger(t, daily(zone), zone, daily(zone))
			plugintest.CheckTrigger(t, triggerFunc(func(time.Time) (time.Time, error) { return time.Time{}, nil }), zone)
			host := plugintest.New(t, pluginapi.TriggerOf("daily", "At 02:30.",
				func(_ struct{}, env pluginapi.Env) (pluginapi.Trigger, error) { return daily(env.Zone), nil }))
			plugintest.CheckTrigger(t, host.Trigger("daily", nil, plugintest.Zone(name)), zone, daily(zone))
		})
	}
}

func TestCheckTriggerFindsBadOnes(t *testing.T) {
	t.Parallel()
	berlin := load(t, "Europe/Berlin")
	batch := func(f func(after, until time.Time, n int) []time.Time) batchFunc { return batchFunc{hourly, f} }
	calls := 0
	tests := map[string]struct {
		trigger pluginapi.Trigger
		other   pluginapi.Trigger
		want    string
	}{
		"not after": {trigger: triggerFunc(func(after time.Time) (time.Time, error) {
			return after.Truncate(time.Hour), nil
		}), want: "which is not after it"},
		"too fine": {trigger: triggerFunc(func(after time.Time) (time.Time, error) {
			return after.Truncate(time.Second).Add(time.Second + 1), nil
		}), want: "not in whole microseconds"},
		"counts calls": {trigger: triggerFunc(func(after time.Time) (time.Time, error) {
			calls++
			return after.Add(time.Duration(calls) * time.Second), nil
		}), want: "asked again gave"},
		"counts from the question": {trigger: triggerFunc(func(after time.Time) (time.Time, error) {
			return after.Add(time.Hour), nil
		}), want: "which lies between"},
		"reads the zone of the question": {trigger: triggerFunc(func(after time.Time) (time.Time, error) {
			return daily(after.Location())(after)
		}), want: "asked again gave"},
		"others differ": {trigger: daily(berlin), other: daily(time.UTC), want: "another trigger with the same settings"},
		"fails": {trigger: triggerFunc(func(time.Time) (time.Time, error) {
			return time.Time{}, errors.New("no list")
		}), want: "no list"},
		"batch skips": {trigger: batch(func(after, until time.Time, n int) []time.Time {
			return nil
		}), want: "but single questions give"},
		"batch goes too far": {trigger: batch(func(after, until time.Time, n int) (list []time.Time) {
			for at, _ := hourly(after); len(list) < n; at, _ = hourly(at) {
				list = append(list, at)
			}
			return list
		}), want: "but single questions give"},
		"batch ignores n": {trigger: batch(func(after, until time.Time, n int) (list []time.Time) {
			for at, _ := hourly(after); !at.After(until); at, _ = hourly(at) {
				list = append(list, at)
			}
			return list
		}), want: "but single questions give"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			fake := &fakeTest{TB: t}
			var others []pluginapi.Trigger
			if test.other != nil {
				others = append(others, test.other)
			}
			plugintest.CheckTrigger(fake, test.trigger, berlin, others...)
			if !strings.Contains(strings.Join(fake.failures, "\n"), test.want) {
				t.Errorf("failures %q, want %q", fake.failures, test.want)
			}
		})
	}
}
