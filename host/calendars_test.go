package host

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/axsched/ax/host/internal/api"
	"github.com/axsched/ax/host/internal/holidays"
	"github.com/axsched/ax/pluginapi/calendar"
)

// TestCalendarWatch: people are told at once and again each day until it works,
// the log every day from the second on.
func TestCalendarWatch(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		var told []string
		gap := holidays.Gap{Calendar: "china", Year: 2028, From: calendar.Date{Year: 2028, Month: 1, Day: 1}, First: 2024, Last: 2027}
		quit := make(chan struct{})
		w := &calendarWatch{
			log: hclog.New(&hclog.LoggerOptions{Output: &log}), quit: quit,
			gaps: func(today calendar.Date) []holidays.Gap {
				if today.Day == 3 { // somebody has added the list
					return nil
				}
				return []holidays.Gap{gap}
			},
			tell: func(_ context.Context, gap holidays.Gap, now time.Time) error {
				told = append(told, fmt.Sprint(gap.Calendar, " ", now.Day()))
				if len(told) == 2 {
					return errors.New("the database is away")
				}
				return nil
			},
		}
		done := make(chan struct{})
		go func() { w.run(); close(done) }()
		synctest.Wait()
		if log.Len() > 0 || !slices.Equal(told, []string{"china 1"}) { // bubbles begin on 1 January
			t.Errorf("at first: told %q, log %q", told, log.String())
		}
		time.Sleep(calendarPeriod)
		synctest.Wait()
		if !slices.Equal(told, []string{"china 1", "china 2"}) {
			t.Errorf("on the second day: told %q", told)
		}
		for _, want := range []string{"[WARN]  calendar \"china\" has lists of holidays for 2024 to 2027 only", "database is away"} {
			if !strings.Contains(log.String(), want) {
				t.Errorf("the log does not have %q: %s", want, log.String())
			}
		}
		log.Reset()
		time.Sleep(calendarPeriod)
		synctest.Wait()
		if log.Len() > 0 || len(told) != 2 {
			t.Errorf("after the list was added: told %q, log %q", told, log.String())
		}
		close(quit)
		<-done
	})
}

func TestGapHealth(t *testing.T) {
	t.Parallel()
	ahead, open := holidays.Gap{Calendar: "ahead", Days: 9}, holidays.Gap{Calendar: "open"}
	for _, tt := range []struct {
		gaps []holidays.Gap
		want api.HealthStatus
	}{
		{nil, api.HealthOK},
		{[]holidays.Gap{ahead}, api.HealthOK},
		{[]holidays.Gap{open, ahead}, api.HealthDegraded},
	} {
		status, reasons := gapHealth(tt.gaps)
		if status != tt.want || len(reasons) != len(tt.gaps) {
			t.Errorf("%v: %s because of %q, want %s", tt.gaps, status, reasons, tt.want)
		}
	}
}

// startHost starts a host in a data directory and returns what stops it.
func startHost(t *testing.T, yaml string) (h *Host, log *bytes.Buffer, stop func()) {
	t.Helper()
	h, log = configured(t, yaml)
	if err := h.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	return h, log, func() { h.Stop(context.Background()) }
}

// TestCalendarEnds goes through two lives of a host whose calendar has no list
// for this year: the log, the health, and one message to each notifier.
func TestCalendarEnds(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	list := fmt.Sprintf("date,name,kind\n%d-05-01,Labour Day,off\n", time.Now().Year()-1)
	if err := os.WriteFile(filepath.Join(dir, "days.csv"), []byte(list), 0o600); err != nil {
		t.Fatal(err)
	}
	yaml := strings.ReplaceAll(`
app: demo
data_dir: DIR/data
http: {listen: "off"}
plugins: {dir: DIR/plugins}
notifiers: {ops: {use: log}, team: {use: log}}
calendars: {days: {files: DIR/days.csv}}
tasks:
  - {name: a, every: 24h, calendar: days, job: {use: exec}, notify: ops}
  - {name: b, every: 24h, calendar: days, job: {use: exec}, notify: [ops]}
`, "DIR", dir)
	h, log, stop := startHost(t, yaml)
	health := backend{h}.Health(t.Context())
	stop()
	if health.Status != api.HealthDegraded || !strings.Contains(strings.Join(health.Reasons, "\n"), `calendar "days" has lists of holidays`) {
		t.Errorf("health %s because of %q", health.Status, health.Reasons)
	}
	if n := strings.Count(log.String(), `config.yaml:7:13: calendar "days" has lists of holidays`); n != 1 {
		t.Errorf("%d warnings at the start:\n%s", n, log)
	}
	const message = "calendar days lacks a list of holidays: notifier=%s"
	if n := strings.Count(log.String(), fmt.Sprintf(message, "ops")); n != 1 {
		t.Errorf("ops got %d messages:\n%s", n, log)
	}
	if want := "The calendar days of app demo lacks a list of holidays at "; !strings.Contains(log.String(), want) {
		t.Errorf("the log does not have %q:\n%s", want, log)
	}

	_, log, stop = startHost(t, strings.Replace(yaml, "notify: ops", "notify: [ops, team]", 1))
	stop()
	if n := strings.Count(log.String(), fmt.Sprintf(message, "ops")); n != 0 {
		t.Errorf("ops got another message in the next life:\n%s", log)
	}
	if n := strings.Count(log.String(), fmt.Sprintf(message, "team")); n != 1 {
		t.Errorf("team got %d messages:\n%s", n, log)
	}
}
