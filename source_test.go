package ax_test

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
)

const modulePath = "github.com/axsched/ax"

// goPackage is a folder with Go files of this module.
type goPackage struct {
	path  string // below the module
	files []goFile
	tests int // files of tests
}

type goFile struct {
	path      string
	lines     int
	generated bool
	fset      *token.FileSet
	syntax    *ast.File
}

// readPackages parses all Go files of the module, in the order of their paths.
func readPackages(t *testing.T) []goPackage {
	t.Helper()
	all, err := parsed()
	if err != nil {
		t.Fatal(err)
	}
	if len(all) < 20 {
		t.Fatalf("found %d packages only", len(all))
	}
	return all
}

var parsed = sync.OnceValues(func() ([]goPackage, error) {
	found := map[string]*goPackage{}
	err := filepath.WalkDir(".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && skipped(name):
			return fs.SkipDir
		case d.IsDir() || path.Ext(name) != ".go" || path.Dir(name) == ".":
			return nil
		}
		dir := path.Dir(filepath.ToSlash(name))
		if found[dir] == nil {
			found[dir] = &goPackage{path: dir}
		}
		if strings.HasSuffix(name, "_test.go") {
			found[dir].tests++
			return nil
		}
		f, err := parseFile(name)
		found[dir].files = append(found[dir].files, f)
		return err
	})
	all := make([]goPackage, 0, len(found))
	for _, pkg := range found {
		all = append(all, *pkg)
	}
	slices.SortFunc(all, func(a, b goPackage) int { return strings.Compare(a.path, b.path) })
	return all, err
})

// skipped tells of folders that hold no packages of this module.
func skipped(dir string) bool {
	name := path.Base(dir)
	if name == "testdata" || dir != "." && strings.HasPrefix(name, ".") {
		return true
	}
	_, err := os.Stat(filepath.Join(dir, "go.mod"))
	return dir != "." && err == nil // a module of its own
}

func parseFile(name string) (goFile, error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return goFile{}, err
	}
	f := goFile{path: name, lines: bytes.Count(text, []byte("\n")), fset: token.NewFileSet()}
	f.syntax, err = parser.ParseFile(f.fset, name, text, parser.ParseComments)
	f.generated = err == nil && ast.IsGenerated(f.syntax)
	return f, err
}

// imports lists what a package imports outside its tests.
func (p goPackage) imports() []string {
	var all []string
	for _, f := range p.files {
		for _, spec := range f.syntax.Imports {
			name, err := strconv.Unquote(spec.Path.Value)
			if err == nil && !slices.Contains(all, name) {
				all = append(all, name)
			}
		}
	}
	return all
}

// usesOf finds where one of the names of an imported package is used.
func (p goPackage) usesOf(imported string, names ...string) []string {
	var all []string
	for _, f := range p.files {
		ast.Inspect(f.syntax, func(n ast.Node) bool {
			sel, ok := n.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			if from, ok := sel.X.(*ast.Ident); ok && from.Name == imported && slices.Contains(names, sel.Sel.Name) {
				all = append(all, f.fset.Position(sel.Pos()).String()+": "+imported+"."+sel.Sel.Name)
			}
			return true
		})
	}
	return all
}
