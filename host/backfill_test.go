package host

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/axsched/ax/host/internal/api"
	"github.com/axsched/ax/host/internal/ax"
	"github.com/axsched/ax/host/internal/store"
	"github.com/axsched/ax/host/internal/trigger"
)

func TestBackfillTimes(t *testing.T) {
	t.Parallel()
	hour := func(h int) time.Time { return time.Date(2026, 3, 1, h, 0, 0, 0, time.UTC) }
	row := func(h int, kind ax.Kind, status ax.Status) store.DueRow {
		return store.DueRow{ID: ax.InstanceID(h), ScheduledAt: hour(h), Kind: kind, Status: status}
	}
	scheduled := func(h int, status ax.Status) store.DueRow { return row(h, ax.KindScheduled, status) }
	missed := func(h, until int) store.DueRow {
		r := scheduled(h, ax.StatusMissed)
		r.MissedUntil = hour(until)
		return r
	}
	for _, tc := range []struct {
		name    string
		rows    []store.DueRow
		pending time.Time
		again   bool
		want    string // of the due times 10:00, 11:00 and 12:00
	}{
		{"no rows", nil, time.Time{}, false, "run, run, run"},
		{"the schedule sees to the last one", nil, hour(12), false, "run, run, PENDING"},
		{"succeeded", []store.DueRow{scheduled(9, ax.StatusSuccess), scheduled(11, ax.StatusSuccess)}, time.Time{}, false, "run, SUCCESS 11, run"},
		{"succeeded, again", []store.DueRow{scheduled(11, ax.StatusSuccess)}, time.Time{}, true, "run, run SUCCESS 11, run"},
		{"failed", []store.DueRow{scheduled(10, ax.StatusFailed), scheduled(11, ax.StatusTimeout), scheduled(12, ax.StatusLost)}, time.Time{}, false, "run FAILED 10, run TIMEOUT 11, run LOST 12"},
		{"skipped and canceled", []store.DueRow{scheduled(10, ax.StatusSkipped), scheduled(11, ax.StatusCanceled)}, time.Time{}, false, "run SKIPPED 10, run CANCELED 11, run"},
		{"under way", []store.DueRow{scheduled(10, ax.StatusRetrying), scheduled(12, ax.StatusRunning)}, hour(13), true, "RETRYING 10, run, RUNNING 12"},
		{"missed", []store.DueRow{missed(10, 12)}, hour(13), false, "run MISSED 10, run MISSED 10, run MISSED 10"},
		{"missed from before on", []store.DueRow{missed(7, 11), scheduled(12, ax.StatusSuccess)}, hour(13), false, "run MISSED 7, run MISSED 7, SUCCESS 12"},
		{"backfilled", []store.DueRow{missed(10, 11), row(10, ax.KindBackfill, ax.StatusFailed), row(11, ax.KindBackfill, ax.StatusTriggered)}, time.Time{}, true, "FAILED 10, TRIGGERED 11, run"},
	} {
		var told []string
		for _, bt := range backfillTimes([]time.Time{hour(10), hour(11), hour(12)}, tc.rows, tc.pending, tc.again) {
			run := ""
			if bt.Run {
				run = "run"
			}
			told = append(told, strings.Join(strings.Fields(fmt.Sprint(run, " ", bt.Status, " ", bt.Instance)), " "))
		}
		if got := strings.Join(told, ", "); got != tc.want {
			t.Errorf("%s: %q, want %q", tc.name, got, tc.want)
		}
	}
}

func TestDueTimes(t *testing.T) {
	t.Parallel()
	from := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	compile := func(s ax.Schedule) *trigger.Timetable {
		s.Timezone = "UTC"
		timetable, err := trigger.Compile(trigger.Spec{Schedule: s, Task: "a"})
		if err != nil {
			t.Fatal(err)
		}
		return timetable
	}
	second := compile(ax.Schedule{Every: time.Second})
	for _, tc := range []struct {
		name      string
		timetable *trigger.Timetable
		to        time.Time
		want      int
	}{
		{"both ends on a due time", second, from.Add(10 * time.Second), 10},
		{"just beyond one", second, from.Add(10*time.Second + 1), 11},
		{"many batches", second, from.Add(maxBackfill * time.Second), maxBackfill},
		{"it ends before", compile(ax.Schedule{At: from}), from.AddDate(1, 0, 0), 1},
		{"none", compile(ax.Schedule{Cron: "0 0 2 29 2 ?"}), from.AddDate(1, 0, 0), 0},
	} {
		got, err := dueTimes(t.Context(), tc.timetable, from, tc.to)
		if err != nil || len(got) != tc.want || tc.want > 0 && !got[0].Equal(from) {
			t.Errorf("%s: %d due times, %v; want %d", tc.name, len(got), err, tc.want)
		}
	}
	if _, err := dueTimes(t.Context(), second, from, from.Add(maxBackfill*time.Second+1)); !isA[*api.Invalid](err) {
		t.Errorf("too many: %v", err)
	}
	if _, err := dueTimes(t.Context(), broken{}, from, from.AddDate(1, 0, 0)); !isA[*api.Unavailable](err) {
		t.Errorf("a plugin that fails: %v", err)
	}
}

func isA[E error](err error) bool {
	_, ok := errors.AsType[E](err)
	return ok
}

// broken is the trigger of a plugin that is not there.
type broken struct{}

func (broken) Next(context.Context, time.Time, time.Time, int) ([]time.Time, bool, error) {
	return nil, false, errors.New("no plugin")
}
