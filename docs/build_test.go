package docs_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/axsched/ax/host"
)

func TestMain(m *testing.M) {
	status := m.Run()
	if dir, err := built(); err == nil {
		os.RemoveAll(dir)
	}
	os.Exit(status)
}

// built makes the program and the plugins once, in a directory laid out like
// bin/.
var built = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "ax-docs")
	if err != nil {
		return "", err
	}
	mains := map[string]string{"ax": "../host/cmd/ax"}
	for below, pattern := range map[string]string{"plugins": "../plugins/*s/*", "examples": "../examples/*"} {
		folders, err := filepath.Glob(pattern)
		if err != nil {
			return dir, err
		}
		for _, folder := range folders {
			mains[filepath.Join(below, "ax-plugin-"+filepath.Base(folder))] = folder
		}
	}
	for name, folder := range mains {
		cmd := exec.Command("go", "build", "-buildvcs=false", "-o", filepath.Join(dir, name), ".")
		cmd.Dir = folder // an example is a module of its own
		if out, err := cmd.CombinedOutput(); err != nil {
			return dir, fmt.Errorf("build %s: %w\n%s", folder, err, out)
		}
	}
	return dir, nil
})

// bin returns the directory of the built programs.
func bin(t *testing.T) string {
	t.Helper()
	dir, err := built()
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// world makes a directory that looks like a checkout in which "make build" was
// run, with all plugins, examples too, in plugins/. Its path is short, for
// sockets.
func world(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "ax")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	repo, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	for name, target := range map[string]string{
		"bin": bin(t), "calendars": filepath.Join(repo, "calendars"), "Makefile": filepath.Join(repo, "Makefile"),
	} {
		if err := os.Symlink(target, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(dir, "plugins"), 0o755); err != nil {
		t.Fatal(err)
	}
	binaries, err := filepath.Glob(filepath.Join(bin(t), "*", "ax-plugin-*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, binary := range binaries {
		if err := os.Link(binary, filepath.Join(dir, "plugins", filepath.Base(binary))); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// exampleConfig is config.example.yaml with another listener.
func exampleConfig(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("../config.example.yaml")
	if err != nil {
		t.Fatal(err)
	}
	before, after, found := strings.Cut(string(text), "listen: 127.0.0.1:8090")
	if !found {
		t.Fatal("config.example.yaml has no listener to replace")
	}
	return before + "listen: 127.0.0.1:0" + after
}

// startHost runs a host in the test's process and returns its URL.
func startHost(t *testing.T, config string) string {
	t.Helper()
	h, err := host.New(host.Options{Config: config, Version: "test"})
	if err != nil {
		t.Fatal(err)
	}
	if err := h.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		h.Stop(ctx)
	})
	return "http://" + h.Address()
}

func write(t *testing.T, dir, name, text string) string {
	t.Helper()
	file := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}
