package preview

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/axsched/ax/host/internal/ax"
	"github.com/axsched/ax/host/internal/trigger"
	"github.com/axsched/ax/pluginapi/calendar"
)

// side makes a side whose calendars are those given.
func side(calendars map[string]*calendar.Calendar, tasks ...ax.Task) Side {
	return Side{Tasks: tasks, Calendars: calendars, Timetable: func(t *ax.Task) (*trigger.Timetable, error) {
		return trigger.Compile(trigger.Spec{Schedule: t.Schedule, Task: t.Name, Calendars: calendars, AnchorAt: monday})
	}}
}

func closedOn(t *testing.T, days ...string) map[string]*calendar.Calendar {
	t.Helper()
	spec := calendar.Spec{Name: "work", Weekly: []time.Weekday{1, 2, 3, 4, 5}}
	for _, text := range days {
		rule, err := calendar.ParseRule(text)
		if err != nil {
			t.Fatal(err)
		}
		rule.Name = "Holiday"
		spec.Closed = append(spec.Closed, rule)
	}
	c, err := calendar.New(spec)
	if err != nil {
		t.Fatal(err)
	}
	return map[string]*calendar.Calendar{"work": c}
}

func TestCompare(t *testing.T) {
	t.Parallel()
	daily := ax.Schedule{Cron: "0 0 9 * * ?"}
	before := side(nil, task("gone", daily), task("same", daily), task("later", daily), task("off", daily))
	later, off := task("later", ax.Schedule{Cron: "0 0 10 * * ?", Jitter: 90 * time.Second}), task("off", daily)
	later.Timeout, later.Source, off.Enabled = time.Hour, "conf.yaml:7", false
	same := task("same", daily)
	same.Source = "other.yaml:1"
	p := Compare(t.Context(), before, side(nil, off, later, same, task("new", daily), task("broken", ax.Schedule{Trigger: &ax.Use{Name: "x"}})), monday)
	var lines []string
	for _, list := range [][]TaskPlan{p.Added, p.Changed, p.Removed} {
		for _, task := range list {
			lines = append(lines, fmt.Sprintf("%s %v %d %d %s", task.Task, task.Fields, len(task.Before), len(task.After), task.Note))
		}
	}
	want := []string{
		"broken [] 0 0 trigger: no plugins are at hand to ask for x",
		"new [] 0 5 ",
		"later [{cron 0 0 9 * * ? 0 0 10 * * ?} {jitter  1m30s} {timeout  1h}] 5 5 ",
		"off [{enabled true false}] 5 0 ",
		"gone [] 5 0 ",
	}
	if got := strings.Join(lines, "\n"); got != strings.Join(want, "\n") || p.Unchanged != 1 {
		t.Errorf("%d unchanged, got\n%s\nwant\n%s", p.Unchanged, got, strings.Join(want, "\n"))
	}
	if p.Empty() || !Compare(t.Context(), before, before, monday).Empty() {
		t.Error("wrong about whether anything changes")
	}
}

// TestEveryKeyCounts changes each key of a definition in turn: a plan must see
// it. Where a task comes from and its version are no keys.
func TestEveryKeyCounts(t *testing.T) {
	t.Parallel()
	base := task("t", ax.Schedule{Cron: "* * * * *"})
	none := map[string]bool{"Name": true, "ID": true, "App": true, "Source": true, "Schedule.Version": true}
	var walk func(path string, get func(*ax.Task) reflect.Value)
	walk = func(path string, get func(*ax.Task) reflect.Value) {
		v := get(&base)
		if v.Kind() == reflect.Struct && v.Type() != reflect.TypeFor[time.Time]() {
			for i := range v.NumField() {
				name := strings.TrimPrefix(path+"."+v.Type().Field(i).Name, ".")
				walk(name, func(t *ax.Task) reflect.Value { return get(t).Field(i) })
			}
			return
		}
		if none[path] {
			return
		}
		changed := base
		set(get(&changed))
		if fields := changedFields(&base, &changed); len(fields) == 0 {
			t.Errorf("a change of %s is not seen", path)
		}
	}
	walk("", func(t *ax.Task) reflect.Value { return reflect.ValueOf(t).Elem() })
}

// set changes a value.
func set(v reflect.Value) {
	switch x := v.Addr().Interface().(type) {
	case *time.Time:
		*x = monday
	case *json.RawMessage:
		*x = json.RawMessage(`{"a":1}`)
	case **ax.Use:
		*x = &ax.Use{Name: "u", With: json.RawMessage(`{"a":1}`)}
	case **int:
		*x = new(3)
	case *map[string]string:
		*x = map[string]string{"a": "b"}
	case *bool:
		*x = !*x
	default:
		switch v.Kind() {
		case reflect.String:
			v.SetString("other")
		case reflect.Int, reflect.Int64:
			v.SetInt(int64(time.Hour))
		case reflect.Float64:
			v.SetFloat(2.5)
		case reflect.Slice:
			v.Set(reflect.MakeSlice(v.Type(), 1, 1))
			if e := v.Index(0); e.Kind() == reflect.String {
				e.SetString("x")
			}
		default:
			panic("no way to change a " + v.Type().String())
		}
	}
}

