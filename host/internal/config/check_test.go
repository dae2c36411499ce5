package config

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/axsched/ax/pluginapi"
)

// testCatalog maps "kind name" to a settings schema.
type testCatalog map[string]json.RawMessage

func (c testCatalog) Lookup(kind pluginapi.Kind, use string) (json.RawMessage, error) {
	schema, ok := c[string(kind)+" "+use]
	if !ok {
		return nil, fmt.Errorf("no plugin offers the %s %q", kind, use)
	}
	return schema, nil
}

// settingsOfTests are derived like those of real components.
type settingsOfTests struct {
	URL     string             `json:"url" ax:"required"`
	Method  string             `json:"method" ax:"enum=GET|POST"`
	Tries   int                `json:"tries" ax:"min=1,max=5"`
	Secure  bool               `json:"secure"`
	Timeout pluginapi.Duration `json:"timeout"`
	Codes   []int              `json:"codes" ax:"min=1"`
	Env     map[string]string  `json:"env"`
	Auth    *struct {
		User string `json:"user" ax:"required"`
	} `json:"auth"`
	Host string `json:"host" ax:"pattern=^[a-z]+$"`
}

func newTestCatalog(t *testing.T) testCatalog {
	t.Helper()
	schema, err := pluginapi.SchemaOf[settingsOfTests]()
	if err != nil {
		t.Fatal(err)
	}
	return testCatalog{
		"job http": schema, "job exec": nil, "notifier webhook": schema, "trigger random": nil,
		"job broken":  json.RawMessage(`{"type": 7}`),
		"job reading": json.RawMessage(`{"$ref": "file:///etc/hostname"}`),
		"job either":  json.RawMessage(`{"anyOf": [{"required": ["a"]}, {"required": ["b"]}]}`),
	}
}

func checkLines(t *testing.T, text string) (lines []string, faults Faults) {
	t.Helper()
	c := load(t, map[string]string{"config.yaml": text})
	faults = c.CheckComponents(newTestCatalog(t))
	for _, f := range faults {
		lines = append(lines, strings.ReplaceAll(f.String(), filepath.Dir(f.File)+"/", ""))
	}
	return lines, faults
}

func TestCheckComponents(t *testing.T) {
	t.Parallel()
	const head = "app: a\ntasks:\n  - name: t\n    every: 1m\n    job: "
	for _, c := range []struct {
		name, yaml string
		want       []string
	}{
		{"good", head + "{use: http, with: {url: x, tries: 2, timeout: 5s, codes: [1], auth: {user: u}, env: {A: b}}}\n", nil},
		{"no schema", head + "{use: exec, with: {anything: 1}}\n", nil},
		{"missing", head + "{use: htp}\n", []string{`config.yaml:5:16: no plugin offers the job "htp"`}},
		{"another kind", head + "{use: random}\n", []string{`config.yaml:5:16: no plugin offers the job "random"; there is a trigger with this name`}},
		{"no settings", head + "{use: http}\n", []string{`config.yaml:5:10: http needs the key url`}},
		{"unknown and missing keys", head + "{use: http, with: {ulr: x, auth: {usr: u}}}\n", []string{
			`config.yaml:5:28: with needs the key url`,
			`config.yaml:5:29: unknown key "ulr" in the settings of http, did you mean "url"?`,
			`config.yaml:5:43: auth needs the key user`,
			`config.yaml:5:44: unknown key "usr" in the settings of http, did you mean "user"?`,
		}},
		{"types", head + `{use: http, with: {url: 7, tries: "2", secure: "yes", timeout: 30, codes: [a], env: {A: 1}, auth: x}}` + "\n", []string{
			`config.yaml:5:34: url: expected a text, got the number 7: write "7"`,
			`config.yaml:5:44: tries: expected a whole number, got "2"`,
			`config.yaml:5:57: secure: expected true or false, got "yes": write true`,
			`config.yaml:5:73: timeout: expected a duration such as 30s, 5m or 1h30m (units ms, s, m, h, d, w), got the number 30: write 30s for seconds or 30m for minutes`,
			`config.yaml:5:85: codes: expected a whole number, got "a"`,
			`config.yaml:5:98: A: expected a text, got the number 1: write "1"`,
			`config.yaml:5:108: auth: expected keys with values, got "x"`,
		}},
		{"values", head + "{use: http, with: {url: x, method: PSOT, tries: 9, timeout: 5x, codes: [], host: A}}\n", []string{
			`config.yaml:5:45: method: expected GET or POST, got "PSOT", did you mean POST?`,
			`config.yaml:5:58: tries: expected at most 5, got the number 9`,
			`config.yaml:5:70: timeout: expected a duration such as 30s, 5m or 1h30m (units ms, s, m, h, d, w), got "5x"`,
			`config.yaml:5:81: codes: expected at least 1 in the list, got 0`,
			`config.yaml:5:91: host: expected a text matching ^[a-z]+$, got "A"`,
		}},
		{"secrets are not shown", head + `{use: http, with: {url: x, method: "${env:NAME}", tries: "${env:NAME}", timeout: "${env:NAME}", host: "${env:NAME}"}}` + "\n", []string{
			`config.yaml:5:45: method: expected GET or POST, got the value of ${…}`,
			`config.yaml:5:67: tries: expected a whole number, got the value of ${…}`,
			`config.yaml:5:91: timeout: expected a duration such as 30s, 5m or 1h30m (units ms, s, m, h, d, w), got the value of ${…}`,
			`config.yaml:5:112: host: expected a text matching ^[a-z]+$, got the value of ${…}`,
		}},
		{"several forms", head + "{use: either, with: {c: 1}}\n", []string{`config.yaml:5:30: with: keys with values fits none of the forms that either allows`}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			lines, faults := checkLines(t, c.yaml)
			if !slices.Equal(lines, c.want) {
				t.Errorf("got\n%s\nwant\n%s", strings.Join(lines, "\n"), strings.Join(c.want, "\n"))
			}
			for _, f := range faults {
				if f.Task != "t" {
					t.Errorf("%s: task %q", f, f.Task)
				}
				if missing := strings.Contains(f.Message, "no plugin offers"); f.Missing != missing {
					t.Errorf("%s: missing %t", f, f.Missing)
				}
			}
		})
	}
}

