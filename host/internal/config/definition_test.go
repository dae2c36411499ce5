package config

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/axsched/ax/host/internal/ax"
)

// TestDefinitionsRoundTrip: what is written of a task is read as the same task,
// in YAML and, for those who have no YAML, in JSON.
func TestDefinitionsRoundTrip(t *testing.T) {
	t.Parallel()
	good := loadGood(t)
	tasks := append(good.Tasks, oddTasks()...)
	for i := range tasks {
		want := tasks[i]
		text, err := good.WriteTask(&want)
		if err != nil {
			t.Fatal(err)
		}
		got := good.ReadTask(text, "task.yaml")
		if len(got.Faults) > 0 {
			t.Errorf("%s\n%v", text, got.Faults)
			continue
		}
		want.Source = ax.SourceConsole
		want.Schedule.Version = Version(want.Schedule, good.Calendars)
		if !reflect.DeepEqual(got.Task, want) {
			t.Errorf("%s\n got %+v\nwant %+v", text, got.Task, want)
		}
		asJSON, err := good.WriteTaskJSON(&want)
		if err != nil {
			t.Fatal(err)
		}
		if other := good.ReadTask(asJSON, ""); len(other.Faults) > 0 || !reflect.DeepEqual(other.Task, want) {
			t.Errorf("%s\n%v\n got %+v\nwant %+v", asJSON, other.Faults, other.Task, want)
		}
		again, err := good.WriteTask(&got.Task)
		if err != nil || string(again) != string(text) {
			t.Errorf("written again: %v\n%s\nfirst\n%s", err, again, text)
		}
	}
}

// oddTasks are tasks with texts that YAML has other ideas about.
func oddTasks() []ax.Task {
	base := defaultsOfGood()
	base.Schedule = ax.Schedule{Cron: "0 0 10 * * ?", Timezone: "Asia/Shanghai"}
	var tasks []ax.Task
	for i, text := range []string{
		"yes", "no", "null", "~", "1e3", "0x10", "2026-12-01", "a: b", "# not a comment", " ahead", "behind ", "{{ .App }}", "- a",
		"two\nlines", "two\nlines\n", "\nahead", "deeper\n  and\n\nback", "trailing \nspace", "tab\tin it", "\ttab", "quote \" and '", "日本語: 是",
		"${HOME:-/root} ${params.day} $HOME", "${env:OPS_URL}", "$${env:X}", "${file:/etc/passwd} and ${other}", "\u2028", "<script>", "*", "&a", "!b", "%", "@",
		"true", "Off", "", "-", "0b1", "1_000", "a\\nb", "x\r\ny",
	} {
		task := base
		task.Name = "odd-" + string(rune('a'+i%26)) + string(rune('a'+i/26))
		task.ID = ax.NewTaskID(task.App, task.Name)
		task.Description = text
		with, _ := json.Marshal(map[string]any{"shell": text, "list": []string{text, "x"}})
		task.Job = ax.Use{Name: "other", With: plain(with)}
		params, _ := json.Marshal(map[string]any{"p": text, "n": json.Number("12345678901234567890123"), "f": json.Number("1.50"), "e": json.Number("1e5"), "deep": []any{map[string]any{"a": nil, "b": true}}, "none": []int{}, "empty": map[string]int{}})
		task.Params = plain(params)
		tasks = append(tasks, task)
	}
	return tasks
}

// plain is JSON as appendJSON writes it.
func plain(text []byte) json.RawMessage {
	n, err := jsonNode(text, textNode)
	if err != nil {
		panic(err)
	}
	d := &decoder{newLoader(Options{}), &source{}}
	undo := strings.NewReplacer("$${", "${")
	return json.RawMessage(undo.Replace(string(d.appendJSON(nil, "x", n))))
}

