package config

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// testNow is the time at which tests load configurations.
var testNow = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// testEnv is the environment of tests.
func testEnv(name string) (string, bool) {
	value, ok := map[string]string{
		"OPS_URL": "https://ops.example/s3cret", "WORKERS": "7", "EMPTY": "", "NAME": "hidden-name",
		"PEM": "-----BEGIN-----\nabcdefgh\n--\n",
	}[name]
	return value, ok
}

// write puts files into a new folder and returns the path of config.yaml.
func write(t testing.TB, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, content := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return filepath.Join(dir, "config.yaml")
}

// load loads files that must be good.
func load(t testing.TB, files map[string]string) *Config {
	t.Helper()
	c, err := Load(write(t, files), Options{Env: testEnv, Now: testNow, Node: "test-node"})
	if err != nil {
		t.Fatalf("Load: %v", err)
	}
	return c
}

// faultLines loads files that must be faulty and returns one line for each
// fault, with paths relative to the folder of config.yaml.
func faultLines(t testing.TB, files map[string]string, o Options) []string {
	t.Helper()
	path := write(t, files)
	if o.Env == nil {
		o.Env = testEnv
	}
	_, err := Load(path, o)
	if err == nil {
		t.Fatal("Load found no fault")
	}
	if _, ok := errors.AsType[Faults](err); !ok {
		t.Fatalf("error of type %T", err)
	}
	return strings.Split(strings.ReplaceAll(err.Error(), filepath.Dir(path)+"/", ""), "\n")
}
