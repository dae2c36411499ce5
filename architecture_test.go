// Package ax_test holds the project to what ARCHITECTURE.md and go.mod say
// about it.
package ax_test

import (
	"fmt"
	"os"
	"path"
	"slices"
	"strings"
	"testing"
)

// layer is a group of packages with the same rules.
type layer struct {
	name string
	// packages are paths below the module; a last element * stands for any.
	packages []string
	// may lists the layers whose packages may be imported. Packages of one
	// layer may import one another only if it is listed here itself.
	may []string
	// std: nothing of other modules, not even through another package.
	std bool
	// timeless: the clock is never read, "now" is an argument.
	timeless bool
}

// layers are in the order of ARCHITECTURE.md. Tests may import what they like.
func layers() []layer {
	return []layer{
		{name: "author", packages: []string{"pluginapi/calendar", "pluginapi/cron", "pluginapi/once", "pluginapi"}, may: []string{"author"}, std: true},
		{name: "wire", packages: []string{"pluginapi/proto/ax/plugin/v1", "pluginapi/wire"}, may: []string{"author", "wire"}},
		{name: "serve", packages: []string{"pluginapi/serve", "pluginapi/plugintest"}, may: []string{"author", "wire"}},
		{name: "plugin kit", packages: []string{"plugins/internal/*"}, may: []string{"author", "plugin kit"}, std: true},
		{name: "plugin", packages: []string{"plugins/jobs/*", "plugins/triggers/*", "plugins/notifiers/*"}, may: []string{"author", "serve", "plugin kit"}},
		{name: "schema", packages: []string{"schema"}, std: true, timeless: true},
		{name: "L0", packages: []string{"host/internal/ax", "host/internal/secrets"}, std: true, timeless: true},
		{
			name: "L1", packages: []string{"host/internal/wheel", "host/internal/params", "host/internal/redact", "host/internal/spelling"},
			may: []string{"L0"}, std: true, timeless: true,
		},
		{name: "holidays", packages: []string{"host/internal/holidays"}, may: []string{"author"}, timeless: true},
		{
			name: "L2", packages: []string{"host/internal/config", "host/internal/store", "host/internal/trigger", "host/internal/pluginhost"},
			may: []string{"L0", "L1", "author", "wire", "schema", "holidays"},
		},
		{
			name: "L3", packages: []string{
				"host/internal/engine", "host/internal/executor", "host/internal/dispatch", "host/internal/rescue",
				"host/internal/alert", "host/internal/janitor", "host/internal/cluster", "host/internal/metrics", "host/internal/traces",
				"host/internal/spool", "host/internal/peer", "host/internal/access",
			},
			may: []string{"L0", "L1", "author"},
		},
		{name: "preview", packages: []string{"host/internal/preview", "host/internal/why"}, may: []string{"L0", "L2", "author"}, timeless: true},
		{name: "L4", packages: []string{"host/internal/api", "host/internal/console"}, may: []string{"L0", "preview", "L4", "author"}},
		{name: "client", packages: []string{"host/client"}, may: []string{"L4"}},
		{name: "command line", packages: []string{"host/internal/cli"}, may: []string{"L0", "L2", "preview", "L4", "client", "author"}},
		{name: "host", packages: []string{"host"}, may: []string{"L0", "L1", "L2", "L3", "preview", "L4", "author", "wire", "holidays"}},
		{name: "program", packages: []string{"host/cmd/ax"}, may: []string{"host", "command line", "L1"}},
		{
			name: "test kit", packages: []string{"host/internal/store/mysqltest", "host/internal/store/storetest", "host/internal/api/apitest"},
			may: []string{"L0", "L2", "preview", "L4", "author"},
		},
		{name: "store bench", packages: []string{"host/internal/store/dblimit"}, may: []string{"L0", "L2", "test kit"}},
		// This runs the program from outside, and so do measurements.
		{name: "chaos", packages: []string{"host/chaos", "host/chaos/internal/*"}, may: []string{"L0", "author", "test kit", "chaos"}},
		{name: "bench", packages: []string{"bench/*", "bench/internal/*"}, may: []string{"author", "serve", "bench"}},
	}
}

