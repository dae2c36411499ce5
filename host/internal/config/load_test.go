package config

import (
	"encoding/json"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/axsched/ax/host/internal/ax"
	"github.com/axsched/ax/host/internal/params"
	"github.com/axsched/ax/pluginapi/calendar"
)

func loadGood(t *testing.T) *Config {
	t.Helper()
	c, err := Load("testdata/good/config.yaml", Options{Now: testNow})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestSettings(t *testing.T) {
	t.Parallel()
	c := loadGood(t)
	got := Config{App: c.App, Node: c.Node, DataDir: c.DataDir, Store: c.Store, HTTP: c.HTTP, Log: c.Log,
		Plugins: c.Plugins, Executor: c.Executor, Retention: c.Retention}
	want := Config{
		App: "商店", Node: "host-1", DataDir: "testdata/good/state",
		Store: Store{DSN: "sqlite:testdata/good/state/other.db"},
		HTTP:  HTTP{Listen: "[::1]:9000"}, Log: Log{Level: "debug", Format: "json"},
		Plugins: Plugins{Dir: "/opt/ax/plugins", Policies: map[string]PluginPolicy{
			"exec": {StartTimeout: 3 * time.Second, CallTimeout: 500 * time.Millisecond, DrainTimeout: time.Minute,
				MaxInflight: 50, Env: map[string]string{"LANG": "C.UTF-8"}, Args: []string{"--verbose"},
				SHA256: "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"},
			"http": {Disabled: true},
		}},
		Executor:  Executor{Workers: 8, Queue: 64, Grace: 90 * time.Second},
		Retention: 14 * 24 * time.Hour,
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got\n%+v\nwant\n%+v", got, want)
	}
}

func TestComponentsOfAllFiles(t *testing.T) {
	t.Parallel()
	c := loadGood(t)
	wantNotifiers := map[string]Component{
		"ops": {"ops", ax.Use{Name: "webhook", With: json.RawMessage(`{"url":"https://ops.example/hook","retries":3}`)},
			Position{"testdata/good/config.yaml", 45, 3}},
		"nobody": {"nobody", ax.Use{Name: "chat/message"}, Position{"testdata/good/config.yaml", 55, 3}},
		"extra":  {"extra", ax.Use{Name: "webhook"}, Position{"testdata/good/conf.d/extra.yaml", 2, 13}},
	}
	if !reflect.DeepEqual(c.Notifiers, wantNotifiers) {
		t.Errorf("got\n%+v\nwant\n%+v", c.Notifiers, wantNotifiers)
	}
	wantListeners := []Component{
		{"audit", ax.Use{Name: "audit-log"}, Position{"testdata/good/config.yaml", 57, 3}},
		{"second", ax.Use{Name: "audit-log", With: json.RawMessage(`{"level":"all"}`)}, Position{"testdata/good/conf.d/extra.yaml", 4, 13}},
	}
	if !reflect.DeepEqual(c.Listeners, wantListeners) {
		t.Errorf("got\n%+v\nwant\n%+v", c.Listeners, wantListeners)
	}
}

// defaultsOfGood is what a task of testdata/good has that says nothing else.
func defaultsOfGood() ax.Task {
	return ax.Task{
		App: "商店", Group: "reports", Enabled: true, Timeout: 5 * time.Minute,
		Strategy: ax.StrategyLeastTasks, ConfirmTimeout: 30 * time.Second,
		Retry: ax.Retry{Delays: []time.Duration{10 * time.Second}, Count: 3, Factor: 1.5, Max: time.Hour,
			On: []ax.Status{ax.StatusFailed}},
		Concurrency: 2, Overlap: ax.OverlapQueue, QueueLimit: 7,
		Misfire: ax.Misfire{Policy: ax.MisfireAll, Threshold: 90 * time.Second, Window: 12 * time.Hour, Cap: 5},
		Notify:  ax.Notify{To: []string{"ops"}, On: []string{"failed", "timeout", "lost", "slow", "late", "overdue", "parked", "recovered"}, After: 1},
		Job:     ax.Use{Name: "exec"},
	}
}

func wantGoodTasks(c *Config) []ax.Task {
	utc := func(y int, m time.Month, d, h int) time.Time { return time.Date(y, m, d, h, 0, 0, 0, time.UTC) }
	hourly, daily, once, some, plugged := defaultsOfGood(), defaultsOfGood(), defaultsOfGood(), defaultsOfGood(), defaultsOfGood()
	hourly.Name, hourly.Source = "all-defaults", "config.yaml:73"
	hourly.Schedule = ax.Schedule{Every: time.Hour, Timezone: "Asia/Shanghai"}

	daily.Name, daily.Source, daily.Group = "日报", "config.yaml:76", "other"
	daily.Description, daily.Labels = "Everything: stated", map[string]string{"team": "data", "tier": "1"}
	daily.Enabled = false
	daily.Schedule = ax.Schedule{Cron: "0 0 10 ? * MON-FRI", Timezone: "Europe/Berlin",
		From: utc(2025, 12, 31, 23), Until: utc(2026, 12, 31, 12), Calendar: "shifts", OnClosed: ax.ClosedNext}
	daily.Job = ax.Use{Name: "http", With: json.RawMessage(`{"url":"http://127.0.0.1/x","list":[1,-2.5,true,null,"text"],"nested":{"a":{"b":"c"}}}`)}
	daily.Params = json.RawMessage(`{"date":"{{ date \"2006-01-02\" .ScheduledAt }}","n":3}`)
	daily.ParamsFrom = &ax.Use{Name: "lookup", With: json.RawMessage(`{"table":"x"}`)}
	daily.StartDeadline, daily.WarnAfter, daily.Retention = 5*time.Minute, 2*time.Hour, 90*24*time.Hour
	daily.Timeout, daily.Grace = 24*time.Hour, 15*time.Second
	daily.Retry.Count, daily.Concurrency, daily.Overlap, daily.Misfire.Policy = 0, 1, ax.OverlapSkip, ax.MisfireOnce
	daily.Notify = ax.Notify{To: []string{"ops", "nobody"}, On: []string{"failed", "recovered"}, After: 3}

	once.Name, once.Source = "once", "conf.d/extra.yaml:6"
	once.Schedule = ax.Schedule{At: utc(2026, 12, 1, 2), Timezone: "Asia/Shanghai"}
	once.Misfire.Policy, once.Notify.To = ax.MisfireSkip, []string{"extra", "ops"}

	some.Name, some.Source = "some", "conf.d/extra.yaml:11"
	some.Schedule = ax.Schedule{Every: 36 * time.Hour, Anchor: utc(2025, 12, 31, 16), RepeatCount: new(3), Timezone: "Asia/Shanghai"}
	some.Retry.Delays = []time.Duration{time.Second, 2 * time.Second, 3 * time.Second}
	some.Overlap, some.Concurrency = ax.OverlapAllow, 0

	plugged.Name, plugged.Source = "plugged", "conf.d/extra.yaml:18"
	plugged.Schedule = ax.Schedule{Trigger: &ax.Use{Name: "calendars/workday", With: json.RawMessage(`{"time":"10:00"}`)},
		Calendars: []string{"china"}, Timezone: "Asia/Shanghai"}

	tasks := []ax.Task{hourly, daily, once, some, plugged}
	for i := range tasks {
		tasks[i].ID = ax.NewTaskID("商店", tasks[i].Name)
		tasks[i].Schedule.Version = Version(tasks[i].Schedule, c.Calendars)
	}
	return tasks
}

func TestTasks(t *testing.T) {
	t.Parallel()
	c := loadGood(t)
	want := wantGoodTasks(c)
	if len(c.Tasks) != len(want) {
		t.Fatalf("%d tasks, want %d", len(c.Tasks), len(want))
	}
	for i := range want {
		if !reflect.DeepEqual(c.Tasks[i], want[i]) {
			t.Errorf("got\n%+v\nwant\n%+v", c.Tasks[i], want[i])
		}
	}
}

func TestCalendars(t *testing.T) {
	t.Parallel()
	c := loadGood(t)
	for _, day := range []struct {
		calendar, date string
		open           bool
		reason         string
	}{
		{"china", "2026-01-01", false, "New Year"},
		{"china", "2026-01-04", true, "New Year"},
		{"china", "2026-05-01", false, "Labour Day"},
		{"china", "2026-03-07", false, "weekly pattern: Saturday is closed"},
		{"shifts", "2026-03-07", true, "weekly pattern: Saturday is open"},
		{"shifts", "2026-03-10", false, "weekly pattern: Tuesday is closed"},
		{"shifts", "2026-05-01", false, "Labour Day"},
		{"shifts", "2026-05-02", true, "2026-05-02"},
		{"shifts", "2026-02-23", false, "2026-02-15..2026-02-23"},
		{"shifts", "2027-12-25", false, "12-25"},
		{"shifts", "2026-02-28", false, "day -1"},
		{"shifts", "2026-06-15", false, "day 15"},
		{"shifts", "2026-03-02", false, "Inventory"},
		{"empty", "2026-03-01", true, "no weekly pattern: every day is open"},
	} {
		date, err := calendar.ParseDate(day.date)
		if err != nil {
			t.Fatal(err)
		}
		got := c.Calendars[day.calendar].Explain(date)
		if got.Open != day.open || got.Reason != day.reason {
			t.Errorf("%s on %s: open %t, %q; want %t, %q", day.calendar, day.date, got.Open, got.Reason, day.open, day.reason)
		}
	}
}

func TestExampleLoads(t *testing.T) {
	t.Parallel()
	c, err := Load("../../../config.example.yaml", Options{Now: testNow})
	if err != nil {
		t.Fatal(err)
	}
	if len(c.Tasks) != 7 || len(c.Warnings) > 0 {
		t.Errorf("%d tasks, warnings %v", len(c.Tasks), c.Warnings)
	}
}

func TestWarnings(t *testing.T) {
	t.Parallel()
	c := load(t, map[string]string{
		"config.yaml": `app: a
calendars: {china: {files: days.csv}, later: {files: later.csv}, unused: {files: days.csv}}
tasks:
  - {name: a, job: {use: exec}, at: 2026-02-28T10:00:00Z}
  - {name: b, job: {use: exec}, every: 1h, until: 2025-01-01}
  - {name: c, job: {use: exec}, at: 2026-03-02}
  - {name: d, job: {use: exec}, every: 1h, calendar: china}
  - {name: e, job: {use: exec}, every: 1h, calendar: later}
  - {name: f, job: {use: exec}, every: 1h, calendar: unused, enabled: false}
  - {name: g, job: {use: exec}, trigger: {use: x, calendars: [china, later]}}
`,
		"days.csv":  "date,name,kind\n2024-01-01,x,off\n2025-01-01,x,off\n",
		"later.csv": "date,name,kind\n2026-01-01,x,off\n",
	})
	var got []string
	for _, w := range c.Warnings {
		got = append(got, strings.ReplaceAll(w.String(), filepath.Dir(w.File)+"/", ""))
	}
	want := []string{
		`config.yaml:2:13: calendar "china" has lists of holidays for 2024 to 2025 only: add the list for 2026; without it the weekly pattern decides, now`,
		`config.yaml:4:37: at: "2026-02-28T10:00:00Z" is in the past, the task will not run`,
		`config.yaml:5:51: until: "2025-01-01" is in the past, the task will not run any more`,
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// TestInjectedChecks: what only the host can tell has its place in the file.
func TestInjectedChecks(t *testing.T) {
	t.Parallel()
	o := Options{
		CheckSchedule: func(s ax.Schedule, calendars map[string]*calendar.Calendar, task string) []ScheduleFault {
			if s.Cron == "" || calendars["c"] == nil {
				return nil
			}
			return []ScheduleFault{{Key: "cron", Part: "32", Message: task + " has no day 32"}, {Message: "never due"}}
		},
		CheckTemplate: func(text string) []params.Finding {
			return []params.Finding{{Part: "{{", Message: "no templates today"}, {Message: "maybe", Doubt: true}}
		},
	}
	got := faultLines(t, map[string]string{"config.yaml": `app: a
calendars: {c: {}, d: {extends: d}}
tasks:
  - {name: t, job: {use: exec}, cron: "0 0 10 32 * ?"}
  - {name: v, job: {use: exec}, cron: "0 0 10 32 * ?", calendar: d}
  - name: u
    job: {use: exec}
    every: 1m
    params: {a: {b: [x, "{{ now }}"]}, c: "{{"}
`}, o)
	want := []string{
		`config.yaml:2:20: calendar "d" extends itself`,
		`config.yaml:4:5: never due`,
		`config.yaml:4:47: cron: t has no day 32`,
		`config.yaml:9:26: params: no templates today`,
		`config.yaml:9:44: params: no templates today`,
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// TestVersion: it follows what decides due times, and nothing else.
func TestVersion(t *testing.T) {
	t.Parallel()
	base := "app: a\ncalendars: {c: {closed: [2026-01-01]}, d: {}}\ntasks:\n  - name: t\n    job: {use: exec}\n    cron: \"0 0 10 * * ?\"\n    calendar: c\n"
	version := func(text string) string {
		return load(t, map[string]string{"config.yaml": text}).Tasks[0].Schedule.Version
	}
	want := version(base)
	for _, same := range []string{
		base + "    timeout: 5m\n    description: x\n",
		strings.Replace(base, "d: {}", "d: {weekly: MON}", 1),
		strings.Replace(base, "use: exec", "use: http", 1),
	} {
		if version(same) != want {
			t.Errorf("the version changes with\n%s", same)
		}
	}
	for _, other := range []string{
		base + "    timezone: Asia/Tokyo\n",
		base + "    from: 2026-01-01\n",
		base + "    on_closed: next\n",
		strings.Replace(base, "closed: [2026-01-01]", "closed: [2026-01-02]", 1),
		strings.Replace(base, "0 0 10", "0 0 11", 1),
		strings.Replace(base, "calendar: c\n", "calendar: d\n", 1),
	} {
		if version(other) == want {
			t.Errorf("the version does not change with\n%s", other)
		}
	}
}
