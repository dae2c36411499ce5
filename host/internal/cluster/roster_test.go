package cluster

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/axsched/ax/host/internal/ax"
)

const sec = time.Second

// rows of hosts that beat the given times ago by a database's clock.
func rows(db time.Time, silence map[string]time.Duration) []ax.Node {
	var all []ax.Node
	for id, s := range silence {
		all = append(all, ax.Node{Incarnation: id, Name: id, BeatAt: db.Add(-s)})
	}
	return all
}

func standings(r *roster) string {
	text := ""
	for _, m := range r.members() {
		text += fmt.Sprintf("%s%c", m.Incarnation, "LSD"[m.Standing])
	}
	return text
}

func TestRosterSilence(t *testing.T) {
	t.Parallel()
	r := newRoster("a", DefaultLimits())
	r.look(rows(noon, map[string]time.Duration{"a": 0, "b": 8 * sec, "c": 8*sec + 1, "d": 15 * sec, "e": 16 * sec}), noon, 0)
	if got := standings(r); got != "aLbLcSdSeD" {
		t.Fatalf("%s", got)
	}
	// What the clock of the database says of the time before is enough to
	// schedule without a host, not to give its runs up.
	if r.dead("e", 0) {
		t.Error("e is dead for good after one look")
	}
	if got := r.urgent(); got != time.Millisecond {
		t.Errorf("next look in %s, want it when b passes 8 s and d passes 15 s", got)
	}
	r.look(rows(noon.Add(5*sec), map[string]time.Duration{"a": 0, "b": 13 * sec, "c": 1 * sec, "d": 20 * sec, "e": 21 * sec}), noon.Add(5*sec), 5*sec)
	if got := standings(r); got != "aLbScLdDeD" {
		t.Fatalf("%s", got)
	}
	if got := r.urgent(); got != 2*sec+time.Millisecond {
		t.Errorf("next look in %s, want 2.001s, when b passes 15 s", got)
	}
	for at := 10 * sec; at <= 16*sec; at += 3 * sec {
		db := noon.Add(at)
		r.look(rows(db, map[string]time.Duration{"a": 0, "b": 8*sec + at, "c": 0, "d": 15*sec + at, "e": 16*sec + at}), db, at)
	}
	for _, id := range []string{"b", "d", "e"} {
		if !r.dead(id, 16*sec) {
			t.Errorf("%s is not dead after it was watched for 16 s", id)
		}
	}
	if r.dead("a", 16*sec) || r.dead("c", 16*sec) {
		t.Error("somebody is dead who is not")
	}
}

// TestNobodyDiesOfClocks: while all hosts beat, nobody looks dead,
// whatever happens to the database's clock, and however long nobody could look.
func TestNobodyDiesOfClocks(t *testing.T) {
	t.Parallel()
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 11))
		ros := newRoster("a", DefaultLimits())
		at, step := time.Duration(0), time.Duration(0)
		beats := map[string]time.Time{"b": noon, "c": noon}
		late := map[string]bool{}
		for i := range 40 {
			db := noon.Add(at + step)
			var nodes []ax.Node
			for _, id := range []string{"b", "c"} {
				// Each gave a sign of life at some time in the last 5 s, by the clock
				// of then. It may come too late for one look, not for two.
				if late[id] = i > 0 && !late[id] && r.IntN(3) == 0; !late[id] {
					beats[id] = db.Add(-time.Duration(r.Int64N(int64(5 * sec))))
				}
				nodes = append(nodes, ax.Node{Incarnation: id, BeatAt: beats[id]})
			}
			ros.look(nodes, db, at)
			if ros.dead("b", at) || ros.dead("c", at) || strings.Contains(standings(ros), "D") {
				t.Fatalf("seed %d, look %d: %s", seed, i, standings(ros))
			}
			at += 5 * sec
			switch r.IntN(8) {
			case 0:
				step += time.Duration(r.Int64N(int64(time.Hour))) - 30*time.Minute
			case 1:
				at += time.Duration(r.Int64N(int64(time.Hour))) // the database is away
			}
		}
	}
}