// timelessToo are packages that never read the clock although others of their
// layer do.
func timelessToo() []string {
	return []string{
		"pluginapi/cron", "pluginapi/calendar", "host/internal/trigger", "host/chaos/internal/verdict",
		"plugins/triggers/lastweekday", "plugins/triggers/random", "plugins/triggers/workday",
	}
}

func layerOf(pkg string) (layer, bool) {
	for _, l := range layers() {
		if slices.ContainsFunc(l.packages, func(p string) bool { ok, _ := path.Match(p, pkg); return ok }) {
			return l, true
		}
	}
	return layer{}, false
}

// fault says what is wrong with an import, or nothing.
func fault(from, to string) string {
	own, known := layerOf(from)
	if !known {
		return "package " + from + " has no layer: give it one in architecture_test.go and ARCHITECTURE.md"
	}
	other, known := layerOf(to)
	switch {
	case !known:
		return from + " imports " + to + ", which has no layer"
	case !slices.Contains(own.may, other.name):
		return fmt.Sprintf("%s (%s) imports %s (%s); its layer may import %q", from, own.name, to, other.name, own.may)
	}
	return ""
}

func TestLayers(t *testing.T) {
	t.Parallel()
	for _, pkg := range readPackages(t) {
		if len(pkg.files) == 0 {
			continue // tests only
		}
		own, known := layerOf(pkg.path)
		if !known {
			t.Errorf("package %s has no layer: give it one here and in ARCHITECTURE.md", pkg.path)
		}
		for _, imported := range pkg.imports() {
			to, ours := strings.CutPrefix(imported, modulePath+"/")
			switch {
			case ours:
				if wrong := fault(pkg.path, to); wrong != "" {
					t.Error(wrong)
				}
			case own.std && strings.Contains(strings.Split(imported, "/")[0], "."):
				t.Errorf("%s imports %s; its layer (%s) needs the standard library only", pkg.path, imported, own.name)
			}
		}
	}
}

// The rules must be able to find something.
func TestLayersRefuse(t *testing.T) {
	t.Parallel()
	for _, wrong := range [][2]string{
		{"host/internal/engine", "host/internal/executor"},
		{"host/internal/alert", "host/internal/store"},
		{"host/internal/rescue", "host/internal/pluginhost"},
		{"host/internal/config", "host/internal/store"},
		{"host/internal/ax", "pluginapi"},
		{"pluginapi", "pluginapi/wire"},
		{"plugins/jobs/exec", "pluginapi/wire"},
		{"plugins/jobs/exec", "host/internal/ax"},
		{"host/cmd/ax", "host/internal/store"},
		{"host/internal/newcomer", "host/internal/ax"},
	} {
		if fault(wrong[0], wrong[1]) == "" {
			t.Errorf("%s may import %s", wrong[0], wrong[1])
		}
	}
	if text := fault("host/internal/engine", "host/internal/wheel"); text != "" {
		t.Error(text)
	}
}

// A layer that needs the standard library only rests on such layers.
func TestStandardLibraryAllTheWayDown(t *testing.T) {
	t.Parallel()
	std := map[string]bool{}
	for _, l := range layers() {
		std[l.name] = l.std
	}
	for _, l := range layers() {
		for _, name := range l.may {
			if below, known := std[name]; !known || l.std && !below {
				t.Errorf("layer %s may import %q, which needs other modules or does not exist", l.name, name)
			}
		}
	}
}

func TestPurePackagesNeverReadTheClock(t *testing.T) {
	t.Parallel()
	looked := 0
	for _, pkg := range readPackages(t) {
		own, _ := layerOf(pkg.path)
		if !own.timeless && !slices.Contains(timelessToo(), pkg.path) {
			continue
		}
		looked++
		for _, use := range pkg.usesOf("time", "Now", "Since", "Until", "Sleep", "After", "AfterFunc", "Tick", "NewTimer", "NewTicker") {
			t.Errorf("%s: packages like this one get the time as an argument", use)
		}
	}
	if want := 10 + len(timelessToo()); looked != want {
		t.Errorf("looked at %d packages, expected %d", looked, want)
	}
}

