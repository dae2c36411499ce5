// Chaos starts hosts on one database, lets them run many tasks, ends, halts and
// cuts off hosts, database and networks, and holds what is left behind against
// what ax promises. The last line that it prints is one JSON object; the exit
// code is 1 if a promise was broken, and 2 if the run could not be made.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"
)

func main() { os.Exit(start()) }

// Exit codes.
const (
	exitBroken = 1
	exitFailed = 2
)

func start() int {
	o, err := parse(os.Args[1:], os.Stderr)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err != nil:
		fmt.Fprintln(os.Stderr, err)
		return exitFailed
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	s, err := run(ctx, o, func(format string, args ...any) { fmt.Printf(format+"\n", args...) })
	if err != nil {
		fmt.Fprintln(os.Stderr, "chaos:", err)
		return exitFailed
	}
	line, err := s.line()
	if err != nil {
		fmt.Fprintln(os.Stderr, "chaos:", err)
		return exitFailed
	}
	fmt.Println(line)
	if len(s.Broken) > 0 {
		return exitBroken
	}
	return 0
}

// run makes one run and judges it.
func run(ctx context.Context, o options, say func(string, ...any)) (s summary, err error) {
	w, err := newWorld(ctx, o, say)
	if err != nil {
		return s, err
	}
	defer func() {
		if err != nil || len(s.Broken) > 0 {
			err = errors.Join(err, w.keep())
		}
		err = errors.Join(err, w.close())
	}()
	plan := planFaults(o.random(streamFaults), o)
	say("seed %d: %d hosts, %d tasks with %d due times a second for %s, %d faults", o.Seed, o.Hosts, len(w.tasks), o.Rate, o.Load, len(plan))
	if err := w.start(ctx); err != nil {
		return s, err
	}
	faults, err := w.inject(ctx, plan)
	if err != nil {
		return s, err
	}
	if err := wait(ctx, time.Until(w.until)); err != nil {
		return s, err
	}
	troubles, err := w.calm(ctx)
	if err != nil {
		return s, err
	}
	return w.judge(ctx, faults, troubles)
}
