package docs_test

import (
	"database/sql"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	_ "modernc.org/sqlite" // the driver of the database that is looked into
)

// TestAgainstHost holds tables that list what a host offers to a host.
func TestAgainstHost(t *testing.T) {
	t.Parallel()
	dir := world(t)
	addr := startHost(t, write(t, dir, "config.yaml", exampleConfig(t)))
	t.Run("calls", func(t *testing.T) { testCalls(t, addr) })
	t.Run("metrics", func(t *testing.T) { testMetrics(t, addr) })
	t.Run("sql", func(t *testing.T) { testSQL(t, filepath.Join(dir, "data", "ax.db")) })
	t.Run("data", func(t *testing.T) { testData(t, filepath.Join(dir, "data")) })
}

func testCalls(t *testing.T, addr string) {
	var document struct {
		Paths map[string]map[string]json.RawMessage
	}
	if err := json.Unmarshal([]byte(get(t, addr+"/api/v1/openapi.json")), &document); err != nil {
		t.Fatal(err)
	}
	want := map[string]bool{"GET /metrics": true}
	for path, methods := range document.Paths {
		for method := range methods {
			want[strings.ToUpper(method)+" "+path] = true
		}
	}
	same(t, "api.md", want, firstCells(t, "api.md", `[A-Z]+ /\S+`))
}

// testMetrics looks at the metrics that a host has from its start. Those of
// notifiers are there if there are any, those of tasks if they are asked for.
func testMetrics(t *testing.T, addr string) {
	shown := firstCells(t, "monitoring.md", `ax_[a-z_]+`)
	served := map[string]bool{
		"ax_alerts_total": true, "ax_alerts_waiting": true, "ax_alerts_oldest_waiting_seconds": true, "ax_alerts_dead": true,
		"ax_task_runs_total": true, "ax_task_last_duration_seconds": true, "ax_task_last_success_timestamp_seconds": true,
	}
	for _, m := range regexp.MustCompile(`(?m)^# TYPE (ax_[a-z_]+) `).FindAllStringSubmatch(get(t, addr+"/metrics"), -1) {
		served[m[1]] = true
	}
	same(t, "monitoring.md", served, shown)
}

func testSQL(t *testing.T, file string) {
	db, err := sql.Open("sqlite", file)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	ran := 0
	for _, page := range pages(t) {
		for _, b := range blocks(t, page) {
			if b.lang != "sql" {
				continue
			}
			ran++
			text := strings.ReplaceAll(b.text, "'backup.db'", "'"+filepath.Join(t.TempDir(), "backup.db")+"'")
			if _, err := db.ExecContext(t.Context(), text); err != nil {
				t.Errorf("%s:%d: %v", b.page, b.line, err)
			}
		}
	}
	if ran == 0 {
		t.Error("no page has SQL")
	}
}

// testData wants every file of a data directory to be explained.
func testData(t *testing.T, dir string) {
	page, err := os.ReadFile("operations.md")
	if err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		name := e.Name()
		if e.IsDir() {
			name += "/"
		}
		if !strings.Contains(string(page), "`"+name+"`") {
			t.Errorf("operations.md does not explain %s of the data directory", name)
		}
	}
}

func get(t *testing.T, url string) string {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("GET %s: %s, %v", url, resp.Status, err)
	}
	return string(body)
}

// firstCells returns the first cells of tables that match a pattern.
func firstCells(t *testing.T, page, pattern string) map[string]bool {
	t.Helper()
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]bool{}
	for _, m := range regexp.MustCompile("(?m)^\\| `("+pattern+")` \\|").FindAllStringSubmatch(string(text), -1) {
		found[m[1]] = true
	}
	return found
}

func same(t *testing.T, page string, want, shown map[string]bool) {
	t.Helper()
	for name := range want {
		if !shown[name] {
			t.Errorf("%s does not show %s", page, name)
		}
	}
	for name := range shown {
		if !want[name] {
			t.Errorf("%s shows %s, which is not there", page, name)
		}
	}
}