// TestCheckComponentsOfAllPlaces: every use is checked, and only the faults
// of a task's own are the task's.
func TestCheckComponentsOfAllPlaces(t *testing.T) {
	t.Parallel()
	_, faults := checkLines(t, `app: a
notifiers: {n: {use: a}}
listeners: {l: {use: b}}
tasks:
  - {name: t, trigger: {use: c}, job: {use: d}, params_from: {use: e}}
`)
	var got []string
	for _, f := range faults {
		got = append(got, fmt.Sprintf("%d:%d %s %q", f.Line, f.Column, f.Message, f.Task))
	}
	want := []string{
		`2:22 no plugin offers the notifier "a" ""`, `3:22 no plugin offers the listener "b" ""`,
		`5:30 no plugin offers the trigger "c" "t"`, `5:45 no plugin offers the job "d" "t"`, `5:68 no plugin offers the params "e" "t"`,
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// TestUnusableSchemas: a plugin's schema can neither stop the check nor make
// the host read a file.
func TestUnusableSchemas(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"broken", "reading"} {
		lines, _ := checkLines(t, "app: a\ntasks:\n  - {name: t, every: 1m, job: {use: "+name+"}}\n")
		prefix := "config.yaml:3:37: the settings schema of job " + name + " is unusable: "
		if len(lines) != 1 || !strings.HasPrefix(lines[0], prefix) {
			t.Errorf("%s: %q", name, lines)
		}
	}
}

// TestAllFaultsAtOnce: components are checked in a file with other faults, too.
// What has passed one schema must pass the next one as well.
func TestCheckComponentsAgain(t *testing.T) {
	t.Parallel()
	c := load(t, map[string]string{"config.yaml": "app: a\ntasks:\n- {name: t, every: 1h, job: {use: http, with: {url: x}}}\n"})
	good := newTestCatalog(t)
	stricter := testCatalog{"job http": json.RawMessage(`{"required": ["secure"]}`)}
	for i, tt := range []struct {
		catalog testCatalog
		faults  int
	}{{good, 0}, {good, 0}, {stricter, 1}, {stricter, 1}, {testCatalog{}, 1}, {good, 0}} {
		if faults := c.CheckComponents(tt.catalog); len(faults) != tt.faults {
			t.Errorf("look %d: %v, want %d faults", i, faults, tt.faults)
		}
	}
}

func TestAllFaultsAtOnce(t *testing.T) {
	t.Parallel()
	path := write(t, map[string]string{"config.yaml": "app: a\nnode: '!'\ntasks:\n  - {name: t, every: 1m, job: {use: htp}}\n  - {nam: u, every: 1, job: {use: http}}\n"})
	c, err := Load(path, Options{})
	faults, ok := errors.AsType[Faults](err)
	if !ok {
		t.Fatalf("error %v", err)
	}
	all := c.Sort(append(faults, c.CheckComponents(newTestCatalog(t))...))
	var got []string
	for _, f := range all {
		got = append(got, fmt.Sprintf("%d:%d", f.Line, f.Column))
	}
	// node; htp; the name of u is missing, and is misspelt; every; url is missing.
	if want := []string{"2:7", "4:37", "5:5", "5:6", "5:21", "5:29"}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v\n%v", got, want, all)
	}
}

func TestComponentFault(t *testing.T) {
	t.Parallel()
	c := load(t, map[string]string{"config.yaml": "app: a\nnotifiers: {n: {use: webhook}}\ntasks:\n  - name: t\n    every: 1m\n    job:\n      use: http\n      with: {url: x}\n"})
	cause := errors.New("no such host")
	for _, want := range []struct {
		kind        pluginapi.Kind
		owner, task string
		line        int
		message     string
	}{
		{pluginapi.KindJob, "t", "t", 8, "job http: no such host"},
		{pluginapi.KindNotifier, "n", "", 2, "notifier webhook: no such host"},
		{pluginapi.KindJob, "other", "", 0, `job of "other": no such host`},
	} {
		got := c.ComponentFault(want.kind, want.owner, cause)
		if got.Line != want.line || got.Message != want.message || got.Task != want.task {
			t.Errorf("got %+v, want %+v", got, want)
		}
	}
}

func BenchmarkCheckComponents10000Tasks(b *testing.B) {
	c := load(b, map[string]string{"config.yaml": manyTasks(10_000)})
	schema, err := pluginapi.SchemaOf[struct {
		Command []string          `json:"command"`
		Env     map[string]string `json:"env"`
		URL     string            `json:"url"`
	}]()
	if err != nil {
		b.Fatal(err)
	}
	catalog := testCatalog{"job exec": schema, "notifier webhook": schema}
	for b.Loop() {
		c.passed.schemas = nil // as at the first look
		if faults := c.CheckComponents(catalog); len(faults) > 0 {
			b.Fatal(faults)
		}
	}
}
