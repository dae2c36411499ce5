package metrics

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// TestGeneratedTable keeps the table of metrics in docs/monitoring.md in step with
// the code. UPDATE=1 writes it anew.
func TestGeneratedTable(t *testing.T) {
	t.Parallel()
	const page, begin, end = "../../../docs/monitoring.md", "<!-- generated: metrics -->\n", "<!-- end -->"
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, found := strings.Cut(string(text), begin)
	old, after, ended := strings.Cut(rest, end)
	if !found || !ended {
		t.Fatalf("%s has no place for the table", page)
	}
	fresh := table(New(Config{Gauges: quiet(), ByTask: true}).Infos())
	switch {
	case old == fresh:
	case os.Getenv("UPDATE") != "":
		if err := os.WriteFile(page, []byte(before+begin+fresh+end+after), 0o644); err != nil {
			t.Fatal(err)
		}
	default:
		t.Errorf("the table in %s is stale: make generate", page)
	}
}

func table(infos []Info) string {
	var b strings.Builder
	b.WriteString("| metric | type | labels | meaning |\n|---|---|---|---|\n")
	for _, i := range infos {
		var labels []string
		for _, l := range i.Labels {
			labels = append(labels, "`"+l+"`")
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", i.Name, i.Type, strings.Join(labels, ", "), i.Help)
	}
	return b.String()
}
