package main

import (
	"math/rand/v2"
	"slices"
	"time"

	"github.com/axsched/ax/host/chaos/internal/verdict"
)

// fault is a fault that is to come.
type fault struct {
	kind  verdict.FaultKind
	host  int           // index, -1: the database
	at    time.Duration // since the load began
	lasts time.Duration
	alone bool
}

const (
	// settled is how long after the start of the load the first fault comes, and
	// how long before its end the last one is over.
	settled = 3 * time.Second
	// calmFor is the time between faults that are measured and others.
	calmFor = 3 * time.Second
	// storm is how long faults are mixed between two that are measured.
	storm = 20 * time.Second
	// stopped is how long a host is halted or isolated: for longer than it takes
	// others to give it up for dead.
	stopped = 20 * time.Second
	// leastLoad has room for a fault that is measured and a storm.
	leastLoad = settled + verdict.Measured + calmFor + storm + calmFor + settled
)

// planFaults makes the plan of a run.
func planFaults(random *rand.Rand, o options) []fault {
	switch {
	case o.Outage > 0:
		return outage(random, o)
	case o.Brief || o.Load < leastLoad:
		return brief(random, o)
	}
	var plan []fault
	var kinds []verdict.FaultKind
	for at := settled; ; {
		if len(kinds) == 0 {
			kinds = measured(o)
			random.Shuffle(len(kinds), func(a, b int) { kinds[a], kinds[b] = kinds[b], kinds[a] })
		}
		f := fault{kind: kinds[0], host: random.IntN(o.Hosts), at: at, alone: true}
		f.lasts = duration(random, f.kind)
		kinds = kinds[1:]
		at += max(f.lasts, verdict.Measured) + calmFor
		if at+settled > o.Load {
			return plan
		}
		plan = append(plan, f)
		if end := at + storm + calmFor; end+settled <= o.Load {
			plan = append(plan, stormy(random, o, at, end-calmFor)...)
			at = end
		}
	}
}

// measured are the faults that take a host away.
func measured(o options) []verdict.FaultKind {
	kinds := []verdict.FaultKind{verdict.Kill, verdict.Kill, verdict.Drain, verdict.Stop, verdict.HangAll}
	if !o.SQLite {
		kinds = append(kinds, verdict.Isolate)
	}
	return kinds
}

// every kind of fault there is.
func every(o options) []verdict.FaultKind {
	kinds := []verdict.FaultKind{verdict.Kill, verdict.Drain, verdict.Stop, verdict.HangAll}
	if o.SQLite {
		return kinds
	}
	kinds = append(kinds, verdict.CutDB, verdict.MuteDB, verdict.SlowDB, verdict.KillDB, verdict.RestartDB, verdict.Isolate)
	if o.Hosts > 1 {
		kinds = append(kinds, verdict.CutPeer, verdict.MutePeer, verdict.SlowPeer)
	}
	return kinds
}

// duration is how long a fault lasts; for a host that ends: until it is started
// again.
func duration(random *rand.Rand, k verdict.FaultKind) time.Duration {
	between := func(least, most time.Duration) time.Duration { return least + upTo(random, most-least) }
	switch k {
	case verdict.Kill, verdict.Drain:
		return between(time.Second, 8*time.Second)
	case verdict.Stop, verdict.HangAll, verdict.Isolate:
		return stopped
	case verdict.KillDB, verdict.RestartDB:
		return between(100*time.Millisecond, 4*time.Second)
	default:
		return between(time.Second, 12*time.Second)
	}
}

func upTo(random *rand.Rand, d time.Duration) time.Duration {
	return time.Duration(random.Int64N(int64(d)))
}

// stormy makes faults of any kind that mix, one at a time for each host and for
// the database.
func stormy(random *rand.Rand, o options, from, until time.Duration) []fault {
	times := make([]time.Duration, 2*o.Hosts)
	for i := range times {
		times[i] = from + upTo(random, until-from)
	}
	slices.Sort(times)
	var plan []fault
	free := map[int]time.Duration{}
	for _, at := range times {
		f := fault{kind: pick(random, every(o)...), host: random.IntN(o.Hosts), at: at}
		if onDatabase(f.kind) {
			f.host = -1
		}
		f.lasts = min(duration(random, f.kind), until-at)
		if at >= free[f.host] {
			plan = append(plan, f)
			free[f.host] = at + f.lasts + calmFor
		}
	}
	return plan
}

func onDatabase(k verdict.FaultKind) bool { return k == verdict.KillDB || k == verdict.RestartDB }

// brief makes one fault of each kind, one after the other. One host is halted all
// the while, if there are others.
func brief(random *rand.Rand, o options) []fault {
	var plan []fault
	kinds, hosts := every(o), o.Hosts
	if hosts > 1 {
		hosts--
		plan = append(plan, fault{kind: verdict.Stop, host: hosts, at: settled, lasts: min(stopped, o.Load-2*settled)})
		kinds = slices.DeleteFunc(kinds, func(k verdict.FaultKind) bool {
			return k == verdict.Stop || k == verdict.HangAll || k == verdict.Isolate
		})
	}
	random.Shuffle(len(kinds), func(a, b int) { kinds[a], kinds[b] = kinds[b], kinds[a] })
	step := (o.Load - 2*settled) / time.Duration(len(kinds))
	for i, k := range kinds {
		f := fault{kind: k, host: i % hosts, at: settled + time.Duration(i)*step}
		f.lasts = min(duration(random, k), step*2/3)
		if onDatabase(k) {
			f.host = -1
		}
		plan = append(plan, f)
	}
	return plan
}

// outage keeps the database away once, and kills a host meanwhile, which is
// started again when the database is back.
func outage(random *rand.Rand, o options) []fault {
	const begin = outageMargin / 2
	kill := begin + o.Outage/2
	return []fault{
		{kind: verdict.RestartDB, host: -1, at: begin, lasts: o.Outage},
		{kind: verdict.Kill, host: random.IntN(o.Hosts), at: kill, lasts: begin + o.Outage + calmFor - kill},
	}
}