func TestDefinitionFaults(t *testing.T) {
	t.Parallel()
	c := load(t, map[string]string{"config.yaml": "app: a\nnotifiers: {ops: {use: webhook}}\ntasks: []\n"})
	for _, test := range []struct{ text, want string }{
		{"", ": the definition is empty"},
		{"- a", ": expected the keys of one task such as name:, got a list"},
		{"name: [", ": "},
		{"name: a\ncron: 0 0 1 * * ?", "job: a task needs the key job"},
		{"job: {use: exec}\ncron: 0 0 1 * * ?", "name: a task needs the key name"},
		{"name: a\njob: {use: exec}", ": task \"a\" does not say"},
		{"name: a\njob: {use: exec}\nevery: 5", "every: every: expected a duration"},
		{"name: a b\njob: {use: exec}\nevery: 5s", "name: name: expected letters"},
		{"{\"name\": \"a\", \"job\": {}, \"every\": \"5s\"}", "job.use: job needs the key use"},
		{"name: a\njob: {use: exec, with: {command: ['${env:HOME}']}}\nevery: 5s", "job.with.command[0]: ${env:HOME}: values from the environment"},
		{"name: a\njob: {use: exec, with: {shell: '${file:/etc/passwd}'}}\nevery: 5s", "job.with.shell: ${file:/etc/passwd}: values"},
		{"name: a\njob: {use: exec}\nevery: 5s\nretry: {delays: [1s, never]}", "retry.delays[1]: delays: expected a duration"},
		{"name: a\njob: {use: exec}\nevery: 5s\nnotify: {to: [opps]}", `notify.to[0]: notify: there is no notifier "opps", did you mean "ops"?`},
		{"name: a\njob: {use: exec}\nevery: 5s\ncalendar: cn", `calendar: calendar: there is no calendar "cn"`},
		{"name: a\njob: {use: exec}\nevery: 5s\nnodes: {a: b}", "nodes: nodes needs a cluster database"},
		{`{"name":"a","job":{"use":"exec","with":{"shell":"\ud83d\ude00\/${env:HOME}"}},"every":"5s"}`, "job.with.shell: ${env:HOME}"},
		{"name: a\njob: {use: exec}\nevry: 5s", "evry: unknown key"},
	} {
		found := c.ReadTask([]byte(test.text), "task.yaml")
		if len(found.Faults) == 0 {
			t.Errorf("%s: no fault", test.text)
			continue
		}
		var got []string
		for _, f := range found.Faults {
			got = append(got, f.Field+": "+f.Message)
		}
		if !strings.HasPrefix(got[0], test.want) && !strings.Contains(strings.Join(got, "\n"), "\n"+test.want) {
			t.Errorf("%s\ngot  %q\nwant %q", test.text, got, test.want)
		}
	}
}

// TestDefinitionSettings: settings are held against the schema of the component,
// and the fault names the setting.
func TestDefinitionSettings(t *testing.T) {
	t.Parallel()
	c := load(t, map[string]string{"config.yaml": "app: a\ntasks: []\n"})
	d := c.ReadTask([]byte("name: a\nevery: 5s\njob: {use: exec, with: {command: [1], colour: red, inner: {}}}\nparams_from: {use: gone}"), "task.yaml")
	if len(d.Faults) > 0 {
		t.Fatal(d.Faults)
	}
	missing := d.CheckComponents(execOnly())
	if len(missing) != 1 || missing[0].Field != "params_from.use" {
		t.Errorf("missing: %+v", missing)
	}
	var fields []string
	for _, f := range d.Faults {
		fields = append(fields, f.Field)
	}
	if want := []string{"job.with.command[0]", "job.with.colour", "job.with.inner.deep"}; !reflect.DeepEqual(fields, want) {
		t.Errorf("faults %v at %v, want at %v", d.Faults, fields, want)
	}
}