func TestNames(t *testing.T) {
	t.Parallel()
	for _, pkg := range readPackages(t) {
		for _, bad := range []string{"util", "utils", "common", "helper", "helpers", "misc"} {
			if path.Base(pkg.path) == bad {
				t.Errorf("%s: a package is named after what it is for", pkg.path)
			}
		}
	}
}

func TestFilesStaySmall(t *testing.T) {
	t.Parallel()
	const limit = 400
	for _, pkg := range readPackages(t) {
		for _, f := range pkg.files {
			if f.lines > limit && !f.generated {
				t.Errorf("%s has %d lines: a file has one subject and at most %d lines", f.path, f.lines, limit)
			}
		}
	}
}

// TestFolderMap keeps the tables of ARCHITECTURE.md in step with the tree and
// with layers.
func TestFolderMap(t *testing.T) {
	t.Parallel()
	shown := map[string]string{}
	for _, row := range tableRows(t, "| folder | layer | what it is |") {
		shown[strings.Trim(row[0], "`")] = row[1]
	}
	for _, pkg := range readPackages(t) {
		if len(pkg.files) == 0 {
			continue
		}
		own, _ := layerOf(pkg.path)
		if shown[pkg.path] != own.name {
			t.Errorf("ARCHITECTURE.md shows %s in layer %q, expected %q", pkg.path, shown[pkg.path], own.name)
		}
		delete(shown, pkg.path)
	}
	for folder := range shown {
		t.Errorf("ARCHITECTURE.md shows %s, which holds no package", folder)
	}
}

func TestLayerTable(t *testing.T) {
	t.Parallel()
	rows := tableRows(t, "| layer | may import | other modules |")
	if len(rows) != len(layers()) {
		t.Fatalf("ARCHITECTURE.md shows %d layers, expected %d", len(rows), len(layers()))
	}
	for i, l := range layers() {
		others := "yes"
		if l.std {
			others = "none"
		}
		if want := []string{l.name, strings.Join(l.may, ", "), others}; !slices.Equal(rows[i], want) {
			t.Errorf("ARCHITECTURE.md shows the layer %q, expected %q", rows[i], want)
		}
	}
}

// TestDependencies wants a reason for every module that go.mod names directly.
func TestDependencies(t *testing.T) {
	t.Parallel()
	reasons := map[string]string{}
	for _, row := range tableRows(t, "| module | why |") {
		reasons[strings.Trim(row[0], "`")] = row[1]
	}
	for line := range strings.Lines(readText(t, "go.mod")) {
		module, rest, _ := strings.Cut(strings.TrimPrefix(strings.TrimSpace(line), "require "), " ")
		if !strings.HasPrefix(rest, "v") || strings.Contains(rest, "// indirect") {
			continue
		}
		if reasons[module] == "" {
			t.Errorf("ARCHITECTURE.md gives no reason for %s", module)
		}
		delete(reasons, module)
	}
	for module := range reasons {
		t.Errorf("ARCHITECTURE.md gives a reason for %s, which go.mod does not name", module)
	}
}

// tableRows returns the cells of a table of ARCHITECTURE.md by its heading.
func tableRows(t *testing.T, heading string) [][]string {
	t.Helper()
	_, rest, found := strings.Cut(readText(t, "ARCHITECTURE.md"), heading+"\n|---")
	if !found {
		t.Fatalf("ARCHITECTURE.md has no table %q", heading)
	}
	_, rest, _ = strings.Cut(rest, "\n")
	var rows [][]string
	for line := range strings.Lines(rest) {
		if !strings.HasPrefix(line, "|") {
			break
		}
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		rows = append(rows, cells)
	}
	return rows
}

func readText(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
