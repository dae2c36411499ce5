// Command dblimit measures what the database can do at best, and the store's
// writer beside it:
//
//	go run ./bench/dblimit                  a private MariaDB, started for this
//	go run ./bench/dblimit -db sqlite       SQLite in a temporary directory
//	go run ./bench/dblimit -dsn mysql://…   an empty database of your own
//
// The measurement lives inside the host, where the store can be imported; this
// builds and runs it.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

const measurement = "github.com/axsched/ax/host/internal/store/dblimit"

func main() {
	if err := run(context.Background(), os.Args[1:]); err != nil {
		if end, ok := errors.AsType[*exec.ExitError](err); ok {
			os.Exit(end.ExitCode())
		}
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
}

func run(ctx context.Context, args []string) error {
	dir, err := os.MkdirTemp("", "ax-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	program := filepath.Join(dir, "dblimit")
	for _, command := range [][]string{{"go", "build", "-o", program, measurement}, append([]string{program}, args...)} {
		cmd := exec.CommandContext(ctx, command[0], command[1:]...)
		cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
		if err := cmd.Run(); err != nil {
			return fmt.Errorf("run %s: %w", filepath.Base(command[0]), err)
		}
	}
	return nil
}
