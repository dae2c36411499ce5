package console

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"text/template/parse"

	"github.com/axsched/ax/host/internal/ax"
)

// TestCatalog wants each text of the pages in Chinese, and nothing else there.
func TestCatalog(t *testing.T) {
	t.Parallel()
	data, err := files.ReadFile("locale/zh.json")
	if err != nil {
		t.Fatal(err)
	}
	var words map[string]string
	if err := json.Unmarshal(data, &words); err != nil {
		t.Fatal(err)
	}
	used := usedTexts(t)
	if len(used) < 100 {
		t.Fatalf("found %d texts only", len(used))
	}
	for _, key := range slices.Sorted(maps.Keys(used)) {
		if words[key] == "" {
			t.Errorf("%s: %q has no translation", used[key], key)
		}
	}
	verbs := regexp.MustCompile(`%[a-z]`)
	for _, key := range slices.Sorted(maps.Keys(words)) {
		if used[key] == "" {
			t.Errorf("nothing uses the translation of %q", key)
		}
		if a, b := verbs.FindAllString(key, -1), verbs.FindAllString(words[key], -1); !slices.Equal(a, b) {
			t.Errorf("%q has the verbs %q, its translation %q", key, a, b)
		}
	}
}

// usedTexts returns the texts that templates and code ask the catalog for, and
// where.
func usedTexts(t *testing.T) map[string]string {
	t.Helper()
	used := map[string]string{}
	for _, text := range spoken() {
		used[text] = "spoken"
	}
	for key, note := range notes() {
		used[note] = "note " + key
	}
	words, err := loadCatalogs()
	if err != nil {
		t.Fatal(err)
	}
	pages, err := (&console{words: words}).parse()
	if err != nil {
		t.Fatal(err)
	}
	for _, page := range pages["en"] {
		for _, one := range page.Templates() {
			if one.Tree != nil {
				textsOf(one.Tree.Root, one.Tree.ParseName, used)
			}
		}
	}
	sources, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range sources {
		if !strings.HasSuffix(name, "_test.go") {
			textsOfCode(t, name, used)
		}
	}
	return used
}

// textsOf collects the arguments of t and n in a template.
func textsOf(node parse.Node, where string, used map[string]string) {
	texts := regexp.MustCompile(`(?:\{\{|[( ])(?:t|n|plural) ("(?:[^"\\]|\\.)*")(?: ("(?:[^"\\]|\\.)*"))?`)
	for _, found := range texts.FindAllStringSubmatch(fmt.Sprint(node), -1) {
		for _, quoted := range found[1:] {
			if text, err := strconv.Unquote(quoted); err == nil {
				used[text] = where
			}
		}
	}
}

// textsOfCode collects what code asks the catalog for: the texts of calls that
// translate, and of errors for viewers.
func textsOfCode(t *testing.T, name string, used map[string]string) {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	take := func(args []ast.Expr) {
		for _, arg := range args {
			if lit, ok := arg.(*ast.BasicLit); ok && lit.Kind == token.STRING {
				if text, err := strconv.Unquote(lit.Value); err == nil {
					used[text] = name
				}
			}
		}
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			switch f := n.Fun.(type) {
			case *ast.SelectorExpr:
				if slices.Contains([]string{"T", "text", "count"}, f.Sel.Name) {
					take(n.Args)
				}
			case *ast.Ident:
				if f.Name == "badRequest" {
					take(n.Args)
				}
			}
		case *ast.CompositeLit:
			if id, ok := n.Type.(*ast.Ident); ok && id.Name == "refusal" {
				take(n.Elts)
			}
		}
		return true
	})
}

// TestStatesAreSpoken: no state is shown as the code writes it.
func TestStatesAreSpoken(t *testing.T) {
	t.Parallel()
	for _, status := range ax.Statuses() {
		if !slices.Contains(spoken(), strings.ToLower(string(status))) {
			t.Errorf("%s is not spoken", status)
		}
	}
}

func TestCounts(t *testing.T) {
	t.Parallel()
	words, err := loadCatalogs()
	if err != nil {
		t.Fatal(err)
	}
	for n, want := range map[int]string{0: "0 days", 1: "1 day", 2: "2 days"} {
		if got := words["en"].count("%d day", "%d days", n); got != want {
			t.Errorf("%d: %q, want %q", n, got, want)
		}
	}
	if got := words["zh"].count("%d day", "%d days", 1); got != "1 天" {
		t.Errorf("in Chinese: %q", got)
	}
	for n, want := range map[int64]string{0: "0", 999: "999", 1000: "1,000", 1234567: "1,234,567", -4321: "-4,321"} {
		if got := grouped(n); got != want {
			t.Errorf("%d: %q, want %q", n, got, want)
		}
	}
}
