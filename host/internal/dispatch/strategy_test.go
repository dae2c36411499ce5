package dispatch

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/axsched/ax/host/internal/ax"
)

// hosts returns n candidates a, b, c … with random loads.
func hosts(r *rand.Rand, n int) []candidate {
	all := make([]candidate, n)
	for i := range all {
		name := string(rune('a' + i))
		all[i] = candidate{Member: Member{Name: name, Incarnation: "i-" + name, Workers: 1 + r.IntN(8)}, load: r.IntN(20)}
	}
	r.Shuffle(n, func(i, j int) { all[i], all[j] = all[j], all[i] })
	return all
}

func names(all []candidate) string {
	text := ""
	for _, one := range all {
		text += one.Name
	}
	return text
}

// TestOrderIsPure: whatever the order in which nodes are listed, each strategy
// puts the same nodes in the same order, and loses none.
func TestOrderIsPure(t *testing.T) {
	t.Parallel()
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 1))
		all := hosts(r, 1+r.IntN(12))
		c := choice{task: ax.TaskID(r.Int64N(1000)), local: "i-a", turn: r.Uint64N(50)}
		for _, s := range []ax.Strategy{"", ax.StrategyLeastTasks, ax.StrategyRoundRobin, ax.StrategyConsistentHash} {
			order(s, c, all)
			want := names(all)
			r.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
			order(s, c, all)
			if got := names(all); got != want {
				t.Fatalf("seed %d, %q: %s and %s", seed, s, want, got)
			}
		}
	}
}

func TestLeastTasks(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, want string
		load       [3]int // of a, the local one, b and c
		workers    [3]int
	}{
		{"this host while it has a free worker", "abc", [3]int{3, 0, 0}, [3]int{4, 4, 8}},
		{"no worker free here: the least busy one", "bca", [3]int{4, 1, 3}, [3]int{4, 8, 8}},
		{"all busy: where least waits for a worker", "cba", [3]int{9, 12, 12}, [3]int{4, 8, 16}},
		{"all alike: this host", "abc", [3]int{9, 9, 9}, [3]int{4, 4, 4}},
		{"nothing is known of workers", "cba", [3]int{3, 2, 1}, [3]int{}},
	} {
		var all []candidate
		for i, name := range []string{"a", "b", "c"} {
			all = append(all, candidate{Member: Member{Name: name, Incarnation: "i-" + name, Workers: tt.workers[i]}, load: tt.load[i]})
		}
		order(ax.StrategyLeastTasks, choice{local: "i-a"}, all)
		if got := names(all); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, got, tt.want)
		}
	}
}

func TestRoundRobinIsFair(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 1))
	for n := 1; n < 9; n++ {
		counts := map[string]int{}
		for turn := range uint64(7 * n) {
			all := hosts(r, n)
			order(ax.StrategyRoundRobin, choice{turn: turn}, all)
			counts[all[0].Name]++
			if n > 1 && (all[1].Name[0]-all[0].Name[0]+byte(n))%byte(n) != 1 {
				t.Fatalf("turn %d: %s does not go round", turn, names(all))
			}
		}
		for name, got := range counts {
			if got != 7 {
				t.Errorf("%d nodes: %s was first %d times of %d", n, name, got, 7*n)
			}
		}
	}
}

// TestConsistentHash: a node that goes takes only its own tasks with it, its
// next life gets them back, and tasks are spread.
func TestConsistentHash(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(2, 2))
	counts := map[string]int{}
	for task := range ax.TaskID(2000) {
		all := hosts(r, 8)
		order(ax.StrategyConsistentHash, choice{task: task}, all)
		before := names(all)
		counts[before[:1]]++
		for i := range all {
			all[i].Incarnation = "next life " + all[i].Incarnation
		}
		order(ax.StrategyConsistentHash, choice{task: task}, all)
		if got := names(all); got != before {
			t.Fatalf("task %d: %s in the next life, %s before", task, got, before)
		}
		gone := r.IntN(8)
		without := strings.ReplaceAll(before, all[gone].Name, "")
		all = append(all[:gone], all[gone+1:]...)
		order(ax.StrategyConsistentHash, choice{task: task}, all)
		if got := names(all); got != without {
			t.Fatalf("task %d: %s after a node went, want %s", task, got, without)
		}
	}
	for name, n := range counts {
		if n < 180 || n > 320 { // 250 expected
			t.Errorf("%s has %d of 2000 tasks", name, n)
		}
	}
}

