package console_test

import (
	"context"
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"golang.org/x/net/html"

	"github.com/axsched/ax/host/internal/api"
	"github.com/axsched/ax/host/internal/ax"
	"github.com/axsched/ax/host/internal/console"
	"github.com/axsched/ax/host/internal/why"
)

// evil breaks out of texts, attributes, scripts and addresses, wherever that is
// possible.
const evil = `"'><img src=x onerror=alert(1)><script>alert(2)</script><a href=javascript:alert(3)>x</a>{{.}}</textarea></title><svg onload=alert(4)>`

// poison puts a text into every field that holds one.
func poison[T any](v T) T {
	p := reflect.New(reflect.TypeFor[T]()).Elem()
	p.Set(reflect.ValueOf(v))
	poisonValue(p)
	return p.Interface().(T)
}

func poisonValue(v reflect.Value) {
	switch v.Kind() {
	case reflect.String:
		v.SetString(evil)
	case reflect.Slice:
		if v.Type() == reflect.TypeFor[json.RawMessage]() {
			text, _ := json.Marshal(map[string]string{evil: evil})
			v.SetBytes(text)
			return
		}
		list := reflect.MakeSlice(v.Type(), v.Len(), v.Len())
		reflect.Copy(list, v)
		for i := range list.Len() {
			poisonValue(list.Index(i))
		}
		v.Set(list)
	case reflect.Map:
		if v.Type() == reflect.TypeFor[map[string]string]() {
			v.Set(reflect.ValueOf(map[string]string{evil: evil}))
		}
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[time.Time]() {
			return
		}
		for _, field := range v.Fields() {
			if field.CanSet() {
				poisonValue(field)
			}
		}
	}
}

// hostile is a host all of whose texts were written by an enemy. States are not,
// or else there would be nothing to be done with anything.
type hostile struct{ *sample }

func newHostile(t *testing.T) hostile {
	t.Helper()
	s, _ := newSample(t)
	tasks, task, instance, instances, events := s.OnTasks, s.OnTask, s.OnInstance, s.OnInstances, s.OnEvents
	plugins, next := s.OnPlugins, s.OnNext
	evilTask := func(v api.TaskView) api.TaskView {
		p := poison(v)
		p.State, p.Schedule.Timezone = v.State, "UTC"
		return p
	}
	s.OnTasks = func(ctx context.Context, q api.TaskQuery) ([]api.TaskView, error) {
		list, err := tasks(ctx, q)
		list = slices.Clone(list)
		for i := range list {
			list[i] = evilTask(list[i])
		}
		return list, err
	}
	s.OnTask = func(ctx context.Context, _ string) (api.TaskView, error) {
		v, err := task(ctx, "warm-up")
		v.State = api.TaskOn
		return evilTask(v), err
	}
	s.OnNext = func(ctx context.Context, _ string, q api.NextQuery) (api.NextTimes, error) {
		v, err := next(ctx, "warm-up", q)
		return poison(v), err
	}
	s.OnInstance = func(ctx context.Context, id ax.InstanceID) (ax.Instance, error) {
		v, err := instance(ctx, id)
		p := poison(v)
		p.Status = v.Status
		return p, err
	}
	s.OnInstances = func(ctx context.Context, f ax.InstanceFilter) ([]ax.Instance, error) {
		f.Task = ""
		list, err := instances(ctx, f)
		for i := range list {
			status := list[i].Status
			list[i] = poison(list[i])
			list[i].Status = status
		}
		return list, err
	}
	s.OnEvents = func(ctx context.Context, f ax.EventFilter) ([]ax.Event, error) {
		list, err := events(ctx, f)
		for i := range list {
			stage := list[i].Stage
			list[i] = poison(list[i])
			list[i].Stage = stage
		}
		return list, err
	}
	s.OnPlugins = func(ctx context.Context) ([]api.PluginView, error) {
		v, err := plugins(ctx)
		return poison(v), err
	}
	s.OnWhy = func(context.Context, string, time.Time) ([]why.Answer, error) {
		return poison([]why.Answer{{Chain: []why.Link{{}}}}), nil
	}
	health := s.OnHealth
	s.OnHealth = func(ctx context.Context) api.Health { return poison(health(ctx)) }
	return hostile{s}
}

func (h hostile) Overview(ctx context.Context) (console.Overview, error) {
	o, err := h.sample.Overview(ctx)
	return poison(o), err
}

func (h hostile) Alerts(ctx context.Context, f ax.AlertFilter) ([]api.AlertView, error) {
	list, err := h.sample.Alerts(ctx, f)
	for i := range list {
		state := list[i].State
		list[i] = poison(list[i])
		list[i].State = state
	}
	return list, err
}

