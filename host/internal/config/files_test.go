package config

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestFilesAndDirs: what a watcher must watch, in the order in which it was read.
func TestFilesAndDirs(t *testing.T) {
	t.Parallel()
	c := loadGood(t)
	wantFiles := []string{"config.yaml", "conf.d/extra.yaml", "days.csv", "days.json"}
	for i := range wantFiles {
		wantFiles[i] = "testdata/good/" + wantFiles[i]
	}
	if !slices.Equal(c.Files, wantFiles) {
		t.Errorf("files %v, want %v", c.Files, wantFiles)
	}
	wantDirs := []string{"testdata/good", "testdata/good/conf.d", "testdata/good/more"}
	if !slices.Equal(c.Dirs, wantDirs) {
		t.Errorf("dirs %v, want %v", c.Dirs, wantDirs)
	}
}

// TestHash: it follows the content of every file that goes in, and nothing else.
func TestHash(t *testing.T) {
	t.Parallel()
	files := map[string]string{
		"config.yaml": "app: a\ninclude: more.yaml\nnotifiers: {n: {use: x, with: {t: \"${file:name}\"}}}\ncalendars: {c: {files: days.csv}}\n",
		"more.yaml":   "tasks: []\n", "name": "n\n", "days.csv": "date,name,kind\n2026-01-01,x,off\n",
	}
	first := load(t, files)
	if again := load(t, files); again.Hash != first.Hash || first.Hash == "" {
		t.Errorf("hashes of equal files: %q and %q", first.Hash, again.Hash)
	}
	for name := range files {
		changed := maps.Clone(files)
		changed[name] += "\n"
		if load(t, changed).Hash == first.Hash {
			t.Errorf("a change of %s does not change the hash", name)
		}
	}
}

func TestReferences(t *testing.T) {
	t.Parallel()
	c := load(t, map[string]string{
		"config.yaml": `app: a
node: ${file:sub/node}-x
executor: {workers: "${env:WORKERS}"}
include: sub/*.yaml
notifiers:
  ops: {use: webhook, with: {url: "${env:OPS_URL}?a=$${b}", shell: "echo ${HOME} ${X:-y} $$", pem: "${env:PEM}", e: "${env:EMPTY}"}}
`,
		"sub/node":       "host-7\r\n",
		"sub/token":      "to\"ken",
		"sub/tasks.yaml": "notifiers: {n: {use: webhook, with: {token: \"${file:token}\"}}}\n",
	})
	if c.Node != "host-7-x" || c.Executor.Workers != 7 {
		t.Errorf("node %q, workers %d", c.Node, c.Executor.Workers)
	}
	want := `{"url":"https://ops.example/s3cret?a=${b}","shell":"echo ${HOME} ${X:-y} $$","pem":"-----BEGIN-----\nabcdefgh\n--\n","e":""}`
	if got := string(c.Notifiers["ops"].With); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if got := string(c.Notifiers["n"].With); got != `{"token":"to\"ken"}` {
		t.Errorf("a path is not relative to the file that names it: %s", got)
	}
	// One of a single character is no secret; the lines of a long one are.
	wantSecrets := []string{"https://ops.example/s3cret", "-----BEGIN-----\nabcdefgh\n--\n", "-----BEGIN-----", "abcdefgh", "to\"ken", "host-7"}
	slices.Sort(wantSecrets)
	if got := slices.Sorted(slices.Values(c.Secrets)); !slices.Equal(got, wantSecrets) {
		t.Errorf("secrets %q, want %q", got, wantSecrets)
	}
	if !slices.IsSortedFunc(c.Secrets, func(a, b string) int { return len(b) - len(a) }) {
		t.Errorf("secrets are not ordered by length: %q", c.Secrets)
	}
}

