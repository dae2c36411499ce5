// Command ax is the scheduler: the host and the commands that talk to one.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/axsched/ax/host/internal/cli"
)

// version is set by the build: -ldflags "-X main.version=1.2.3".
var version = "dev"

func main() { os.Exit(run()) }

func run() int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // a second signal ends the process at once
	return cli.Run(ctx, deps(), os.Args[1:])
}
