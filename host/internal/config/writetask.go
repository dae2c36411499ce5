package config

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"gopkg.in/yaml.v3"

	"github.com/axsched/ax/host/internal/ax"
)

// WriteTask writes the definition of a task as YAML, as an entry of tasks: has it.
// What the defaults of this configuration say is left out, so that ReadTask reads
// the same task again.
func (c *Config) WriteTask(task *ax.Task) ([]byte, error) {
	m, err := c.taskNode(task)
	if err != nil {
		return nil, fmt.Errorf("write task %q: %w", task.Name, err)
	}
	var b bytes.Buffer
	encoder := yaml.NewEncoder(&b)
	encoder.SetIndent(2)
	if err := encoder.Encode(m); err != nil {
		return nil, fmt.Errorf("write task %q: %w", task.Name, err)
	}
	return b.Bytes(), nil
}

// WriteTaskJSON writes what WriteTask does, as JSON.
func (c *Config) WriteTaskJSON(task *ax.Task) (json.RawMessage, error) {
	m, err := c.taskNode(task)
	if err != nil {
		return nil, fmt.Errorf("write task %q: %w", task.Name, err)
	}
	d := &decoder{newLoader(Options{}), &source{}}
	return d.appendJSON(nil, "task", m), nil
}

func (c *Config) taskNode(task *ax.Task) (*yaml.Node, error) {
	base := c.base(task.Group)
	m := &mapping{}
	m.text("name", task.Name, "")
	m.text("group", task.Group, base.Group)
	m.text("description", task.Description, "")
	m.texts("labels", task.Labels, nil)
	if !task.Enabled {
		m.put("enabled", boolNode(false))
	}
	m.schedule(&task.Schedule, &base)
	if err := m.jobs(task); err != nil {
		return nil, err
	}
	m.policies(task, &base)
	return &m.Node, nil
}

// base is what a task of a group has that says nothing itself.
func (c *Config) base(group string) taskDraft {
	l := newLoader(c.frame.options)
	l.config.Store, l.notifiers, l.calendars = c.Store, c.Notifiers, c.Calendars
	d := &decoder{l, &source{}}
	r := d.newTaskReader(c.frame.defaults, c.frame.groups) // was read before, so it has no faults
	base := r.base
	if notify, ok := r.groups[cmp.Or(group, base.Group)]; ok {
		base.Notify = notify
	}
	return base
}

// mapping is a YAML mapping that keeps the order of its keys.
type mapping struct{ yaml.Node }

func (m *mapping) put(key string, value *yaml.Node) {
	m.Kind, m.Tag = yaml.MappingNode, "!!map"
	m.Content = append(m.Content, keyNode(key), value)
}

// text adds a text unless it is the one that is there without it, or empty.
func (m *mapping) text(key, value, base string) {
	if value != base && value != "" {
		m.put(key, textNode(value))
	}
}

func (m *mapping) number(key string, value, base int) {
	if value != base {
		m.put(key, intNode(value))
	}
}

func (m *mapping) duration(key string, value, base time.Duration) {
	if value != base && value != 0 {
		m.put(key, durationNode(value))
	}
}

