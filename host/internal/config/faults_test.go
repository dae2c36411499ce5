package config

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the faults found into the files of testdata/faults")

// faultCase is a configuration and the faults that it must lead to.
type faultCase struct {
	name string
	yaml string
	want string
	// schema tells that the JSON Schema refuses it as well.
	schema bool
}

const (
	caseMark   = "== "
	faultsMark = "-- faults"
	schemaMark = " [schema]"
)

// faultCases reads a file of testdata/faults.
func faultCases(t *testing.T, path string) []*faultCase {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var cases []*faultCase
	inFaults := false
	for line := range strings.Lines(string(data)) {
		switch {
		case strings.HasPrefix(line, caseMark):
			name, schema := strings.CutSuffix(strings.TrimSpace(line[len(caseMark):]), schemaMark)
			cases = append(cases, &faultCase{name: name, schema: schema})
			inFaults = false
		case len(cases) == 0:
			t.Fatalf("%s does not begin with %s", path, caseMark)
		case strings.TrimSpace(line) == faultsMark:
			inFaults = true
		case inFaults:
			cases[len(cases)-1].want += line
		default:
			cases[len(cases)-1].yaml += line
		}
	}
	return cases
}

func writeCases(t *testing.T, path string, cases []*faultCase) {
	t.Helper()
	var b strings.Builder
	for _, c := range cases {
		b.WriteString(caseMark + c.name)
		if c.schema {
			b.WriteString(schemaMark)
		}
		b.WriteString("\n" + c.yaml + faultsMark + "\n" + c.want)
	}
	if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestFaults(t *testing.T) {
	schema := mainSchema(t)
	paths, err := filepath.Glob("testdata/faults/*.txt")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no files: %v", err)
	}
	for _, path := range paths {
		cases := faultCases(t, path)
		for _, c := range cases {
			t.Run(filepath.Base(path)+"/"+c.name, func(t *testing.T) {
				got := strings.Join(faultLines(t, map[string]string{"config.yaml": c.yaml}, Options{}), "\n") + "\n"
				refused := schemaRefuses(schema, c.yaml)
				if *update {
					c.want, c.schema = got, refused
					return
				}
				if got != c.want {
					t.Errorf("got\n%swant\n%s", got, c.want)
				}
				if refused != c.schema {
					t.Errorf("the JSON Schema refuses it: %t, want %t", refused, c.schema)
				}
			})
		}
		if *update {
			writeCases(t, path, cases)
		}
	}
}

// TestFaultsInBytes has what cannot be shown in a text file.
func TestFaultsInBytes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, yaml, want string }{
		{"utf-16", "\xff\xfea\x00p\x00p\x00", "config.yaml:1:1: the file is UTF-16: save it as UTF-8"},
		{"not utf-8", "app: a\nnode: \"é\xe9\"\n", "config.yaml:2:9: the byte 0xe9 is not UTF-8: save the file as UTF-8"},
		{"control character", "app: a\nnode: \"b\x07\"\n", "config.yaml:2:9: the control character 0x07 is not allowed"},
		{"empty", "", "config.yaml:1:1: the file is empty, expected at least app: and tasks:"},
		{"only a mark", "\ufeff", "config.yaml:1:1: the file is empty, expected at least app: and tasks:"},
		{"nested too deep", "app: a\nnotifiers: {n: {use: w, with: {a: " + strings.Repeat("[", 70) + strings.Repeat("]", 70) + "}}}\n",
			"config.yaml:2:96: nested deeper than 64 levels"},
		{"mark before text", "\ufeffapp: \"-\"\n", "config.yaml:1:6: app: expected letters, digits, dots, dashes and underscores, beginning with a letter or digit, got \"-\""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got := strings.Join(faultLines(t, map[string]string{"config.yaml": c.yaml}, Options{}), "\n")
			if got != c.want {
				t.Errorf("got\n%s\nwant\n%s", got, c.want)
			}
		})
	}
}
