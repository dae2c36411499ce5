package ax

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// TestGeneratedDiagram keeps the diagram of the states in the documentation in
// step with the table of moves. UPDATE=1 writes it anew.
func TestGeneratedDiagram(t *testing.T) {
	t.Parallel()
	for _, page := range []string{"../../../ARCHITECTURE.md", "../../../docs/state_machine.md"} {
		const begin, end = "<!-- generated: moves -->\n", "<!-- end -->"
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		before, rest, found := strings.Cut(string(text), begin)
		old, after, ended := strings.Cut(rest, end)
		if !found || !ended {
			t.Fatalf("%s has no place for the diagram", page)
		}
		fresh := diagram()
		switch {
		case old == fresh:
		case os.Getenv("UPDATE") != "":
			if err := os.WriteFile(page, []byte(before+begin+fresh+end+after), 0o644); err != nil {
				t.Fatal(err)
			}
		default:
			t.Errorf("the diagram in %s is stale: make generate", page)
		}
	}
}

// TestStatesAreExplained wants a row for every state in docs/state_machine.md.
func TestStatesAreExplained(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../../docs/state_machine.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range append(Statuses(), StatusPending) {
		final := "no"
		if s.Final() {
			final = "yes"
		}
		if !strings.Contains(string(text), "\n| "+string(s)+" | "+final+" | ") {
			t.Errorf("docs/state_machine.md lacks the row of %s, final: %s", s, final)
		}
	}
}

// TestStagesAreExplained wants every stage of an event in docs/state_machine.md.
func TestStagesAreExplained(t *testing.T) {
	t.Parallel()
	code, err := os.ReadFile("ax.go")
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile("../../../docs/state_machine.md")
	if err != nil {
		t.Fatal(err)
	}
	stages := regexp.MustCompile(`Stage += "(\w+)"`).FindAllSubmatch(code, -1)
	if len(stages) < 10 {
		t.Fatalf("found %d stages in ax.go", len(stages))
	}
	for _, m := range stages {
		if !strings.Contains(string(text), "`"+string(m[1])+"`") {
			t.Errorf("docs/state_machine.md does not explain the stage %s", m[1])
		}
	}
}

func diagram() string {
	var b strings.Builder
	b.WriteString("```mermaid\nstateDiagram-v2\n    direction LR\n    [*] --> PENDING\n")
	all := append([]Status{StatusPending}, Statuses()...)
	for _, from := range all {
		for _, to := range all {
			if CanMove(from, to) {
				b.WriteString("    " + string(from) + " --> " + string(to) + "\n")
			}
		}
		if from.Final() {
			b.WriteString("    " + string(from) + " --> [*]\n")
		}
	}
	b.WriteString("```\n")
	return b.String()
}