func (m *mapping) time(key string, value time.Time, zone *time.Location) {
	if !value.IsZero() {
		m.put(key, &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!timestamp", Value: value.In(zone).Format(time.RFC3339Nano)})
	}
}

// texts adds texts by their names.
func (m *mapping) texts(key string, values, base map[string]string) {
	if len(values) == 0 || fmt.Sprint(values) == fmt.Sprint(base) {
		return
	}
	inner := &mapping{}
	for _, name := range sortedKeys(values) {
		inner.put(name, textNode(values[name]))
	}
	m.put(key, &inner.Node)
}

// schedule adds when a task is due.
func (m *mapping) schedule(s *ax.Schedule, base *taskDraft) {
	zone, err := time.LoadLocation(s.Timezone)
	if err != nil {
		zone = time.UTC
	}
	m.text("cron", s.Cron, "")
	m.duration("every", s.Every, 0)
	m.time("anchor", s.Anchor, zone)
	if s.RepeatCount != nil {
		m.put("repeat_count", intNode(*s.RepeatCount))
	}
	m.duration("delay", s.Delay, 0)
	m.time("at", s.At, zone)
	if s.Trigger != nil {
		trigger := &mapping{}
		if trigger.use(s.Trigger) == nil && len(s.Calendars) > 0 {
			trigger.put("calendars", listNode(s.Calendars))
		}
		m.put("trigger", &trigger.Node)
	}
	m.text("timezone", s.Timezone, base.schedule.Timezone)
	m.time("from", s.From, zone)
	m.time("until", s.Until, zone)
	m.text("calendar", s.Calendar, "")
	m.text("on_closed", string(s.OnClosed), string(ax.ClosedSkip))
	if !slices.EqualFunc(s.Blackouts, base.schedule.Blackouts, func(a, b ax.Blackout) bool { return a.String() == b.String() }) {
		list := &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq"}
		for i := range s.Blackouts {
			list.Content = append(list.Content, blackoutNode(&s.Blackouts[i]))
		}
		m.put("blackout", list)
	}
	if len(s.Blackouts) > 0 {
		m.text("on_blackout", string(s.OnBlackout), cmp.Or(string(base.schedule.OnBlackout), string(ax.BlackoutSkip)))
	}
	m.duration("jitter", s.Jitter, base.schedule.Jitter)
}

func blackoutNode(b *ax.Blackout) *yaml.Node {
	m := &mapping{}
	clock, _, _ := strings.Cut(ax.Blackout{From: b.From, To: b.To}.String(), " ")
	if clock != "every" {
		m.put("time", textNode(clock))
	}
	var days []string
	for _, day := range b.Weekdays {
		days = append(days, strings.ToUpper(day.String()[:3]))
	}
	if len(days) > 0 {
		m.put("weekdays", listNode(days))
	}
	m.text("calendar", b.Calendar, "")
	if len(m.Content) == 0 {
		m.put("time", textNode("00:00-24:00"))
	}
	return &m.Node
}

// jobs adds what a task runs.
func (m *mapping) jobs(task *ax.Task) error {
	job := &mapping{}
	if err := job.use(&task.Job); err != nil {
		return err
	}
	m.put("job", &job.Node)
	if len(task.Params) > 0 {
		params, err := jsonNode(task.Params, textNode)
		if err != nil {
			return fmt.Errorf("params: %w", err)
		}
		m.put("params", params)
	}
	if task.ParamsFrom != nil {
		from := &mapping{}
		if err := from.use(task.ParamsFrom); err != nil {
			return err
		}
		m.put("params_from", &from.Node)
	}
	return nil
}

// use adds the name of a component and its settings.
func (m *mapping) use(u *ax.Use) error {
	m.put("use", textNode(u.Name))
	if len(u.With) == 0 {
		return nil
	}
	with, err := jsonNode(u.With, textNode)
	if err != nil {
		return fmt.Errorf("settings of %s: %w", u.Name, err)
	}
	m.put("with", with)
	return nil
}

// policies adds how a task runs.
func (m *mapping) policies(task *ax.Task, base *taskDraft) {
	m.text("strategy", string(task.Strategy), string(base.Strategy))
	m.texts("nodes", task.Nodes, base.Nodes)
	m.duration("confirm_timeout", task.ConfirmTimeout, base.ConfirmTimeout)
	m.duration("start_deadline", task.StartDeadline, base.StartDeadline)
	m.duration("warn_after", task.WarnAfter, base.WarnAfter)
	m.duration("timeout", task.Timeout, base.Timeout)
	m.duration("retention", task.Retention, base.Retention)
	if task.Grace != base.Grace {
		m.put("grace", durationNode(task.Grace))
	}
	m.retry(&task.Retry, &base.Retry)
	if task.Overlap != ax.OverlapAllow {
		m.number("concurrency", task.Concurrency, max(base.Concurrency, 1))
	}
	m.text("overlap", string(task.Overlap), string(base.Overlap))
	if task.Overlap == ax.OverlapQueue {
		m.number("queue_limit", task.QueueLimit, base.QueueLimit)
	}
	misfire := &mapping{}
	misfire.text("policy", string(task.Misfire.Policy), string(base.Misfire.Policy))
	misfire.duration("threshold", task.Misfire.Threshold, base.Misfire.Threshold)
	if task.Misfire.Policy == ax.MisfireAll {
		misfire.duration("window", task.Misfire.Window, base.Misfire.Window)
		misfire.number("cap", task.Misfire.Cap, base.Misfire.Cap)
	}
	m.section("misfire", misfire)
	notify := &mapping{}
	if !slices.Equal(task.Notify.To, base.Notify.To) {
		notify.put("to", listNode(task.Notify.To))
	}
	if !slices.Equal(task.Notify.On, base.Notify.On) {
		notify.put("on", listNode(task.Notify.On))
	}
	notify.number("after", task.Notify.After, base.Notify.After)
	m.section("notify", notify)
}

func (m *mapping) retry(r, base *ax.Retry) {
	retry := &mapping{}
	delays := !slices.Equal(r.Delays, base.Delays)
	if delays || r.Count != base.Count {
		retry.put("count", intNode(r.Count)) // without it the delays decide
	}
	if delays {
		list := &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq", Style: yaml.FlowStyle}
		for _, d := range r.Delays {
			list.Content = append(list.Content, durationNode(d))
		}
		retry.put("delays", list)
	}
	if r.Factor != base.Factor {
		retry.put("factor", &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!float", Value: strconv.FormatFloat(r.Factor, 'f', -1, 64)})
	}
	retry.duration("max", r.Max, base.Max)
	if !slices.Equal(r.On, base.On) {
		var on []string
		for _, status := range r.On {
			on = append(on, strings.ToLower(string(status)))
		}
		retry.put("on", listNode(on))
	}
	m.section("retry", retry)
}

// section adds a mapping unless it is empty.
func (m *mapping) section(key string, s *mapping) {
	if len(s.Content) > 0 {
		m.put(key, &s.Node)
	}
}
