package docs_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/axsched/ax/pluginapi"
	"github.com/axsched/ax/pluginapi/plugintest"
)

// module makes a module of its own outside this one and builds a plugin from a
// program, as its author would.
func module(t *testing.T, name, program string) (binary string) {
	t.Helper()
	dir := t.TempDir()
	repo, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	write(t, dir, "main.go", program)
	// The requirements of this module, so that nothing has to be fetched.
	mod, err := os.ReadFile("../go.mod")
	if err != nil {
		t.Fatal(err)
	}
	_, requirements, _ := strings.Cut(string(mod), "require (")
	write(t, dir, "go.mod", fmt.Sprintf("module example.com/%s\n\ngo 1.26.0\n\nrequire github.com/axsched/ax v0.0.0\n\nreplace github.com/axsched/ax => %s\n\nrequire (%s",
		name, repo, requirements))
	sum, err := os.ReadFile("../go.sum")
	if err != nil {
		t.Fatal(err)
	}
	write(t, dir, "go.sum", string(sum))
	binary = filepath.Join(dir, "ax-plugin-"+name)
	for _, args := range [][]string{{"vet", "-mod=mod", "."}, {"build", "-mod=mod", "-o", binary, "."}} {
		cmd := exec.CommandContext(t.Context(), "go", args...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("go %s: %v\n%s", args[0], err, out)
		}
	}
	return binary
}

// TestReadmePlugin builds the plugin of the README, drops it into the directory
// of a running host, and waits for a task that uses it.
func TestReadmePlugin(t *testing.T) {
	t.Parallel()
	binary := module(t, "biweekly", marked(t, "../README.md", "builds: biweekly").text)

	dir := world(t)
	plugins := filepath.Join(dir, "own")
	if err := os.Mkdir(plugins, 0o755); err != nil {
		t.Fatal(err)
	}
	copyFile(t, filepath.Join(bin(t), "plugins", "ax-plugin-exec"), filepath.Join(plugins, "ax-plugin-exec"))
	const parked, fired = 10 * time.Second, 30 * time.Second
	due := time.Now().UTC().Add(parked).Truncate(time.Second)
	_, week := due.ISOWeek()
	addr := startHost(t, write(t, dir, "config.yaml", fmt.Sprintf(`
app: readme
http: {listen: "127.0.0.1:0"}
plugins: {dir: own}
tasks:
  - name: sometimes
    trigger: {use: biweekly, with: {week: %d, weekday: %d, time: "%s"}}
    job: {use: exec, with: {command: [echo, hello]}}
`, week%2, due.Weekday(), due.Format(time.TimeOnly))))

	wait(t, fired, "the task to be parked", func() bool { return strings.Contains(get(t, addr+"/api/v1/tasks"), "biweekly") })
	copyFile(t, binary, filepath.Join(plugins, ".incoming"))
	if err := os.Rename(filepath.Join(plugins, ".incoming"), filepath.Join(plugins, "ax-plugin-biweekly")); err != nil {
		t.Fatal(err)
	}
	wait(t, fired, "the task to run", func() bool {
		var list struct {
			Instances []struct {
				Status      string
				Message     string
				ScheduledAt time.Time `json:"scheduled_at"`
			}
		}
		if err := json.Unmarshal([]byte(get(t, addr+"/api/v1/instances")), &list); err != nil {
			t.Fatal(err)
		}
		for _, i := range list.Instances {
			if i.Status == "SUCCESS" && i.Message == "hello" && i.ScheduledAt.Equal(due) {
				return true
			}
		}
		return false
	})
}

// TestReadmePluginConforms holds the same plugin to the contract of triggers.
func TestReadmePluginConforms(t *testing.T) {
	t.Parallel()
	binary := module(t, "biweekly", marked(t, "../README.md", "builds: biweekly").text)
	const zone = "America/New_York"
	trigger := plugintest.Start(t, binary).Trigger("biweekly", map[string]any{"weekday": 0, "time": "02:30", "week": 1}, plugintest.Zone(zone))
	loc, err := time.LoadLocation(zone)
	if err != nil {
		t.Fatal(err)
	}
	plugintest.CheckTrigger(t, trigger, loc)
}

// TestPluginPage builds the plugin of plugins.md and calls it.
func TestPluginPage(t *testing.T) {
	t.Parallel()
	host := plugintest.Start(t, module(t, "greet", marked(t, "plugins.md", "builds").text))
	attempt := host.Job("greet", map[string]string{"name": "world", "pause": "1ms"}).Run(t.Context(), pluginapi.Fire{})
	if attempt.Err != nil || attempt.Result.Message != "greeted world" {
		t.Errorf("attempt %+v", attempt)
	}
}

// TestReadmesInStep wants the translation to show the same blocks, apart from
// comments.
func TestReadmesInStep(t *testing.T) {
	t.Parallel()
	english, chinese := blocks(t, "../README.md"), blocks(t, "../README.zh-CN.md")
	if len(english) != len(chinese) {
		t.Fatalf("README.md has %d blocks, README.zh-CN.md %d", len(english), len(chinese))
	}
	for i := range english {
		if e, c := english[i], chinese[i]; e.lang != c.lang || e.text != c.text {
			t.Errorf("README.zh-CN.md:%d differs from README.md:%d", c.line, e.line)
		}
	}
	if e, c := sections(t, "../README.md"), sections(t, "../README.zh-CN.md"); e != c || e == 0 {
		t.Errorf("README.md has %d sections, README.zh-CN.md %d", e, c)
	}
}

func sections(t *testing.T, page string) int {
	t.Helper()
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	return bytes.Count(text, []byte("\n## "))
}

func wait(t *testing.T, limit time.Duration, what string, done func() bool) {
	t.Helper()
	for end := time.Now().Add(limit); !done(); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("waited %s for %s", limit, what)
		}
	}
}

func copyFile(t *testing.T, from, to string) {
	t.Helper()
	text, err := os.ReadFile(from)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(to, text, 0o755); err != nil {
		t.Fatal(err)
	}
}
