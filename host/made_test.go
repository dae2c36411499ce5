package host

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/axsched/ax/host/internal/api"
	"github.com/axsched/ax/host/internal/ax"
	"github.com/axsched/ax/host/internal/config"
)

const tidy = "name: tidy\ncron: 0 0 3 * * ?\njob: {use: exec, with: {command: [df]}}\n"

func create(t *testing.T, h *Host, text string) api.Definition {
	t.Helper()
	d, err := backend{h}.CreateTask(t.Context(), []byte(text), "ann")
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return d
}

// TestMadeTask: a task that people make is there like any other, through reloads
// and restarts, until they delete it.
func TestMadeTask(t *testing.T) {
	t.Parallel()
	h, path, _ := started(t, "- {name: a, every: 1h, job: {use: exec}}\n")
	b := backend{h}
	d := create(t, h, tidy)
	if d.Version != 1 || d.Source != api.SourceConsole || d.UpdatedBy != "ann" || !strings.Contains(d.YAML, `cron: "0 0 3 * * ?"`) {
		t.Errorf("%+v", d)
	}
	if len(d.Warnings) != 1 || d.Warnings[0].Field != "job.use" {
		t.Errorf("the plugin is missing: %+v", d.Warnings)
	}
	view, err := b.Task(t.Context(), "tidy")
	if err != nil || view.State != api.TaskParked && view.State != api.TaskOn || view.NextAt.IsZero() || view.Version != 1 {
		t.Errorf("%+v %v", view, err)
	}
	writeTasks(t, path, "- {name: b, every: 1h, job: {use: exec}}\n")
	report, err := h.Reload(t.Context(), "test")
	if err != nil || report.Added != 1 || report.Removed != 1 || report.Unchanged != 1 {
		t.Errorf("%+v %v", report, err)
	}
	h.Stop(t.Context())
	h = again(t, path)
	b = backend{h}
	after, err := b.Task(t.Context(), "tidy")
	if err != nil || !after.NextAt.Equal(view.NextAt) {
		t.Errorf("after a restart: %+v %v", after, err)
	}
	d, err = b.ReplaceTask(t.Context(), "tidy", []byte(strings.Replace(tidy, "0 3", "30 4", 1)), api.Edit{Version: 1, Actor: "bob"})
	if err != nil || d.Version != 2 || d.UpdatedBy != "bob" {
		t.Fatalf("%+v %v", d, err)
	}
	if moved, err := b.Task(t.Context(), "tidy"); err != nil || moved.NextAt.Equal(after.NextAt) || moved.NextAt.UTC().Format("15:04") != "04:30" {
		t.Errorf("next at %s, %v", moved.NextAt, err)
	}
	if err := b.DeleteTask(t.Context(), "tidy", api.Edit{Version: 2, Actor: "bob"}); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Task(t.Context(), "tidy"); !isNotFound(err) {
		t.Errorf("the deleted task: %v", err)
	}
	if d := create(t, h, tidy); d.Version != 3 {
		t.Errorf("made again with version %d", d.Version)
	}
}

