package cluster

import (
	"cmp"
	"slices"

	"github.com/axsched/ax/host/internal/ax"
)

// Owners says which host schedules which bucket of tasks. It is a pure function
// of the set of incarnations: hosts that see the same set agree without a word,
// and when one host comes or goes only the buckets that it gains or had change
// hands. It is immutable.
type Owners struct {
	nodes []ax.Node // by incarnation
	seeds []uint64  // of nodes
	owner [ax.Buckets]int32
}

// Share divides the buckets among nodes, which are the hosts that schedule: the
// ones that live and do not leave. An incarnation that is named twice counts
// once.
//
// The owner of a bucket is the node with the highest weight of (bucket,
// incarnation): rendezvous hashing, after Thaler and Ravishankar, "Using
// Name-Based Mappings to Increase Hit Rates", 1998.
func Share(nodes []ax.Node) *Owners {
	o := &Owners{nodes: slices.Clone(nodes)}
	slices.SortStableFunc(o.nodes, byIncarnation)
	o.nodes = slices.CompactFunc(o.nodes, func(a, b ax.Node) bool { return a.Incarnation == b.Incarnation })
	o.seeds = make([]uint64, len(o.nodes))
	for i := range o.nodes {
		o.seeds[i] = seed(o.nodes[i].Incarnation)
	}
	for bucket := range o.owner {
		best, most := int32(-1), uint64(0)
		for i, s := range o.seeds {
			if w := weight(bucket, s); best < 0 || w > most {
				best, most = int32(i), w
			}
		}
		o.owner[bucket] = best
	}
	return o
}

// Nodes returns the hosts that schedule, by incarnation. The caller must not
// change them.
func (o *Owners) Nodes() []ax.Node { return o.nodes }

// Owner returns the host that schedules a bucket; false if there is none at all.
func (o *Owners) Owner(bucket int) (ax.Node, bool) {
	i := o.owner[bucket]
	if i < 0 {
		return ax.Node{}, false
	}
	return o.nodes[i], true
}

// Owns reports whether the incarnation owns the bucket.
func (o *Owners) Owns(bucket int, incarnation string) bool {
	i := o.owner[bucket]
	return i >= 0 && o.nodes[i].Incarnation == incarnation
}

// Order returns all hosts in the order in which they are to schedule a bucket:
// its owner, then who takes a task that those before cannot schedule, since they
// lack its trigger's plugin. When the owner goes, the second is the new owner.
func (o *Owners) Order(bucket int) []ax.Node {
	order := make([]int, len(o.nodes))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Compare(weight(bucket, o.seeds[b]), weight(bucket, o.seeds[a]))
	})
	nodes := make([]ax.Node, len(order))
	for i, at := range order {
		nodes[i] = o.nodes[at]
	}
	return nodes
}

// First returns the first host in the order of the bucket that is able to; false
// if none is.
func (o *Owners) First(bucket int, able func(*ax.Node) bool) (ax.Node, bool) {
	i := o.owner[bucket]
	if i >= 0 && able(&o.nodes[i]) {
		return o.nodes[i], true
	}
	order := o.Order(bucket)
	at := slices.IndexFunc(order, func(n ax.Node) bool { return able(&n) })
	if at < 0 {
		return ax.Node{}, false
	}
	return order[at], true
}

// with returns the division among nodes, computed anew only if they are others.
// Figures are those of nodes.
func (o *Owners) with(nodes []ax.Node) *Owners {
	next := Owners{nodes: slices.Clone(nodes), seeds: o.seeds, owner: o.owner}
	slices.SortStableFunc(next.nodes, byIncarnation)
	if !o.same(&next) {
		return Share(nodes)
	}
	return &next
}

// same reports whether two divisions are of the same hosts.
func (o *Owners) same(other *Owners) bool {
	return slices.EqualFunc(o.nodes, other.nodes, func(a, b ax.Node) bool { return a.Incarnation == b.Incarnation })
}

func byIncarnation(a, b ax.Node) int { return cmp.Compare(a.Incarnation, b.Incarnation) }

// seed is FNV-1a, 64 bits, of an incarnation, scrambled. Hosts of all versions
// must compute the same seeds and weights.
func seed(incarnation string) uint64 {
	h := uint64(14695981039346656037)
	for i := range len(incarnation) {
		h = (h ^ uint64(incarnation[i])) * 1099511628211
	}
	return scramble(h)
}

// weight of a bucket on the node with this seed.
func weight(bucket int, seed uint64) uint64 {
	return scramble(seed ^ uint64(bucket+1)*0x9e3779b97f4a7c15)
}

// scramble is the last step of SplitMix64 (Steele, Lea and Flood, "Fast
// Splittable Pseudorandom Number Generators", 2014).
func scramble(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