func TestUnknownIncarnations(t *testing.T) {
	t.Parallel()
	r := newRoster("a", DefaultLimits())
	if r.dead("x", 0) {
		t.Error("dead before anybody looked")
	}
	look := func(at time.Duration, ids ...string) {
		silence := map[string]time.Duration{}
		for _, id := range ids {
			silence[id] = 0
		}
		r.look(rows(noon.Add(at), silence), noon.Add(at), at)
	}
	look(0, "a")
	if r.dead("x", sec) || r.dead("y", sec) {
		t.Error("dead although it may just have begun")
	}
	look(5*sec, "a", "y")
	look(10*sec, "a", "y")
	look(15*sec, "a", "y")
	if r.dead("x", 15*sec) {
		t.Error("dead after 14 s")
	}
	look(20*sec, "a")
	if !r.dead("x", 20*sec) {
		t.Error("not dead although nobody has seen it for 19 s")
	}
	if r.dead("y", 20*sec) {
		t.Error("y is dead as soon as its row is gone")
	}
	for at := 25 * sec; at <= 35*sec; at += 5 * sec {
		look(at, "a")
	}
	if !r.dead("y", 35*sec) {
		t.Error("y is not dead 15 s after its row was gone")
	}
}

func TestWhoLeftInGoodOrderIsGone(t *testing.T) {
	t.Parallel()
	r := newRoster("a", DefaultLimits())
	b := ax.Node{Incarnation: "b", BeatAt: noon, Draining: true}
	r.look([]ax.Node{{Incarnation: "a", BeatAt: noon}, b}, noon, 0)
	if r.dead("b", 0) {
		t.Error("dead while it drains")
	}
	r.look([]ax.Node{{Incarnation: "a", BeatAt: noon}}, noon.Add(sec), sec)
	if !r.dead("b", sec) {
		t.Error("not gone although its row is, after it drained")
	}
}

func TestTheNewerHostHasTheAddress(t *testing.T) {
	t.Parallel()
	r := newRoster("a", DefaultLimits())
	r.look([]ax.Node{
		{Incarnation: "a", BeatAt: noon, Cluster: "h:1", StartedAt: noon},
		{Incarnation: "b", BeatAt: noon, Cluster: "h:2", StartedAt: noon.Add(-sec)},
		{Incarnation: "c", BeatAt: noon, Cluster: "h:2", StartedAt: noon},
		{Incarnation: "d", BeatAt: noon}, {Incarnation: "e", BeatAt: noon},
	}, noon, 0)
	if got := standings(r); got != "aLbDcLdLeL" {
		t.Errorf("%s, want only b dead, whose address c has", got)
	}
	if r.dead("b", 0) {
		t.Error("b is dead for good")
	}
}

func TestSuspicion(t *testing.T) {
	t.Parallel()
	r := newRoster("a", DefaultLimits())
	beat := noon
	look := func(at time.Duration) {
		r.look([]ax.Node{{Incarnation: "a", BeatAt: noon.Add(at)}, {Incarnation: "b", BeatAt: beat}}, noon.Add(at), at)
	}
	suspected := func() bool { return r.members()[1].Suspect }
	look(0)
	if !r.suspect("b", noon.Add(3*sec)) || r.suspect("b", noon.Add(3*sec)) {
		t.Error("the first suspicion is news, the second is not")
	}
	if r.suspect("a", noon) || r.suspect("x", noon) {
		t.Error("a host suspects itself, or somebody unknown")
	}
	beat = noon.Add(3*sec - time.Millisecond) // just before it died
	look(5 * sec)
	if !suspected() {
		t.Error("trusted for a sign of life from before")
	}
	beat = noon.Add(8 * sec)
	look(10 * sec)
	if suspected() {
		t.Error("suspected although it lives")
	}
	if r.suspect("b", noon.Add(11*sec)) {
		t.Error("suspected again for what was wrong before")
	}
	if r.trust("b") {
		t.Error("trust is news although nobody suspected it")
	}
	if !r.suspect("b", noon.Add(12*sec)) || !suspected() {
		t.Error("a connection that had been made was broken, and nobody cared")
	}
	if !r.trust("b") || suspected() {
		t.Error("suspected although it has answered")
	}
}
