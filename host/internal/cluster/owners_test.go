package cluster

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/axsched/ax/host/internal/ax"
)

// lives returns n hosts with random incarnations.
func lives(r *rand.Rand, n int) []ax.Node {
	nodes := make([]ax.Node, n)
	for i := range nodes {
		nodes[i] = ax.Node{Incarnation: fmt.Sprintf("%016x%016x", r.Uint64(), r.Uint64()), Name: fmt.Sprintf("n%d", i)}
	}
	return nodes
}

// TestShareIsTheSameEverywhere: hosts of other versions must come to the same
// owners, so these numbers must never change.
func TestShareIsTheSameEverywhere(t *testing.T) {
	t.Parallel()
	nodes := []ax.Node{{Incarnation: "a"}, {Incarnation: "b"}, {Incarnation: "c"}}
	o := Share(nodes)
	got := ""
	for bucket := range 24 {
		n, _ := o.Owner(bucket)
		got += n.Incarnation
	}
	const want = "bbcbccbabaacaacbbbccaccc"
	if got != want {
		t.Errorf("owners of the first buckets: %s, want %s", got, want)
	}
}

func TestShareDoesNotDependOnTheOrder(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	nodes := lives(r, 9)
	o := Share(nodes)
	r.Shuffle(len(nodes), func(i, j int) { nodes[i], nodes[j] = nodes[j], nodes[i] })
	shuffled := Share(append(nodes, nodes[3]))
	for bucket := range ax.Buckets {
		a, _ := o.Owner(bucket)
		b, _ := shuffled.Owner(bucket)
		if a.Incarnation != b.Incarnation {
			t.Fatalf("bucket %d: owned by %s and by %s", bucket, a.Incarnation, b.Incarnation)
		}
	}
}

// TestLittleMoves: a host that comes takes buckets only for itself, one that
// goes leaves each of its buckets to the second in its order, and all others
// stay where they are.
func TestLittleMoves(t *testing.T) {
	t.Parallel()
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 3))
		nodes := lives(r, 2+r.IntN(14))
		gone := nodes[len(nodes)-1]
		with, without := Share(nodes), Share(nodes[:len(nodes)-1])
		for bucket := range ax.Buckets {
			before, _ := with.Owner(bucket)
			after, _ := without.Owner(bucket)
			if before.Incarnation != gone.Incarnation {
				if after.Incarnation != before.Incarnation {
					t.Fatalf("seed %d: bucket %d went from %s to %s although its owner stayed", seed, bucket, before.Name, after.Name)
				}
				continue
			}
			if heir := with.Order(bucket)[1]; heir.Incarnation != after.Incarnation {
				t.Fatalf("seed %d: bucket %d went to %s, want %s, the second in its order", seed, bucket, after.Name, heir.Name)
			}
		}
	}
}

func TestShareIsFair(t *testing.T) {
	t.Parallel()
	for seed := range uint64(50) {
		r := rand.New(rand.NewPCG(seed, 4))
		nodes := lives(r, 12)
		o := Share(nodes)
		counts := map[string]int{}
		for bucket := range ax.Buckets {
			n, _ := o.Owner(bucket)
			counts[n.Name]++
		}
		for name, n := range counts {
			if n < 45 || n > 135 { // 85 expected, standard deviation 9
				t.Errorf("seed %d: %s owns %d buckets of %d", seed, name, n, ax.Buckets)
			}
		}
	}
}

func TestFirstPassesOverWhoIsNotAble(t *testing.T) {
	t.Parallel()
	o := Share(lives(rand.New(rand.NewPCG(5, 5)), 5))
	for bucket := range ax.Buckets {
		order := o.Order(bucket)
		owner, ok := o.Owner(bucket)
		if !ok || !o.Owns(bucket, owner.Incarnation) || order[0].Incarnation != owner.Incarnation {
			t.Fatalf("bucket %d: owner %s, first in order %s", bucket, owner.Name, order[0].Name)
		}
		able := func(n *ax.Node) bool { return n.Incarnation == order[3].Incarnation }
		if n, ok := o.First(bucket, able); !ok || n.Incarnation != order[3].Incarnation {
			t.Fatalf("bucket %d: %s, want %s, the only one that is able", bucket, n.Name, order[3].Name)
		}
		if n, ok := o.First(bucket, func(*ax.Node) bool { return false }); ok {
			t.Fatalf("bucket %d: %s although none is able", bucket, n.Name)
		}
	}
}

func TestNobodyOwnsAnything(t *testing.T) {
	t.Parallel()
	o := Share(nil)
	if _, ok := o.Owner(0); ok || o.Owns(0, "") || len(o.Order(0)) != 0 {
		t.Error("a bucket has an owner although there are no hosts")
	}
}

func BenchmarkShare12(b *testing.B) {
	nodes := lives(rand.New(rand.NewPCG(1, 1)), 12)
	for b.Loop() {
		Share(nodes)
	}
}

func BenchmarkOrder12(b *testing.B) {
	o := Share(lives(rand.New(rand.NewPCG(1, 1)), 12))
	for b.Loop() {
		o.Order(77)
	}
}
