package config

import (
	"fmt"
	"path/filepath"
	"slices"

	"gopkg.in/yaml.v3"

	"github.com/axsched/ax/host/internal/ax"
	"github.com/axsched/ax/pluginapi"
)

// taskReader reads tasks one after the other into the same draft, to which
// its fields are bound.
type taskReader struct {
	draft  taskDraft
	base   taskDraft // what every task begins with
	fields []field
	seen   map[string]Position  // by name
	groups map[string]ax.Notify // what groups say about notify
}

// newTaskReader takes in the defaults and what groups say about notify, each of
// which may be nil.
func (d *decoder) newTaskReader(defaults, groups *yaml.Node) *taskReader {
	r := &taskReader{draft: builtinDefaults(), seen: map[string]Position{}}
	r.fields = r.draft.fields()
	if defaults != nil {
		d.refusePending(d.object("defaults", defaults, r.draft.defaultFields()))
		d.checkNotify(&r.draft, defaults)
		r.draft.givenMisfire = nil
	}
	r.base = r.draft
	r.groups = d.groupNotify(groups, r.base.Notify)
	return r
}

// readTask takes in one task and appends it to those of the configuration.
func (d *decoder) readTask(r *taskReader, n *yaml.Node) {
	if n.Kind == 0 {
		return
	}
	if n.Kind != yaml.MappingNode {
		d.fault(n, "tasks: expected keys with values such as name:, got %s", d.show(n))
		return
	}
	t := &r.draft
	*t = r.base
	if notify, ok := r.groups[groupOf(n, r.base.Group)]; ok {
		t.Notify = notify
	}
	first := len(d.faults)
	t.given = d.object("a task", n, r.fields, taskNeeds()...)
	unsound := d.concern(first, n, t.schedule.fields())
	what := "the task"
	if t.Name != "" {
		what = "task " + d.show(t.given["name"])
		d.checkUnique(r, t)
	}
	d.refusePending(t.given)
	d.settle(t)
	d.checkNotify(t, n)
	d.checkTemplates(t.params)
	d.checkJobTexts(t)
	before := len(d.faults)
	d.finish(&t.schedule, what, n, t.given)
	if !unsound && len(d.faults) == before { // whatever else is wrong with the task
		d.checkSchedule(&t.schedule, t.Name, n, t.given)
	}
	for i := range d.faults[first:] {
		d.faults[first+i].Task = t.Name
	}
	d.addTask(t, n)
}

// concern reports whether any of the faults from the first on is about one of the
// keys of a node.
func (d *decoder) concern(first int, n *yaml.Node, keys []field) bool {
	return slices.ContainsFunc(d.faults[first:], func(f Fault) bool {
		key := ""
		for _, p := range pairs(n) {
			if at := d.at(p.key); at.Line < f.Line || at.Line == f.Line && at.Column <= f.Column {
				key = p.key.Value
			}
		}
		return key == "" || slices.ContainsFunc(keys, func(k field) bool { return k.key == key })
	})
}

// checkUnique reports a second task of one name; both places are named.
func (d *decoder) checkUnique(r *taskReader, t *taskDraft) {
	pos := d.at(t.given["name"])
	if before, ok := r.seen[t.Name]; ok {
		d.faultAt(pos, "there is another task %s in %s: rename one of them", d.show(t.given["name"]), before)
		return
	}
	r.seen[t.Name] = pos
}

// checkNotify looks the names of notifiers up. n is the task, or the defaults.
func (d *decoder) checkNotify(t *taskDraft, n *yaml.Node) {
	at := n
	for _, p := range pairs(n) {
		if p.key.Value == "notify" {
			at = p.value
		}
	}
	if at == n {
		return // says nothing, and what comes from the defaults was checked there
	}
	for _, receiver := range t.Notify.To {
		if _, ok := d.notifiers[receiver]; !ok {
			d.unknownName("notify", findText(at, receiver), "notifier", receiver, sortedKeys(d.notifiers))
		}
	}
}

// unknownName reports a name that nothing has. If a file could not be read the
// name may be in there, and nothing is said.
func (d *decoder) unknownName(key string, n *yaml.Node, what, name string, known []string) {
	switch {
	case d.incomplete:
	case filled(n):
		d.fault(n, "%s: there is no %s with the name in ${…}", key, what)
	default:
		d.fault(n, "%s: there is no %s %q%s", key, what, name, insteadOf(name, known))
	}
}

// findText returns the text with this value in or below a node, or the node.
func findText(n *yaml.Node, value string) *yaml.Node {
	if n.Kind == yaml.ScalarNode && n.Value == value {
		return n
	}
	for _, child := range n.Content {
		if found := findText(child, value); found.Kind == yaml.ScalarNode && found.Value == value {
			return found
		}
	}
	return n
}

// relative returns the path of the file as seen from the main one. It is kept
// with tasks, so it must not depend on where the host was started.
func (d *decoder) relative() string {
	path, err := filepath.Rel(filepath.Dir(d.config.Files[0]), d.path)
	if err != nil {
		return d.path
	}
	return path
}

// addTask completes the task. A faulty one is added as well, so that nothing
// that refers to it gets a fault of its own.
func (d *decoder) addTask(t *taskDraft, n *yaml.Node) {
	task := t.Task
	task.App = d.config.App
	task.ID = ax.NewTaskID(task.App, task.Name)
	task.Source = fmt.Sprintf("%s:%d", d.relative(), n.Line)
	task.Job = t.job.Use
	if t.paramsFrom.node != nil {
		task.ParamsFrom = new(t.paramsFrom.Use)
	}
	task.Schedule = t.schedule.Schedule
	task.Schedule.Version = Version(task.Schedule, d.calendars)
	d.config.Tasks = append(d.config.Tasks, task)
	d.addUse(pluginapi.KindJob, t.Name, t.job)
	d.addUse(pluginapi.KindTrigger, t.Name, t.schedule.trigger)
	d.addUse(pluginapi.KindParams, t.Name, t.paramsFrom)
}