// again starts another life of the host with a configuration.
func again(t *testing.T, path string) *Host {
	t.Helper()
	h, err := New(Options{Config: path})
	if err == nil {
		err = h.Start(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { h.Stop(t.Context()) })
	return h
}

func isNotFound(err error) bool {
	_, ok := errors.AsType[*api.NotFound](err)
	return ok
}

// TestEditors: of two who edit the same version one learns of the other, with both
// versions told.
func TestEditors(t *testing.T) {
	t.Parallel()
	h, _, _ := started(t, "- {name: a, every: 1h, job: {use: exec}}\n")
	b := backend{h}
	create(t, h, tidy)
	if _, err := b.ReplaceTask(t.Context(), "tidy", []byte(tidy+"description: mine\n"), api.Edit{Version: 1, Actor: "ann"}); err != nil {
		t.Fatal(err)
	}
	_, err := b.ReplaceTask(t.Context(), "tidy", []byte(tidy+"description: theirs\n"), api.Edit{Version: 1, Actor: "bob"})
	if stale, ok := errors.AsType[*api.Stale](err); !ok || stale.Asked != 1 || stale.Present != 2 || stale.By != "ann" {
		t.Errorf("%v", err)
	}
	if err := b.DeleteTask(t.Context(), "tidy", api.Edit{Version: 1}); err == nil {
		t.Error("an old version was deleted")
	}
	if _, err := b.ReplaceTask(t.Context(), "tidy", []byte(tidy+"description: forced\n"), api.Edit{Actor: "bob"}); err != nil {
		t.Errorf("any version: %v", err)
	}
	trail, err := b.AuditTrail(t.Context(), ax.AuditFilter{Object: "tidy"})
	trail = slices.DeleteFunc(trail, func(r ax.AuditRow) bool { return r.Action != "task.update" })
	if err != nil || len(trail) != 2 || trail[0].Actor != "bob" {
		t.Fatalf("%v %v", trail, err)
	}
	for _, want := range []string{`"before":{"name":"tidy","description":"mine",`, `"after":{"name":"tidy","description":"forced",`} {
		if !strings.Contains(string(trail[0].Detail), want) {
			t.Errorf("%s does not tell %s", trail[0].Detail, want)
		}
	}
}

// TestNamesInUse: a name is defined in one place, and whoever comes second is told
// where that is.
func TestNamesInUse(t *testing.T) {
	t.Parallel()
	h, path, _ := started(t, "- {name: a, every: 1h, job: {use: exec}}\n")
	b := backend{h}
	create(t, h, tidy)
	for text, want := range map[string]string{
		strings.Replace(tidy, "tidy", "a", 1): `name: there is a task "a" already, defined in ax.yaml:6`,
		tidy:                                  `name: there is a task "tidy" already, made in the console`,
	} {
		_, err := b.CreateTask(t.Context(), []byte(text), "ann")
		if invalid, ok := errors.AsType[*api.Invalid](err); !ok || invalid.Faults[0].Message != want || invalid.Faults[0].Where != "body.name" {
			t.Errorf("%v, want %s", err, want)
		}
	}
	for what, err := range map[string]error{
		"replace": func() error {
			_, err := b.ReplaceTask(t.Context(), "a", []byte(strings.Replace(tidy, "tidy", "a", 1)), api.Edit{})
			return err
		}(),
		"delete": b.DeleteTask(t.Context(), "a", api.Edit{}),
	} {
		if conflict, ok := errors.AsType[*api.Conflict](err); !ok || !strings.Contains(conflict.Reason, `task "a" is defined in ax.yaml:6: change it there`) {
			t.Errorf("%s: %v", what, err)
		}
	}
	_, err := b.ReplaceTask(t.Context(), "tidy", []byte(strings.Replace(tidy, "tidy", "b", 1)), api.Edit{})
	if invalid, ok := errors.AsType[*api.Invalid](err); !ok || invalid.Faults[0].Where != "body.name" {
		t.Errorf("another name: %v", err)
	}
	writeTasks(t, path, "- {name: a, every: 1h, job: {use: exec}}\n- {name: tidy, every: 1h, job: {use: exec}}\n")
	_, err = h.Reload(t.Context(), "test")
	faults, ok := errors.AsType[config.Faults](err)
	if !ok || len(faults) != 1 || faults[0].Line != 7 || !strings.Contains(err.Error(), "ax.yaml:7:1: there is a task \"tidy\" already that was made in the console") {
		t.Errorf("reload: %v", err)
	}
	if _, err := b.Plan(t.Context(), nil); err == nil || !strings.Contains(fmt.Sprintf("%+v", err), "faults") {
		t.Errorf("plan: %v", err)
	}
	h.Stop(t.Context())
	other, err := New(Options{Config: path})
	if err == nil {
		err = other.Start(t.Context())
	}
	if err == nil || !strings.Contains(err.Error(), "ax.yaml:7:1") {
		t.Errorf("start: %v", err)
	}
}

// TestMadeTasksAndCalendars: a changed calendar plans a made task anew, and one
// that is gone stops it with a word and nothing else.
func TestMadeTasksAndCalendars(t *testing.T) {
	t.Parallel()
	h, path, _ := started(t, "- {name: a, every: 1h, job: {use: exec}}\n")
	b := backend{h}
	with := func(calendars string) {
		t.Helper()
		writeTasks(t, path, "- {name: a, every: 1h, job: {use: exec}}\n"+calendars)
		if _, err := h.Reload(t.Context(), "test"); err != nil {
			t.Fatal(err)
		}
	}
	with("calendars: {c: {weekly: MON}}\n")
	create(t, h, "name: weekly\ncron: 0 0 3 * * ?\ncalendar: c\njob: {use: exec}\n")
	weekday := func() time.Weekday {
		t.Helper()
		view, err := b.Task(t.Context(), "weekly")
		if err != nil {
			t.Fatal(err)
		}
		return view.NextAt.UTC().Weekday()
	}
	if got := weekday(); got != time.Monday {
		t.Errorf("due on %s", got)
	}
	writeTasks(t, path, "- {name: a, every: 1h, job: {use: exec}}\ncalendars: {c: {weekly: THU}}\n")
	plan, err := b.Plan(t.Context(), nil)
	if err != nil || len(plan.Changed) != 1 || plan.Changed[0].Task != "weekly" || plan.Changed[0].MovesTotal == 0 || len(plan.Removed) != 0 {
		t.Errorf("plan: %+v %v", plan, err)
	}
	with("calendars: {c: {weekly: THU}}\n")
	if got := weekday(); got != time.Thursday {
		t.Errorf("due on %s", got)
	}
	with("")
	if view, err := b.Task(t.Context(), "weekly"); err != nil || !strings.Contains(view.Parked, `calendar "c"`) {
		t.Errorf("without its calendar: %+v %v", view, err)
	}
	if _, err := b.Definition(t.Context(), "weekly"); err != nil {
		t.Error(err)
	}
	with("calendars: {c: {weekly: THU}}\n")
	if view, err := b.Task(t.Context(), "weekly"); err != nil || view.Parked != "" && strings.Contains(view.Parked, "calendar") || weekday() != time.Thursday {
		t.Errorf("with its calendar again: %+v %v", view, err)
	}
}

func TestCheckTask(t *testing.T) {
	t.Parallel()
	h, _, _ := started(t, "- {name: a, every: 1h, job: {use: exec}}\n")
	b := backend{h}
	check, err := b.CheckTask(t.Context(), []byte(tidy), "")
	if err != nil || len(check.Faults) != 0 || len(check.Times) != previewTimes || check.Words == nil || check.Words.En == "" || !strings.HasPrefix(check.YAML, "name: tidy\ncron:") {
		t.Errorf("%+v %v", check, err)
	}
	check, err = b.CheckTask(t.Context(), []byte("name: x y\ncron: 0 0 3 * * ?\n"), "")
	if err != nil || len(check.Faults) != 2 || len(check.Times) != previewTimes {
		t.Errorf("faults elsewhere do not hide when it is due: %+v %v", check, err)
	}
	check, err = b.CheckTask(t.Context(), []byte("name: x\ncron: 0 0 99 * * ?\njob: {use: exec}\n"), "")
	if err != nil || len(check.Faults) != 1 || check.Faults[0].Field != "cron" || check.Times != nil {
		t.Errorf("%+v %v", check, err)
	}
	if tasks, err := b.Tasks(t.Context(), api.TaskQuery{Limit: 10}); err != nil || len(tasks) != 1 {
		t.Errorf("a check has made a task: %v %v", tasks, err)
	}
}

// TestGate: commands need who may give them, to make, change and delete.
func TestGate(t *testing.T) {
	t.Parallel()
	h, _, _ := started(t, "- {name: a, every: 1h, job: {use: exec}}\n")
	b := backend{h}
	create(t, h, tidy)
	h.gate = func(_ context.Context, group string, commands bool) error {
		if commands || group == "closed" {
			return &api.Forbidden{Reason: "no"}
		}
		return nil
	}
	_, makes := b.CreateTask(t.Context(), []byte(strings.Replace(tidy, "tidy", "other", 1)), "op")
	_, changes := b.ReplaceTask(t.Context(), "tidy", []byte("name: tidy\nevery: 1h\njob: {use: http}\n"), api.Edit{})
	_, closed := b.CreateTask(t.Context(), []byte("name: x\nevery: 1h\ngroup: closed\njob: {use: http}\n"), "op")
	for what, err := range map[string]error{"make": makes, "change": changes, "other group": closed, "delete": b.DeleteTask(t.Context(), "tidy", api.Edit{})} {
		if _, ok := errors.AsType[*api.Forbidden](err); !ok {
			t.Errorf("%s: %v", what, err)
		}
	}
	if _, err := b.CreateTask(t.Context(), []byte("name: x\nevery: 1h\njob: {use: http}\n"), "op"); err != nil {
		t.Errorf("no command: %v", err)
	}
}

// TestIdempotency: a request that arrives again starts nothing.
func TestIdempotency(t *testing.T) {
	t.Parallel()
	h, _, _ := started(t, "- {name: a, every: 1h, job: {use: exec}, overlap: allow}\n")
	b := backend{h}
	h.ready.Store(&readiness{}) // the plugin is not there, which does not matter here
	run := func(key, digest string) (ax.InstanceID, error) {
		return b.Run(t.Context(), "a", api.RunOptions{Key: key, Digest: digest, Actor: "ann"})
	}
	first, err := run("k", "1")
	if err != nil {
		t.Fatal(err)
	}
	if again, err := run("k", "1"); err != nil || again != first {
		t.Errorf("again: %s %v, the first was %s", again, err, first)
	}
	if _, err := run("k", "2"); err == nil || !strings.Contains(err.Error(), `the key "k" was used for another request`) {
		t.Errorf("another request: %v", err)
	}
	if other, err := run("other", "1"); err != nil || other == first {
		t.Errorf("another key: %s %v", other, err)
	}
}

// TestCheckCalendar: a file tells which due times it would move, and moves none.
func TestCheckCalendar(t *testing.T) {
	t.Parallel()
	h, path, _ := started(t, "- {name: a, every: 1h, job: {use: exec}}\n")
	b := backend{h}
	year := time.Now().Year() + 1
	day := time.Date(year, 1, 1, 0, 0, 0, 0, time.UTC)
	for day.Weekday() != time.Tuesday {
		day = day.AddDate(0, 0, 1)
	}
	line := func(d time.Time) string { return d.Format(time.DateOnly) + ",off,Day off\n" }
	if err := os.WriteFile(filepath.Join(filepath.Dir(path), "days.csv"), []byte("date,kind,name\n"+line(day)), 0o600); err != nil {
		t.Fatal(err)
	}
	writeTasks(t, path, "- {name: a, cron: '0 0 3 * * ?', calendar: work, job: {use: exec}}\n- {name: b, cron: '0 0 3 ? * SUN', calendar: work, job: {use: exec}}\n"+
		"- {name: c, every: 1h, job: {use: exec}}\ncalendars: {work: {weekly: MON-SUN, files: days.csv}, plain: {weekly: MON}}\n")
	if _, err := h.Reload(t.Context(), "test"); err != nil {
		t.Fatal(err)
	}
	soon := time.Now().UTC().AddDate(0, 0, 7)
	for soon.Weekday() == time.Sunday {
		soon = soon.AddDate(0, 0, 1)
	}
	check, err := b.CheckCalendar(t.Context(), "work", "", []byte("date,kind,name\n"+line(day)+line(soon)))
	if err != nil {
		t.Fatal(err)
	}
	if check.File != filepath.Join(filepath.Dir(path), "days.csv") || check.Same != 1 || len(check.Tasks) != 1 || check.Tasks[0].Task != "a" || check.Tasks[0].MovesTotal != 1 {
		t.Errorf("%+v", check)
	}
	if len(check.Days) != 1 || check.Days[0].Date != soon.Format(time.DateOnly) || check.Days[0].After || check.Days[0].Reason == "" {
		t.Errorf("days %+v", check.Days)
	}
	for _, bad := range []struct{ name, file, content, want string }{
		{"nope", "", "", "nope"},
		{"plain", "", "", "reads no file"},
		{"work", "other.csv", "", "only days.csv"},
		{"work", "days.csv", "date,kind,name\nyesterday,off,x\n", "faults"},
	} {
		if _, err := b.CheckCalendar(t.Context(), bad.name, bad.file, []byte(bad.content)); err == nil || !strings.Contains(err.Error(), bad.want) {
			t.Errorf("%+v: %v", bad, err)
		}
	}
	if list, err := b.ListCalendars(t.Context()); err != nil || len(list) != 2 || len(list[1].Files) != 1 || len(list[1].Tasks) != 2 {
		t.Errorf("%+v %v", list, err)
	}
}
