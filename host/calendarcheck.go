package host

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/axsched/ax/host/internal/api"
	"github.com/axsched/ax/host/internal/ax"
	"github.com/axsched/ax/host/internal/config"
	"github.com/axsched/ax/host/internal/preview"
	"github.com/axsched/ax/host/internal/trigger"
	"github.com/axsched/ax/pluginapi/calendar"
)

// maxChangedDays bounds how many days that a file changes are listed.
const maxChangedDays = 1000

// ListCalendars implements api.CalendarBackend.
func (b backend) ListCalendars(context.Context) ([]api.CalendarView, error) {
	l := b.h.live.Load()
	users := l.calendarUsers()
	gaps := map[string]string{}
	for _, gap := range l.cfg.Gaps(calendar.DateOf(time.Now())) {
		gaps[gap.Calendar] = gap.String()
	}
	var all []api.CalendarView
	for _, name := range slices.Sorted(maps.Keys(l.cfg.Calendars)) {
		v := api.CalendarView{Name: name, Tasks: users[name], Gap: gaps[name]}
		if first, last, bounded := l.cfg.Calendars[name].Coverage(); bounded {
			v.First, v.Last = first, last
		}
		for _, file := range l.cfg.CalendarFiles(name) {
			v.Files = append(v.Files, file.Name)
		}
		all = append(all, v)
	}
	return all, nil
}

// calendarUsers returns the names of the tasks that use calendars, by these.
func (l *live) calendarUsers() map[string][]string {
	users := map[string][]string{}
	for name, entry := range l.entries {
		for _, c := range entry.Row.Schedule.CalendarNames() {
			users[c] = append(users[c], name)
		}
	}
	for _, list := range users {
		slices.Sort(list)
	}
	return users
}

// CheckCalendar implements api.CalendarBackend.
func (b backend) CheckCalendar(ctx context.Context, name, file string, content []byte) (api.CalendarCheck, error) {
	h, l := b.h, b.h.live.Load()
	was := l.cfg.Calendars[name]
	if was == nil {
		return api.CalendarCheck{}, &api.NotFound{What: "calendar", Name: name}
	}
	replaced, err := fileOf(l.cfg, name, file)
	if err != nil {
		return api.CalendarCheck{}, err
	}
	cfg, err := loadWith(h.opts.Config, map[string][]byte{replaced.Path: content})
	if err != nil {
		return api.CalendarCheck{}, invalidConfig(err)
	}
	is := cfg.Calendars[name]
	if is == nil {
		return api.CalendarCheck{}, &api.Conflict{Reason: fmt.Sprintf("the configuration on disk has no calendar %q any more: reload first", name)}
	}
	path, err := filepath.Abs(replaced.Path)
	if err != nil {
		return api.CalendarCheck{}, fmt.Errorf("find the file: %w", err)
	}
	check := api.CalendarCheck{Calendar: name, File: path, Days: changedDays(was, is)}
	for _, w := range cfg.Warnings {
		if w.File == replaced.Path {
			check.Warnings = append(check.Warnings, w.String())
		}
	}
	plan := h.planCalendars(ctx, l, cfg)
	check.Same = plan.Unchanged
	for _, p := range plan.Changed {
		if p.MovesTotal == 0 && p.Note == "" && slices.EqualFunc(p.Before, p.After, time.Time.Equal) {
			check.Same++
			continue
		}
		check.Tasks = append(check.Tasks, p)
	}
	return check, nil
}

// fileOf returns the file of a calendar with a name, or its only one.
func fileOf(cfg *config.Config, name, file string) (config.HolidayFile, error) {
	files := cfg.CalendarFiles(name)
	var names []string
	for _, f := range files {
		if f.Name == file || file == "" && len(files) == 1 {
			return f, nil
		}
		names = append(names, f.Name)
	}
	switch {
	case len(files) == 0:
		return config.HolidayFile{}, &api.Conflict{Reason: fmt.Sprintf("calendar %q reads no file: add one to its files: in the configuration", name)}
	case file == "":
		return config.HolidayFile{}, &api.Conflict{Reason: fmt.Sprintf("calendar %q reads several files, say which one is replaced: %s", name, strings.Join(names, ", "))}
	}
	return config.HolidayFile{}, &api.Conflict{Reason: fmt.Sprintf("calendar %q does not read the file %q, only %s", name, file, strings.Join(names, ", "))}
}

// changedDays returns the days that are open in one calendar and closed in the
// other, in the years that either has lists for.
func changedDays(was, is *calendar.Calendar) []api.CalendarDay {
	first, last, _ := was.Coverage()
	otherFirst, otherLast, _ := is.Coverage()
	this := time.Now().Year()
	first, last = min(cmp.Or(first, this), cmp.Or(otherFirst, this)), max(last, otherLast, this+1)
	var days []api.CalendarDay
	end := calendar.Date{Year: last + 1, Month: time.January, Day: 1}
	for date := (calendar.Date{Year: first, Month: time.January, Day: 1}); date != end && len(days) < maxChangedDays; date = date.AddDays(1) {
		before, after := was.Explain(date), is.Explain(date)
		if before.Open != after.Open {
			days = append(days, api.CalendarDay{Date: date.String(), Before: before.Open, After: after.Open, Reason: after.Reason})
		}
	}
	return days
}

// planCalendars compares the tasks in force with themselves under the calendars of
// another configuration, as far as they use one that differs.
func (h *Host) planCalendars(ctx context.Context, l *live, cfg *config.Config) *preview.Plan {
	now := h.now().Truncate(time.Microsecond)
	before := h.liveSide(l)
	before.Tasks = nil
	after := preview.Side{Calendars: cfg.Calendars}
	whole := map[string]*ax.Task{}
	for _, entry := range l.entries {
		task := entry.Row.Task
		if !slices.ContainsFunc(task.Schedule.CalendarNames(), func(name string) bool {
			was, is := l.cfg.Calendars[name], cfg.Calendars[name]
			return was != nil && is != nil && was.Hash() != is.Hash()
		}) {
			continue
		}
		shown := withoutSecrets(h.redactor, task)
		before.Tasks, after.Tasks = append(before.Tasks, shown), append(after.Tasks, shown)
		whole[task.Name] = &task
	}
	after.Timetable = func(t *ax.Task) (*trigger.Timetable, error) {
		return h.timetable(cfg, whole[t.Name], l.entries[t.Name].Row.AnchorAt)
	}
	return preview.Compare(ctx, before, after, now)
}
