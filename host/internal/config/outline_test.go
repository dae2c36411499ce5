package config

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"
)

// sameNodes tells where two documents differ, lines and columns included.
func sameNodes(a, b *yaml.Node) error {
	if a.Kind != b.Kind || a.Tag != b.Tag || a.Value != b.Value || a.Line != b.Line || a.Column != b.Column || len(a.Content) != len(b.Content) {
		return fmt.Errorf("%+v and %+v", a, b)
	}
	for i := range a.Content {
		if err := sameNodes(a.Content[i], b.Content[i]); err != nil {
			return err
		}
	}
	return nil
}

// assemble puts the parts of a file together again; the error is of a part that
// is no YAML.
func assemble(o outline) (*yaml.Node, error) {
	root, err := o.join()
	if err != nil {
		return nil, err
	}
	var tasks *yaml.Node
	for _, p := range o.tasks {
		list, err := p.parse()
		if err != nil {
			return nil, err
		}
		if tasks == nil {
			tasks = list
		} else {
			tasks.Content = append(tasks.Content, list.Content...)
		}
	}
	for i := 0; tasks != nil && i < len(root.Content); i += 2 {
		if root.Content[i].Value == "tasks" {
			root.Content[i+1] = tasks
		}
	}
	return root, nil
}

// checkOutline proves that the parts of a text together are what the whole is.
func checkOutline(t *testing.T, text string) (inParts bool) {
	t.Helper()
	o := outlineOf([]byte(text), 0)
	if !o.sure {
		return false
	}
	root, err := assemble(o)
	if err != nil {
		return false
	}
	whole, bad := parse([]byte(text))
	if bad != nil {
		t.Fatalf("the parts are YAML, the whole is not: %v\n%s", bad, text)
	}
	if err := sameNodes(root, whole); err != nil {
		t.Fatalf("the parts differ from the whole: %v\n%s", err, text)
	}
	return true
}

func TestOutline(t *testing.T) {
	t.Parallel()
	for _, path := range []string{"testdata/good/config.yaml", "testdata/good/conf.d/extra.yaml", "../../../config.example.yaml"} {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if !checkOutline(t, string(text)) {
			t.Errorf("%s is not read in parts", path)
		}
		if !checkOutline(t, strings.ReplaceAll(string(text), "\n", "\r\n")) {
			t.Errorf("%s is not read in parts with the line ends of Windows", path)
		}
	}
	if !checkOutline(t, manyTasks(500)) {
		t.Error("many tasks are not read in parts")
	}
	for text, inParts := range map[string]bool{
		"---\n# x\napp: a\ntasks:\n- a\n- b\nlog:\n":                                                   true,
		"app: a\ntasks: # all\n\n  # one\n  - a: |\n      - x\n    b:\n    - c\n  - \n    d: e\n# end": true,
		"tasks:\n": true, "a: [\n1]\n": true, "a: |\n  b: c\n\n": true,
		"tasks:\n  - \"a\n  - b\"\n":  false, // an entry that is none
		"tasks:\n  - [a,\n  - b]\n":   false,
		"tasks:\n  - a\n - b\n":       false,
		"tasks:\n- a\n- b: [\n]\n- c": false,
		"{app: a}":                    false, "- a\n": false, "": false, "a: {\nb: c\n}\n": false,
		"tasks:\n- a\ntasks:\n- b\n": false, "app: a\n---\napp: b\n": false,
		"tasks:\n  a: b\n": false, "tasks:\n\t- a\n": false,
	} {
		if got := checkOutline(t, text); got != inParts {
			t.Errorf("in parts %t, want %t:\n%s", got, inParts, text)
		}
	}
}

// FuzzOutline: whatever the text is, its parts mean what the whole means.
func FuzzOutline(f *testing.F) {
	for _, text := range []string{manyTasks(3), "app: a\ntasks:\n- 'a\n- b'\n- {c: d}\n", "tasks:\n- |\n - x\n-\n  y\nz: [\n- q\n]\n"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		checkOutline(t, text)
	})
}

// TestPartsAndWhole: entries that only look like some are read as they are.
func TestPartsAndWhole(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", partBytes) // so that a part ends behind it
	text := "app: a\ntasks:\n  - {name: t, every: 1m, job: {use: exec}}\n" +
		"  - name: u\n    every: 1m\n    description: \"" + long + "\n  - two\"\n    job: {use: exec}\n" +
		"  - {name: v, every: 1m, job: {use: exec}}\n"
	if o := outlineOf([]byte(text), partBytes); !o.sure || len(o.tasks) != 2 {
		t.Fatalf("%d parts, sure: %t", len(o.tasks), o.sure)
	}
	c := load(t, map[string]string{"config.yaml": text})
	var names []string
	for _, task := range c.Tasks {
		names = append(names, task.Name+" "+task.Source)
	}
	if want := []string{"t config.yaml:3", "u config.yaml:4", "v config.yaml:9"}; !reflect.DeepEqual(names, want) {
		t.Errorf("tasks %q, want %q", names, want)
	}
	if got := c.Tasks[1].Description; got != long+" - two" {
		t.Errorf("description of %d bytes", len(got))
	}
}

// TestIsCurrent: a touched file is no change, and a further one is.
func TestIsCurrent(t *testing.T) {
	t.Parallel()
	path := write(t, map[string]string{
		"config.yaml":   "app: a\ninclude: conf.d/*.yaml\nnotifiers: {n: {use: w, with: {a: '${file:key}', b: '${file:key}'}}}\n",
		"conf.d/a.yaml": "tasks: []\n", "key": "secret",
	})
	c, err := Load(path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Dir(path)
	change := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	change("key", "secret")
	if !c.IsCurrent() {
		t.Error("equal files count as a change")
	}
	for _, name := range []string{"key", "conf.d/b.yaml"} {
		change(name, "other")
		if c.IsCurrent() {
			t.Errorf("a change of %s is not seen", name)
		}
		change("key", "secret")
	}
	if err := os.Remove(filepath.Join(dir, "conf.d/b.yaml")); err != nil {
		t.Fatal(err)
	}
	if !c.IsCurrent() {
		t.Error("the files are as they were, and count as changed")
	}
	if err := os.Remove(filepath.Join(dir, "key")); err != nil {
		t.Fatal(err)
	}
	if c.IsCurrent() {
		t.Error("a file that is gone counts as none")
	}
}