// TestSettingsAreNotShown: what may be a secret is told of, not shown.
func TestSettingsAreNotShown(t *testing.T) {
	t.Parallel()
	secret := json.RawMessage(`{"token":"s3cret"}`)
	changed := task("t", ax.Schedule{Trigger: &ax.Use{Name: "x", With: secret}})
	changed.Job = ax.Use{Name: "exec", With: secret}
	changed.Params, changed.ParamsFrom = secret, &ax.Use{Name: "p", With: secret}
	base := task("t", ax.Schedule{Trigger: &ax.Use{Name: "x"}})
	base.Job, base.ParamsFrom = ax.Use{Name: "exec"}, &ax.Use{Name: "p"}
	fields := changedFields(&base, &changed)
	if got := fmt.Sprint(fields); got != "[{job.with  } {params  } {params_from.with  } {trigger.with  }]" {
		t.Error(got)
	}
}

func TestMoves(t *testing.T) {
	t.Parallel()
	day := func(d, hour int) time.Time { return time.Date(2026, time.March, d, hour, 0, 0, 0, time.UTC) }
	holiday := "2026-03-05 is closed in work: Holiday"
	for _, tc := range []struct {
		name       string
		s          ax.Schedule
		was, is    []string
		wantMoves  []Move
		wantFields string
	}{
		{
			"a day becomes closed", ax.Schedule{Cron: "0 0 9 * * ?", Calendar: "work"}, nil, []string{"2026-03-05"},
			[]Move{{At: day(5, 9), Before: day(5, 9), Reason: holiday}}, "[{days of calendar work  }]",
		},
		{
			"a day becomes open", ax.Schedule{Cron: "0 0 9 * * ?", Calendar: "work"}, []string{"2026-03-05"}, nil,
			[]Move{{At: day(5, 9), After: day(5, 9)}}, "[{days of calendar work  }]",
		},
		{
			"moved to a day that is due anyhow", ax.Schedule{Cron: "0 0 9 * * ?", Calendar: "work", OnClosed: ax.ClosedNext}, nil, []string{"2026-03-05"},
			[]Move{{At: day(5, 9), Before: day(5, 9), Reason: holiday}}, "[{days of calendar work  }]",
		},
		{
			"moved", ax.Schedule{Cron: "0 0 9 ? * THU", Calendar: "work", OnClosed: ax.ClosedPrevious}, nil, []string{"2026-03-05"},
			[]Move{{At: day(5, 9), Before: day(5, 9), After: day(4, 9), Reason: holiday}}, "[{days of calendar work  }]",
		},
		{
			"a day on which it is not due", ax.Schedule{Cron: "0 0 9 ? * MON", Calendar: "work"}, nil, []string{"2026-03-05"},
			nil, "[{days of calendar work  }]",
		},
		{
			"of a blackout", ax.Schedule{Cron: "0 0 9 * * ?", Blackouts: []ax.Blackout{{To: 24 * time.Hour, Calendar: "work"}}}, nil, []string{"2026-03-05"},
			[]Move{{At: day(5, 9), Before: day(5, 9), Reason: "blackout closed days of work"}}, "[{days of calendar work  }]",
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			p := Compare(t.Context(), side(closedOn(t, tc.was...), task("t", tc.s)), side(closedOn(t, tc.is...), task("t", tc.s)), monday)
			if len(p.Changed) != 1 {
				t.Fatalf("%+v", p)
			}
			got := p.Changed[0]
			if !reflect.DeepEqual(got.Moves, tc.wantMoves) || got.MovesTotal != len(tc.wantMoves) || fmt.Sprint(got.Fields) != tc.wantFields {
				t.Errorf("fields %v, %d moves, got\n%+v\nwant\n%+v", got.Fields, got.MovesTotal, got.Moves, tc.wantMoves)
			}
		})
	}
}

// TestManyMovesAreCounted: a list has an end.
func TestManyMovesAreCounted(t *testing.T) {
	t.Parallel()
	s := ax.Schedule{Every: 5 * time.Minute, Calendar: "work"}
	p := Compare(t.Context(), side(closedOn(t), task("t", s)), side(closedOn(t, "2026-03-05", "2026-04-01..2026-04-02"), task("t", s)), monday)
	if got := p.Changed[0]; got.MovesTotal != 3*288 || len(got.Moves) != planMoves {
		t.Errorf("%d moves, %d of them listed", got.MovesTotal, len(got.Moves))
	}
}

// TestCalendarsOfTheDatabase: without a host only the versions tell of days.
func TestCalendarsOfTheDatabase(t *testing.T) {
	t.Parallel()
	was, is := task("t", ax.Schedule{Cron: "0 0 9 * * ?"}), task("t", ax.Schedule{Cron: "0 0 9 * * ?"})
	was.Schedule.Version, is.Schedule.Version = "a", "b"
	p := Compare(t.Context(), side(nil, was), side(closedOn(t), is), monday)
	if len(p.Changed) != 1 || fmt.Sprint(p.Changed[0].Fields) != "[{days of calendar one of its calendars  }]" {
		t.Errorf("%+v", p)
	}
}
