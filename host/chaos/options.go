package main

import (
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"time"
)

// options of a run. Everything that is random follows from Seed.
type options struct {
	Hosts  int
	Load   time.Duration // for how long tasks are due
	Seed   uint64
	Rate   int           // due times a second
	Skew   time.Duration // by how much the clocks of some hosts are off
	SQLite bool          // one host with SQLite instead of MariaDB
	Keep   string        // directory for what explains a failure
	// Brief packs one fault of each kind into the time there is, instead of giving
	// each the time in which its effect is measured.
	Brief bool
	// Outage keeps the database away once for so long, and does nothing else but
	// to kill a host meanwhile. Some jobs last as long.
	Outage time.Duration
}

func parse(args []string, errs io.Writer) (options, error) {
	var o options
	var seconds int
	f := flag.NewFlagSet("chaos", flag.ContinueOnError)
	f.SetOutput(errs)
	f.IntVar(&o.Hosts, "hosts", 3, "how many `hosts`")
	f.IntVar(&seconds, "seconds", 180, "for how many `seconds` tasks are due")
	f.Uint64Var(&o.Seed, "seed", 0, "`seed` of tasks and faults; 0 takes a new one")
	f.IntVar(&o.Rate, "rate", 300, "due `times` a second")
	f.DurationVar(&o.Skew, "skew", 30*time.Second, "by how much the clocks of two hosts are off")
	f.BoolVar(&o.SQLite, "sqlite", false, "one host with SQLite")
	f.BoolVar(&o.Brief, "brief", false, "each kind of fault once, one after the other")
	f.DurationVar(&o.Outage, "outage", 0, "the database is away once for so `long`, instead of other faults")
	f.StringVar(&o.Keep, "keep", "", "`directory` for logs and journal of a run that failed")
	if err := f.Parse(args); err != nil {
		return o, err
	}
	o.Load = time.Duration(seconds) * time.Second
	if o.SQLite {
		o.Hosts = 1
	}
	if o.Outage > 0 {
		o.Load = max(o.Load, o.Outage+outageMargin)
	}
	if o.Seed == 0 {
		o.Seed = rand.Uint64()>>1 | 1
	}
	if f.NArg() > 0 || o.Hosts < 1 || o.SQLite && o.Outage > 0 || o.Rate < 1 || seconds < 10 {
		return o, fmt.Errorf("expected -hosts and -rate of at least 1, -seconds of at least 10, no arguments, and no -outage with -sqlite")
	}
	return o, nil
}

// outageMargin is for how long tasks are due beside an outage.
const outageMargin = 40 * time.Second

// Streams of random numbers: that of the faults does not change when a task is
// added.
const (
	streamTasks = iota + 1
	streamFaults
)

func (o options) random(stream uint64) *rand.Rand { return rand.New(rand.NewPCG(o.Seed, stream)) }