func TestWishes(t *testing.T) {
	t.Parallel()
	for seed := range uint64(100) {
		r := rand.New(rand.NewPCG(seed, 3))
		for _, s := range []ax.Strategy{ax.StrategyLeastTasks, ax.StrategyRoundRobin, ax.StrategyConsistentHash} {
			all := hosts(r, 6)
			order(s, choice{task: 5, turn: seed, wish: Wish{Prefer: "d", Avoid: []string{"a", "f"}}}, all)
			got := names(all)
			if got[0] != 'd' || !strings.ContainsAny(got[4:5], "af") || !strings.ContainsAny(got[5:], "af") {
				t.Fatalf("seed %d, %s: %s, want d first, a and f last", seed, s, got)
			}
			order(s, choice{task: 5, wish: Wish{Prefer: "d", Avoid: []string{"d"}}}, all)
			if got := names(all); got[5] != 'd' {
				t.Fatalf("%s: %s, want d last: it has just failed", s, got)
			}
		}
	}
}

func TestWhoIsLeftOut(t *testing.T) {
	t.Parallel()
	member := func(name string, m Member) Member {
		m.Name, m.Incarnation, m.Node = name, "i-"+name, &node{room: ax.RoomNow}
		return m
	}
	d := New(member("plain", Member{}),
		member("north", Member{Labels: map[string]string{"zone": "north", "disk": "ssd"}, Offers: []string{"exec", "http"}}),
		member("south", Member{Labels: map[string]string{"zone": "south"}, Offers: []string{"exec"}}),
		member("leaving", Member{Labels: map[string]string{"zone": "north"}, Away: "is leaving"}))
	for _, tt := range []struct {
		job  string
		want map[string]string
		who  string
	}{
		{"exec", nil, "north plain south"},
		{"http", nil, "north plain"},
		{"exec", map[string]string{"zone": "north"}, "north"},
		{"http", map[string]string{"zone": "south"}, ""},
		{"exec", map[string]string{"zone": "north", "disk": "hdd"}, ""},
	} {
		task := &ax.Task{Job: ax.Use{Name: tt.job}, Nodes: tt.want}
		if got := who(able(d.members(), task)); got != tt.who {
			t.Errorf("%s on %v: %q, want %q", tt.job, tt.want, got, tt.who)
		}
		err, place := d.Able(task), d.Reserve(task, time.Time{})
		if able := tt.who != ""; able != (err == nil) || able != (place.Room != ax.RoomNone) || !able && !errors.Is(err, ErrNoNode) {
			t.Errorf("%s on %v: %v, placed on %q", tt.job, tt.want, err, place.Node)
		}
	}
	err := d.Able(&ax.Task{Job: ax.Use{Name: "http"}, Nodes: map[string]string{"zone": "south"}})
	const want = "no node can take the task: plain has no label zone; north is labeled zone=north, not south; " +
		"south does not offer http; leaving is labeled zone=north, not south"
	if fmt.Sprint(err) != want {
		t.Errorf("%v\nwant %s", err, want)
	}
}

func who(members []Member) string {
	names := make([]string, len(members))
	for i := range members {
		names[i] = members[i].Name
	}
	slices.Sort(names)
	return strings.Join(names, " ")
}

func BenchmarkReserve12(b *testing.B) {
	var members []Member
	for i := range 12 {
		name := string(rune('a' + i))
		members = append(members, Member{Name: name, Incarnation: name, Workers: 4, Offers: []string{"exec", "http"}, Node: &node{load: i, room: ax.RoomNow}})
	}
	d := New(members[0], members[1:]...)
	for _, s := range []ax.Strategy{ax.StrategyLeastTasks, ax.StrategyRoundRobin, ax.StrategyConsistentHash} {
		task := &ax.Task{ID: 5, Strategy: s, Job: ax.Use{Name: "http"}}
		b.Run(string(s), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				d.Reserve(task, time.Time{})
			}
		})
	}
}
