package main

import (
	"io"
	"slices"
	"testing"
	"time"

	"github.com/axsched/ax/host/chaos/internal/verdict"
)

// The same seed gives the same run, another one another.
func TestPlanFollowsTheSeed(t *testing.T) {
	t.Parallel()
	o := options{Hosts: 5, Load: 15 * time.Minute, Seed: 1}
	a, b := planFaults(o.random(streamFaults), o), planFaults(o.random(streamFaults), o)
	o.Seed = 2
	if c := planFaults(o.random(streamFaults), o); !slices.Equal(a, b) || slices.Equal(a, c) {
		t.Errorf("seed 1 gave %v and %v, seed 2 %v", a, b, c)
	}
}

func TestPlan(t *testing.T) {
	t.Parallel()
	o := options{Hosts: 5, Load: 15 * time.Minute}
	for seed := range uint64(50) {
		o.Seed = seed
		plan := planFaults(o.random(streamFaults), o)
		seen := map[verdict.FaultKind]bool{}
		for i, f := range plan {
			seen[f.kind] = true
			if f.at < settled || f.at+f.lasts+settled > o.Load || f.lasts <= 0 {
				t.Errorf("seed %d: %+v lies outside the load", seed, f)
			}
			if (f.host < 0) != onDatabase(f.kind) || f.host >= o.Hosts {
				t.Errorf("seed %d: %+v strikes the wrong one", seed, f)
			}
			for j, other := range plan {
				near := other.at < f.at+verdict.Measured+calmFor && other.at+other.lasts+calmFor > f.at
				if f.alone && i != j && near {
					t.Errorf("seed %d: %+v is not alone, there is %+v", seed, f, other)
				}
				if i < j && f.host == other.host && other.at < f.at+f.lasts {
					t.Errorf("seed %d: %+v and %+v strike the same", seed, f, other)
				}
			}
		}
		for _, k := range measured(o) {
			if !slices.ContainsFunc(plan, func(f fault) bool { return f.kind == k && f.alone }) {
				t.Errorf("seed %d: the effect of %s is not measured", seed, k)
			}
		}
		if len(plan) < 50 {
			t.Errorf("seed %d: only %d faults in %s", seed, len(plan), o.Load)
		}
	}
}

// The short form has each kind of fault once, but for what a halted host stands for.
func TestBriefPlan(t *testing.T) {
	t.Parallel()
	o := options{Hosts: 3, Load: 40 * time.Second, Brief: true, Seed: 1}
	plan := planFaults(o.random(streamFaults), o)
	count := map[verdict.FaultKind]int{}
	for _, f := range plan {
		count[f.kind]++
		if f.at+f.lasts > o.Load || f.kind != verdict.Stop && f.host == o.Hosts-1 {
			t.Errorf("%+v", f)
		}
	}
	for _, k := range every(o) {
		if want := 1; k != verdict.HangAll && k != verdict.Isolate && count[k] != want {
			t.Errorf("%s comes %d times, want %d", k, count[k], want)
		}
	}
}

// However short a run is, something happens in it.
func TestShortRunHasFaults(t *testing.T) {
	t.Parallel()
	for seconds := 10; seconds < 100; seconds++ {
		o := options{Hosts: 2, Load: time.Duration(seconds) * time.Second, Seed: 1}
		if plan := planFaults(o.random(streamFaults), o); len(plan) < 3 {
			t.Errorf("%d s: only %d faults", seconds, len(plan))
		}
	}
}

func TestParse(t *testing.T) {
	t.Parallel()
	o, err := parse([]string{"-hosts", "5", "-seconds", "900", "-seed", "7"}, io.Discard)
	if err != nil || o.Hosts != 5 || o.Load != 15*time.Minute || o.Seed != 7 || o.Rate != 300 {
		t.Errorf("got %+v, %v", o, err)
	}
	if o, err := parse([]string{"-sqlite", "-hosts", "3"}, io.Discard); err != nil || o.Hosts != 1 || o.Seed == 0 {
		t.Errorf("got %+v, %v", o, err)
	}
	for _, args := range [][]string{{"-hosts", "0"}, {"-seconds", "9"}, {"-rate", "0"}, {"more"}, {"-unknown"}} {
		if _, err := parse(args, io.Discard); err == nil {
			t.Errorf("%v was taken", args)
		}
	}
}
