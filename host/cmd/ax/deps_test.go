package main

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/axsched/ax/host/internal/cli"
)

// TestStoppedWhileStarting: a host that is told to stop before it has started
// ends in good order.
func TestStoppedWhileStarting(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "config.yaml")
	if err := os.WriteFile(path, []byte("app: a\nhttp: {listen: off}\nplugins: {dir: plugins}\ntasks: []\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if err := serve(ctx, cli.ServeOptions{Config: path}); err != nil {
		t.Errorf("serve: %v", err)
	}
	d := deps()
	if code := cli.Run(ctx, d, []string{"serve", "-c", path}); code != cli.ExitOK {
		t.Errorf("exit code %d", code)
	}
}

// TestAddress: where the host is can be read of a file that has faults elsewhere.
func TestAddress(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "config.yaml")
	if err := os.WriteFile(path, []byte("app: a\nhttp: {listen: \"127.0.0.1:9999\"}\ntasks: [{nme: x}]\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if listen, err := deps().Address(path); err != nil || listen != "http://127.0.0.1:9999" {
		t.Errorf("%q, %v", listen, err)
	}
	if _, err := deps().Address(path + ".gone"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a file that is not there: %v", err)
	}
}