func (h hostile) Definition(ctx context.Context, _ string) (api.Definition, error) {
	d, err := h.sample.Definition(ctx, "tidy-up")
	text, _ := json.Marshal(map[string]any{
		"name": "tidy-up", "description": evil, "labels": map[string]string{evil: evil}, "cron": evil, evil: evil,
		"job": map[string]any{"use": "http", "with": map[string]any{"url": evil, "method": evil, evil: evil}},
	})
	d.YAML, d.UpdatedBy = string(text), evil
	return d, err
}

func (h hostile) Components(context.Context) ([]api.ComponentSchema, error) {
	property := map[string]any{"type": "string", "description": evil, "enum": []string{evil}, "default": evil}
	schema, _ := json.Marshal(map[string]any{"description": evil, "properties": map[string]any{
		"url": map[string]any{"type": "string", "description": evil, "default": evil}, evil: property, "method": property,
		"deep": map[string]any{"type": "object", "properties": map[string]any{evil: property}},
	}})
	return []api.ComponentSchema{
		{Kind: "job", Name: "http", Plugin: evil, Description: evil, Schema: schema}, {Kind: "job", Name: evil, Description: evil},
		{Kind: "trigger", Name: evil, Plugin: evil, Description: evil, Schema: schema},
	}, nil
}

func (h hostile) CheckTask(ctx context.Context, text []byte, replaces string) (api.TaskCheck, error) {
	check, err := h.sample.CheckTask(ctx, text, replaces)
	check.Faults = []api.TaskFault{{Field: "cron"}, {Field: "job.with.url"}, {}}
	return poison(check), err
}

func (h hostile) Alert(ctx context.Context, id int64) (api.AlertView, error) {
	v, err := h.sample.Alert(ctx, id)
	return poison(v), err
}

func (h hostile) Notifiers(ctx context.Context) ([]api.NotifierView, error) {
	v, err := h.sample.Notifiers(ctx)
	return poison(v), err
}

func (h hostile) Silences(ctx context.Context) ([]api.SilenceView, error) {
	v, err := h.sample.Silences(ctx)
	return poison(v), err
}

func (h hostile) FindTasks(ctx context.Context, s console.TaskSearch) (console.TaskPage, error) {
	p, err := h.sample.FindTasks(ctx, console.TaskSearch{})
	return poison(p), err
}

func (h hostile) ListNodes(ctx context.Context) (api.NodeList, error) {
	v, err := h.sample.ListNodes(ctx)
	return poison(v), err
}

func (h hostile) AuditTrail(ctx context.Context, f ax.AuditFilter) ([]ax.AuditRow, error) {
	v, err := h.sample.AuditTrail(ctx, ax.AuditFilter{})
	return poison(v), err
}

// TestHostileTexts: what tasks, jobs, plugins and people write is shown as what
// they wrote, and never becomes a part of the page.
func TestHostileTexts(t *testing.T) {
	t.Parallel()
	server := serve(t, config(newHostile(t)))
	tab := open(t, browser(t), server.URL, look{"en", "light", 1280})
	paths := []string{"/tasks?q=" + queryEvil(), "/runs?task=" + queryEvil(), "/alerts?task=" + queryEvil(), "/audit?object=" + queryEvil(), "/tasks/warm-up?month=" + queryEvil()}
	for _, p := range walk() {
		paths = append(paths, p.path)
	}
	for _, path := range paths {
		page := ask(t, server, "GET", path, nil)
		shown := strings.Count(text(page.root), "onerror=alert(1)")
		for _, n := range page.all(func(*html.Node) bool { return true }) {
			for _, a := range n.Attr {
				if strings.HasPrefix(a.Key, "on") || strings.HasPrefix(strings.TrimSpace(a.Val), "javascript:") {
					t.Errorf("%s: <%s %s=%q>", path, n.Data, a.Key, a.Val)
				}
			}
			if n.Data == "img" || n.Data == "script" && attr(n, "src") == "" {
				t.Errorf("%s: a text became <%s>", path, n.Data)
			}
		}
		if quiet := path == "/nowhere" || strings.HasPrefix(path, "/login") || strings.HasPrefix(path, "/calendars"); shown == 0 && !quiet {
			t.Errorf("%s shows nothing hostile (status %d)", path, page.status)
		}
		var images int
		tab.visit(path)
		tab.run(chromedp.Evaluate(`document.querySelectorAll("img, script:not([src]), main svg[onload]").length`, &images))
		if images != 0 {
			t.Errorf("%s: texts became %d elements", path, images)
		}
	}
}

func queryEvil() string {
	return strings.NewReplacer("%", "%25", "&", "%26", "#", "%23", " ", "+", `"`, "%22", "<", "%3C", ">", "%3E").Replace(evil)
}
