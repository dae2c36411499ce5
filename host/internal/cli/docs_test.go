package cli

import (
	"os"
	"strings"
	"testing"
)

// TestDocs keeps docs/cli.md in step with the program.
func TestDocs(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../../docs/cli.md")
	if err != nil {
		t.Fatal(err)
	}
	page := string(text)
	p := &program{Deps: testDeps("")}
	for _, c := range p.root().Commands() {
		if c.Name() != "help" && !strings.Contains(page, "`ax "+c.Name()) {
			t.Errorf("docs/cli.md does not name ax %s", c.Name())
		}
	}
	for line := range strings.Lines(exitCodeHelp) {
		code, meaning, ok := strings.Cut(strings.TrimSpace(line), " ")
		if !ok || code == "Exit" {
			continue
		}
		row := "| " + code + " | " + strings.ReplaceAll(strings.TrimSpace(meaning), "run --wait", "`run --wait`") + " |"
		if !strings.Contains(page, row) {
			t.Errorf("docs/cli.md lacks the row %s", row)
		}
	}
	_, example, _ := strings.Cut(page, "$ echo '")
	input, rest, _ := strings.Cut(example, "' | ax next --stdin\n")
	want, _, _ := strings.Cut(rest, "```")
	if got := execute(t, "", []string{"next", "--stdin"}, input); got.out != want || want == "" {
		t.Errorf("the example prints %q, the page says %q", got.out, want)
	}
}