func TestFaultsInSeveralFiles(t *testing.T) {
	t.Parallel()
	got := faultLines(t, map[string]string{
		"config.yaml": "app: a\ninclude: [conf.d/*.yaml, days.csv]\ncalendars: {c: {files: [days.csv]}}\nnotifiers: {n: {use: webhook}}\n" +
			"tasks:\n  - {name: t, every: 1m, job: {use: exec}, calendar: in-broken-file}\n",
		"conf.d/a.yaml": "app: b\nnotifiers: {n: {use: webhook}}\ncalendars: {c: {}}\nlisteners: {l: {use: x}}\n",
		"conf.d/b.yaml": "tasks:\n  - {name: t, every: 2m, job: {use: exec}}\nlisteners: {l: {use: x}}\n",
		"conf.d/c.yaml": "calendars:\n  in-broken-file: {weekly: [MON}\ntasks:\n  - name: u\n    cron: */5 * * * *\n",
		"days.csv":      "date,name,kind\n2026-01-01,x,off\n2026-13-01,x,off\n",
	}, Options{})
	want := []string{
		`conf.d/a.yaml:1:1: unknown key "app" in an included file, expected notifiers, listeners, calendars or tasks`,
		`conf.d/a.yaml:2:13: there is another notifier "n" in config.yaml:4:13: rename one of them`,
		`conf.d/a.yaml:3:13: there is another calendar "c" in config.yaml:3:13: rename one of them`,
		`conf.d/b.yaml:2:12: there is another task "t" in config.yaml:6:12: rename one of them`,
		`conf.d/b.yaml:3:13: there is another listener "l" in conf.d/a.yaml:4:13: rename one of them`,
		`conf.d/c.yaml:2:3: not YAML: did not find expected ',' or ']'; check the indentation, and that each quote and bracket that begins here is closed`,
		`conf.d/c.yaml:5:11: quote the schedule: "*/5 * * * *"`,
		`days.csv:1:1: expected keys such as tasks:, got "date,name,kind 2026-01-01,x,off 2026-13-01,x,off"`,
		`days.csv:3:1: reading holidays from days.csv: line 3: expected a date such as 2026-12-31, got "2026-13-01"`,
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestUnreadableFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	large := filepath.Join(dir, "large.yaml")
	if err := os.WriteFile(large, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(large, maxFileBytes+1); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		filepath.Join(dir, "none.yaml"): "there is no file",
		dir:                             "is a folder, expected a file",
		os.DevNull:                      "is no ordinary file",
		large:                           "is larger than 33554432 bytes",
	} {
		_, err := Load(path, Options{})
		if err == nil || !strings.Contains(err.Error(), want) || !strings.HasPrefix(err.Error(), path+":1:1: ") {
			t.Errorf("%s: error %v, want %q", path, err, want)
		}
	}
}

// TestPathsAreAsTyped: messages name files as the one who typed the path of the
// configuration sees them, from the folder in which they are.
func TestPathsAreAsTyped(t *testing.T) {
	dir := filepath.Dir(write(t, map[string]string{
		"etc/ax.yaml":       "app: a\ninclude: [conf.d/*.yaml, none.yaml]\ncalendars: {c: {files: [days.csv]}}\n",
		"etc/conf.d/t.yaml": "tasks: [{name: t, every: 1m}]\n",
	}))
	t.Chdir(dir)
	for typed, folder := range map[string]string{
		"etc/ax.yaml": "etc", "./etc/ax.yaml": "etc", filepath.Join(dir, "etc/ax.yaml"): filepath.Join(dir, "etc"),
	} {
		_, err := Load(typed, Options{})
		if err == nil {
			t.Fatal("Load found no fault")
		}
		want := strings.ReplaceAll("DIR/ax.yaml:2:26: include: there is no file DIR/none.yaml\n"+
			"DIR/ax.yaml:3:25: files: there is no file DIR/days.csv\nDIR/conf.d/t.yaml:1:9: a task needs the key job", "DIR", folder)
		if err.Error() != want {
			t.Errorf("%s: got\n%v\nwant\n%s", typed, err, want)
		}
	}
}
