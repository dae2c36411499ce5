package dispatch

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"slices"
	"strings"

	"github.com/axsched/ax/host/internal/ax"
)

// choice is what a strategy decides upon. It is pure: the same choice leads to
// the same order on every host.
type choice struct {
	task ax.TaskID
	// local is the incarnation of this host, which wins a tie: it needs no
	// network, and the claim costs no commit of its own.
	local string
	// turn counts the choices made for the task.
	turn uint64
	wish Wish
}

// candidate is a member with its load, taken once: it may change meanwhile.
type candidate struct {
	Member
	load int
}

// order sorts candidates into the order in which they are asked for room.
func order(s ax.Strategy, c choice, all []candidate) {
	switch s {
	case ax.StrategyRoundRobin:
		byTurn(c, all)
	case ax.StrategyConsistentHash:
		byHash(c, all)
	case ax.StrategyLeastTasks, ax.StrategyBroadcast, "":
		byLoad(c, all)
	}
	// What the wish says goes before the strategy, which orders the rest.
	slices.SortStableFunc(all, func(a, b candidate) int { return cmp.Compare(c.wish.rank(a.Name), c.wish.rank(b.Name)) })
}

// rank is 0 for the preferred node, 2 for those to avoid.
func (w Wish) rank(name string) int {
	switch {
	case slices.Contains(w.Avoid, name):
		return 2
	case w.Prefer != "" && w.Prefer == name:
		return 0
	}
	return 1
}

// waiting is how many attempts would wait there, this one included.
func (c candidate) waiting() int { return max(c.load+1-c.Workers, 0) }

// byLoad orders by what waits, in proportion to the workers; among those where
// nothing would, this host is first, then the one of which the least part is
// busy.
func byLoad(c choice, all []candidate) {
	slices.SortStableFunc(all, func(a, b candidate) int {
		return cmp.Or(
			compareShares(a.waiting(), a.Workers, b.waiting(), b.Workers),
			-compareBool(a.Incarnation == c.local, b.Incarnation == c.local),
			compareShares(a.load, a.Workers, b.load, b.Workers),
			cmp.Compare(a.Incarnation, b.Incarnation),
		)
	})
}

// compareShares compares x of n with y of m; 0 workers count as one.
func compareShares(x, n, y, m int) int { return cmp.Compare(x*max(m, 1), y*max(n, 1)) }

func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	}
	return -1
}

// byTurn goes round: by name, beginning with the one whose turn it is.
func byTurn(c choice, all []candidate) {
	slices.SortFunc(all, func(a, b candidate) int {
		return cmp.Or(strings.Compare(a.Name, b.Name), strings.Compare(a.Incarnation, b.Incarnation))
	})
	if len(all) == 0 {
		return
	}
	first := int(c.turn % uint64(len(all)))
	slices.Reverse(all[:first])
	slices.Reverse(all[first:])
	slices.Reverse(all)
}

// byHash orders by the weight of (node, task), rendezvous hashing: a task stays
// on its node, also over restarts, since it is the name that counts; and when a
// node comes or goes only its own tasks move.
func byHash(c choice, all []candidate) {
	type weighed struct {
		candidate
		weight [sha256.Size]byte
	}
	sorted := make([]weighed, len(all))
	for i, one := range all {
		sorted[i] = weighed{one, sha256.Sum256([]byte(one.Name + "\x00" + c.task.String()))}
	}
	slices.SortFunc(sorted, func(a, b weighed) int {
		return cmp.Or(bytes.Compare(b.weight[:], a.weight[:]), strings.Compare(a.Incarnation, b.Incarnation))
	})
	for i := range sorted {
		all[i] = sorted[i].candidate
	}
}
