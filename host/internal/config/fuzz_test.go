package config

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// FuzzLoad: whatever a file holds, Load ends, and every fault has a place in
// a file and shows nothing that came from the environment.
func FuzzLoad(f *testing.F) {
	for _, pattern := range []string{"testdata/good/*.yaml", "testdata/good/conf.d/*.yaml", "testdata/faults/*.txt", "../../../config.example.yaml"} {
		paths, err := filepath.Glob(pattern)
		if err != nil || len(paths) == 0 {
			f.Fatalf("%s: %v %v", pattern, paths, err)
		}
		for _, path := range paths {
			data, err := os.ReadFile(path)
			if err != nil {
				f.Fatal(err)
			}
			for part := range strings.SplitSeq(string(data), caseMark) {
				f.Add(part)
			}
		}
	}
	f.Fuzz(func(t *testing.T, text string) {
		const secret = "q7Zv-never-shown"
		path := filepath.Join(t.TempDir(), "config.yaml")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := Load(path, Options{Env: func(string) (string, bool) { return secret, true }, Now: testNow})
		if err == nil {
			return
		}
		faults, ok := errors.AsType[Faults](err)
		if !ok || len(faults) == 0 {
			t.Fatalf("error of type %T: %v", err, err)
		}
		lines := strings.Count(text, "\n") + strings.Count(text, "\r") + strings.Count(text, "\u0085") +
			strings.Count(text, "\u2028") + strings.Count(text, "\u2029") + 1
		for _, fault := range faults {
			if fault.File == "" || fault.Line < 1 || fault.Column < 1 || fault.Message == "" {
				t.Errorf("fault without a place: %+v", fault)
			}
			if fault.File == path && fault.Line > lines {
				t.Errorf("fault in line %d of %d: %s", fault.Line, lines, fault)
			}
			if strings.Contains(fault.Message, secret) && !strings.Contains(text, secret) {
				t.Errorf("fault shows a secret: %s", fault)
			}
		}
	})
}
