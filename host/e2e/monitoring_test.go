package e2e

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/axsched/ax/host/internal/ax"
)

// monitoring is the folder of what is shipped for Prometheus and Grafana.
const monitoring = "../../monitoring"

// promtool runs the tool of Prometheus; scripts/test-deps.sh installs it.
func promtool(t *testing.T, input string, args ...string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "promtool", args...)
	cmd.Stdin = strings.NewReader(input)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("promtool %s: %v\n%s", strings.Join(args, " "), err, out)
	}
}

// TestAlertRules runs the stories of the alert rules, of which each alert has one.
func TestAlertRules(t *testing.T) {
	t.Parallel()
	promtool(t, "", "check", "rules", filepath.Join(monitoring, "rules.yaml"))
	promtool(t, "", "test", "rules", filepath.Join(monitoring, "rules_test.yaml"))
	tests := readFile(t, filepath.Join(monitoring, "rules_test.yaml"))
	page := readFile(t, "../../docs/monitoring.md")
	alerts := regexp.MustCompile(`(?m)^ +- alert: (\w+)$`).FindAllStringSubmatch(readFile(t, filepath.Join(monitoring, "rules.yaml")), -1)
	if len(alerts) == 0 {
		t.Fatal("there are no alerts")
	}
	for _, a := range alerts {
		for _, story := range []string{a[1] + " is raised\n", a[1] + " is not raised\n"} {
			if !strings.Contains(tests, story) {
				t.Errorf("no test says that %s", story)
			}
		}
		if !strings.Contains(page, "\n| `"+a[1]+"` | ") {
			t.Errorf("docs/monitoring.md lacks %s", a[1])
		}
	}
}

// TestMonitoringFitsHost: every metric that the dashboard and the rules name is
// there on a host, in good order.
func TestMonitoringFitsHost(t *testing.T) {
	t.Parallel()
	s := newService(t)
	w := newWorld(t, "exec", "webhook")
	w.config(`
metrics: {by_task: true}
notifiers: {hook: {use: webhook, with: {url: ` + s.URL + `/alerts}}}
tasks:
- name: fails
  at: "2099-01-01"
  notify: [hook]
  retry: 0
  job: {use: exec, with: {command: ["false"]}}
`)
	h := w.start()
	defer h.stop()
	w.instance(w.run("fails"), ax.StatusFailed)
	text := w.get("/metrics")
	served := metricNames(text)
	promtool(t, text, "check", "metrics")
	named := 0
	for _, file := range []string{"rules.yaml", "dashboard.json"} {
		for _, name := range queried(t, filepath.Join(monitoring, file)) {
			named++
			if !served[name] {
				t.Errorf("%s asks for %s, which a host does not have", file, name)
			}
		}
	}
	if named < 20 {
		t.Errorf("only %d metrics are asked for", named)
	}
}

var sampleName = regexp.MustCompile(`(?m)^([a-z_]+)[ {]`)

// metricNames returns the names of all samples.
func metricNames(text string) map[string]bool {
	names := map[string]bool{}
	for _, m := range sampleName.FindAllStringSubmatch(text, -1) {
		names[m[1]] = true
	}
	return names
}

// queried returns the metrics that a file asks for. What is not ax's own, Go's or
// the process's comes from Prometheus itself.
func queried(t *testing.T, file string) []string {
	t.Helper()
	text := readFile(t, file)
	if strings.HasSuffix(file, ".json") {
		text = strings.Join(expressions(t, text), "\n")
	}
	names := regexp.MustCompile(`\b(ax|go|process)_[a-z_]+`).FindAllString(text, -1)
	slices.Sort(names)
	return slices.Compact(names)
}

// expressions returns all queries of a dashboard.
func expressions(t *testing.T, text string) []string {
	t.Helper()
	var board struct {
		Panels     []struct{ Targets []struct{ Expr string } }
		Templating struct{ List []struct{ Definition string } }
	}
	if err := json.Unmarshal([]byte(text), &board); err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, p := range board.Panels {
		for _, target := range p.Targets {
			all = append(all, target.Expr)
		}
	}
	for _, v := range board.Templating.List {
		all = append(all, v.Definition)
	}
	return all
}

func readFile(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
