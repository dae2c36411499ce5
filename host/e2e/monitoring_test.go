package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
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

// TestDashboard: Prometheus can read every query, and no panel hides another.
func TestDashboard(t *testing.T) {
	t.Parallel()
	board := dashboard(t)
	variables := strings.NewReplacer("$__rate_interval", "5m", "$job", ".*", "$instance", ".*")
	var rules strings.Builder
	rules.WriteString("groups:\n- name: dashboard\n  rules:\n")
	ids, cells := map[int]bool{}, map[[2]int]string{}
	for _, p := range board.Panels {
		if ids[p.ID] {
			t.Errorf("%s has the number of another panel", p.Title)
		}
		ids[p.ID] = true
		for x := p.GridPos.X; x < p.GridPos.X+p.GridPos.W; x++ {
			for y := p.GridPos.Y; y < p.GridPos.Y+p.GridPos.H; y++ {
				if other := cells[[2]int{x, y}]; other != "" || x >= 24 {
					t.Errorf("%s lies over %s", p.Title, other)
				}
				cells[[2]int{x, y}] = p.Title
			}
		}
		for _, target := range p.Targets {
			fmt.Fprintf(&rules, "  - {record: \"query:%d:%s\", expr: %q}\n", p.ID, target.RefID, variables.Replace(target.Expr))
		}
	}
	file := filepath.Join(t.TempDir(), "queries.yaml")
	if err := os.WriteFile(file, []byte(rules.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	promtool(t, "", "check", "rules", file)
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

// TestClusterIsCounted: attempts that go to another host, its death and what the
// one that is left takes over are in the metrics of that.
func TestClusterIsCounted(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 2, "worker")
	const tasks = 8 // of which some are scheduled by either host
	var body strings.Builder
	body.WriteString("executor: {workers: 16}\ntasks:\n- {name: often, every: 1s, job: {use: work}}\n")
	for i := range tasks {
		fmt.Fprintf(&body, "- {name: t%d, every: 1h, retry: 0, nodes: {which: \"1\"}, job: {use: work, with: {takes: 60000ms}}}\n", i)
	}
	var hosts []*host
	for i, w := range c {
		w.shared = strings.Replace(w.shared, "cluster: {", fmt.Sprintf("cluster: {labels: {which: %q}, ", fmt.Sprint(i)), 1)
		w.config(body.String())
		hosts = append(hosts, w.start())
	}
	a := c[0]
	a.shows(`ax_cluster_hosts{state="live"}`, 2)
	for i := range tasks {
		a.axOK("run", fmt.Sprintf("t%d", i))
		a.runs(fmt.Sprintf("t%d", i), 1, ax.StatusRunning)
	}
	a.shows(`ax_cluster_dispatches_total{outcome="confirmed"}`, 1)
	hosts[1].kill()
	a.shows(`ax_cluster_hosts{state="dead"}`, 1)
	a.shows("ax_cluster_tasks_taken_over_total", 1)
	a.shows("ax_cluster_attempts_given_up_total", tasks)
	a.shows(`ax_runs_total{status="LOST"}`, tasks)
	a.shows("ax_due_times_total", 1)
	a.shows("ax_attempts_started_total", 1)
	a.shows(`ax_database_seconds_count{operation="write"}`, 1)
	if ready := a.get("/readyz"); !strings.Contains(ready, `"status"`) {
		t.Errorf("readyz says %s", ready)
	}
	hosts[0].stop()
}

// shows waits until a metric is that large.
func (w *world) shows(sample string, least float64) {
	w.t.Helper()
	eventually(w.t, patience, func() error {
		_, rest, _ := strings.Cut("\n"+w.get("/metrics"), "\n"+sample+" ")
		text, _, found := strings.Cut(rest, "\n")
		value, err := strconv.ParseFloat(text, 64)
		if err != nil || !found || value < least {
			return fmt.Errorf("%s is %q, want at least %v", sample, text, least)
		}
		return nil
	})
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
		b := dashboard(t)
		text = strings.Join(b.expressions(), "\n")
	}
	names := regexp.MustCompile(`\b(ax|go|process)_[a-z_]+`).FindAllString(text, -1)
	slices.Sort(names)
	return slices.Compact(names)
}

// board is what the tests look at of a dashboard of Grafana.
type board struct {
	Panels []struct {
		ID      int
		Title   string
		GridPos struct{ X, Y, W, H int }
		Targets []struct{ RefID, Expr string }
	}
	Templating struct{ List []struct{ Definition string } }
}

func dashboard(t *testing.T) (b board) {
	t.Helper()
	if err := json.Unmarshal([]byte(readFile(t, filepath.Join(monitoring, "dashboard.json"))), &b); err != nil {
		t.Fatal(err)
	}
	return b
}

// expressions returns all queries, those of variables among them.
func (b *board) expressions() (all []string) {
	for _, p := range b.Panels {
		for _, target := range p.Targets {
			all = append(all, target.Expr)
		}
	}
	for _, v := range b.Templating.List {
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
