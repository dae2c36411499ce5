package host

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/axsched/ax/host/internal/api"
	"github.com/axsched/ax/host/internal/holidays"
	"github.com/axsched/ax/pluginapi/calendar"
)

// record gathers what a loop says.
type record struct {
	mu   sync.Mutex
	text strings.Builder
}

func (r *record) Write(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.text.Write(p)
}

// take returns what was said since the last time.
func (r *record) take() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	defer r.text.Reset()
	return r.text.String()
}

// TestCalendarWatch: people are told at once and again each day until it works,
// the log every day from the second on.
func TestCalendarWatch(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var said record
		quit := make(chan struct{})
		w := &calendarWatch{
			log: hclog.New(&hclog.LoggerOptions{Output: &said, DisableTime: true}), quit: quit,
			gaps: func(today calendar.Date) []holidays.Gap {
				if today.Day == 3 { // somebody has added the list
					return nil
				}
				return []holidays.Gap{{Calendar: "china", Year: 2028, First: 2024, Last: 2027}}
			},
			tell: func(_ context.Context, gap holidays.Gap, now time.Time) error {
				fmt.Fprintln(&said, "told of", gap.Calendar)
				if now.Day() == 2 {
					return errors.New("the database is away")
				}
				return nil
			},
		}
		done := make(chan struct{})
		go func() { w.run(); close(done) }()
		for day, want := range []string{ // bubbles begin on 1 January
			"told of china\n",
			"[WARN]  calendar \"china\" has lists of holidays for 2024 to 2027 only: add the list for 2028; without it the weekly pattern decides, now\n" +
				"told of china\n" +
				"[ERROR] cannot notify of a calendar whose lists of holidays end: calendar=china error=\"the database is away\"\n",
			"",
		} {
			synctest.Wait()
			if got := said.take(); got != want {
				t.Errorf("on day %d: %q, want %q", day+1, got, want)
			}
			time.Sleep(calendarPeriod)
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