// TestDefinitionSecrets: a definition names its secrets, which are in place when its
// settings are held against the schema.
func TestDefinitionSecrets(t *testing.T) {
	t.Parallel()
	c := load(t, map[string]string{"config.yaml": "app: a\nsecrets: {key: \"${env:NAME}\"}\ntasks: []\n"})
	if c.Named["key"] != "hidden-name" || !slices.Contains(c.Secrets, "hidden-name") {
		t.Fatalf("%v, of the secrets %v", c.Named, c.Secrets)
	}
	cat := testCatalog{"job exec": json.RawMessage(`{"properties": {"key": {"type": "string", "writeOnly": true, "pattern": "^hidden"}, "url": {"type": "string"}}}`)}
	for with, want := range map[string]string{
		"{key: '${secret:key}', url: x}": "",
		"{key: 'x${secret:key}'}":        "job.with.key: ",
		"{key: '${secret:gone}'}":        `job.with.key: there is no secret "gone"`,
		"{key: plain}":                   "job.with.key: a secret is not written down here",
		"{url: '${secret:key}'}":         "job.with.url: secrets are filled in in settings that the plugin keeps secret",
	} {
		d := c.ReadTask([]byte("name: a\nevery: 5s\njob: {use: exec, with: "+with+"}"), "task.yaml")
		if missing := d.CheckComponents(cat); len(missing) > 0 {
			t.Fatal(missing)
		}
		switch {
		case want == "" && len(d.Faults) == 0:
		case want == "" || len(d.Faults) != 1 || !strings.HasPrefix(d.Faults[0].Field+": ", want[:len("job.with.key: ")]) || !strings.Contains(d.Faults[0].Message, want[len("job.with.key: "):]):
			t.Errorf("%s: %+v", with, d.Faults)
		}
		if strings.Contains(fmt.Sprint(d.Task, d.Faults), "hidden-name") {
			t.Errorf("%s: the secret is in the task, or in its faults", with)
		}
		made := c.With([]ax.Task{d.Task}).CheckComponents(cat)
		if (len(made) == 0) != (want == "") {
			t.Errorf("%s: once it is in force: %v", with, made)
		}
	}
}

// TestMadeTasksAreChecked: tasks from elsewhere count like those of the files.
func TestMadeTasksAreChecked(t *testing.T) {
	t.Parallel()
	c := load(t, map[string]string{"config.yaml": "app: a\ncalendars: {cn: {source: china}}\nnotifiers: {ops: {use: webhook}}\ntasks: []\n"})
	made := c.With([]ax.Task{{Name: "m", Enabled: true, Job: ax.Use{Name: "exec", With: json.RawMessage(`{"command":1}`)},
		Schedule: ax.Schedule{Calendar: "cn", Timezone: "UTC"}, Notify: ax.Notify{To: []string{"ops"}}}})
	if faults := made.CheckComponents(execOnly()).Unusable(); len(faults) != 1 || faults[0].Task != "m" {
		t.Errorf("%+v", faults)
	}
	if to, zone := made.UsersOf("cn"); !reflect.DeepEqual(to, []string{"ops"}) || zone != "UTC" {
		t.Errorf("%v %q", to, zone)
	}
	if faults := c.CheckComponents(execOnly()).Unusable(); len(faults) != 0 {
		t.Errorf("the configuration itself has %v", faults)
	}
}

func TestTakenNames(t *testing.T) {
	t.Parallel()
	c := load(t, map[string]string{"config.yaml": "app: a\ntasks:\n- {name: x, every: 1m, job: {use: exec}}\n- {name: y, every: 1m, job: {use: exec}}\n"})
	faults := c.Taken(func(name string) bool { return name == "y" })
	if len(faults) != 1 || faults[0].Line != 4 || !strings.HasSuffix(faults[0].File, "config.yaml") || faults[0].Task != "y" {
		t.Errorf("%+v", faults)
	}
}

// execOnly is a catalog with the jobs exec and other.
func execOnly() testCatalog {
	schema := json.RawMessage(`{"type":"object","additionalProperties":false,"properties":{
		"command":{"type":"array","items":{"type":"string"}},"shell":{"type":"string"},"inner":{"type":"object","required":["deep"]}}}`)
	return testCatalog{"job exec": schema, "job other": schema, "notifier webhook": nil}
}
