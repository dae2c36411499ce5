package cluster

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/axsched/ax/host/internal/ax"
)

// start brings a host up.
func start(t *testing.T, d *database, id string, change func(before, after *Snapshot)) *View {
	t.Helper()
	v := NewView(ViewConfig{
		Self: ax.Node{Incarnation: id, Name: id, App: "app", StartedAt: time.Now()}, Limits: DefaultLimits(),
		Table: link{d, id}, Log: hclog.NewNullLogger(), OnChange: change,
		Figures: func() ax.NodeFigures { return ax.NodeFigures{Running: 7} },
	})
	if err := v.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { v.Stop(context.Background()) })
	return v
}

// kill ends a host as SIGKILL does: its row stays.
func kill(v *View) {
	v.stop()
	v.done.Wait()
	v.stop = nil
}

func owners(v *View) string {
	text := ""
	for _, n := range v.Snapshot().Owners.Nodes() {
		text += n.Incarnation
	}
	return text
}

func wait(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

func TestHostsComeAndGo(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := newDatabase()
		changes := make(chan string, 100)
		a := start(t, d, "a", func(before, after *Snapshot) {
			if after.Moved(before) {
				text := ""
				for _, n := range after.Owners.Nodes() {
					text += n.Incarnation
				}
				changes <- text
			}
		})
		if owners(a) != "a" || !a.Snapshot().Owns(5) {
			t.Fatalf("owners %s just after the start", owners(a))
		}
		b := start(t, d, "b", nil)
		if owners(b) != "ab" {
			t.Errorf("b sees %s at its start", owners(b))
		}
		wait(5 * time.Second)
		c := start(t, d, "c", nil)
		wait(5 * time.Second)
		if m, ok := a.Snapshot().Member("b"); !ok || m.Running != 7 {
			t.Errorf("a sees of b: %+v", m)
		}
		c.Drain() // and stops in good order
		wait(5 * time.Second)
		if a.Dead("c") {
			t.Error("dead while it drains")
		}
		c.Stop(t.Context())
		wait(5 * time.Second)
		if !a.Dead("c") {
			t.Error("not gone although it left in good order")
		}
		close(changes)
		var got []string
		for c := range changes {
			got = append(got, c)
		}
		if len(got) != 3 || got[0] != "ab" || got[1] != "abc" || got[2] != "ab" {
			t.Errorf("a was told of %v", got)
		}
	})
}

// TestKilledHost: without a suspicion a host that was killed keeps its buckets
// for 15 s, with one it loses them at once, and in both cases it is dead for
// good only after 15 s.
func TestKilledHost(t *testing.T) {
	t.Parallel()
	for _, suspect := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			d := newDatabase()
			a, b := start(t, d, "a", nil), start(t, d, "b", nil)
			wait(12 * time.Second)
			kill(b) // 2 s after its newest sign of life
			died := time.Now()
			if suspect {
				a.Suspect("b", errAway)
				synctest.Wait()
				if owners(a) != "a" {
					t.Error("a suspected host keeps its buckets")
				}
			}
			for owners(a) != "a" {
				wait(10 * time.Millisecond)
			}
			if gap := time.Since(died); !suspect && (gap < 12*time.Second || gap > 14*time.Second) {
				t.Errorf("took over after %s, want some 13 s, 15 s after the last sign of life", gap)
			}
			for !a.Dead("b") {
				wait(10 * time.Millisecond)
				if owners(a) != "a" {
					t.Fatal("b has its buckets again")
				}
			}
			if gap := time.Since(died); gap < 12*time.Second || gap > 14*time.Second {
				t.Errorf("dead for good after %s, want some 13 s", gap)
			}
		})
	}
}

func TestSuspectedHostThatAnswers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := newDatabase()
		a := start(t, d, "a", nil)
		start(t, d, "b", nil)
		wait(6 * time.Second)
		for range 3 {
			a.Suspect("b", errAway)
			synctest.Wait()
			if owners(a) != "a" {
				t.Fatalf("owners %s although b is suspected", owners(a))
			}
			a.Trust("b")
			synctest.Wait()
			if owners(a) != "ab" {
				t.Fatalf("owners %s although b has answered", owners(a))
			}
		}
		a.Leaving("b")
		synctest.Wait()
		if owners(a) != "a" {
			t.Errorf("owners %s although b said that it leaves", owners(a))
		}
	})
}

// TestOutage: while the database is away nobody dies, everybody is fenced after
// 15 s, and when it is back all go on as if nothing had been.
func TestOutage(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := newDatabase()
		var views []*View
		ids := []string{"a", "b", "c"}
		for _, id := range ids {
			views = append(views, start(t, d, id, nil))
			wait(1700 * time.Millisecond)
		}
		wait(10 * time.Second)
		check := func(when string, fenced bool) {
			t.Helper()
			for i, v := range views {
				if v.Fenced() != fenced {
					t.Errorf("%s: %s fenced %v, want %v", when, ids[i], v.Fenced(), fenced)
				}
				for _, id := range ids {
					if v.Dead(id) {
						t.Fatalf("%s: %s takes %s for dead", when, ids[i], id)
					}
				}
			}
		}
		all := func(away bool) {
			d.change(func() {
				for _, id := range ids {
					d.away[id] = away
				}
			})
		}
		all(true)
		wait(9 * time.Second)
		check("away for 9 s", false)
		wait(10 * time.Minute)
		check("away for 10 min", true)
		if !views[0].Failing() {
			t.Error("not failing")
		}
		all(false)
		for range 400 {
			wait(50 * time.Millisecond)
			for i, v := range views {
				for _, id := range ids {
					if v.Dead(id) {
						t.Fatalf("%s takes %s for dead after the outage", ids[i], id)
					}
				}
			}
		}
		check("back", false)
		for i, v := range views {
			if owners(v) != "abc" {
				t.Errorf("%s sees %s after the outage", ids[i], owners(v))
			}
		}
	})
}

// TestCutOff: one host cannot reach the database. It is fenced before the others
// take it for dead, and comes back when it can.
func TestCutOff(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := newDatabase()
		a, b := start(t, d, "a", nil), start(t, d, "b", nil)
		wait(12 * time.Second)
		d.change(func() { d.away["b"] = true })
		cut := time.Now()
		for !a.Dead("b") {
			if owners(a) == "a" && !b.Fenced() && time.Since(cut) > 15*time.Second {
				t.Fatal("taken over from a host that is not fenced")
			}
			wait(20 * time.Millisecond)
		}
		if !b.Fenced() {
			t.Error("dead, and not fenced")
		}
		if gap := time.Since(cut); gap > 20*time.Second {
			t.Errorf("found out after %s", gap)
		}
		d.change(func() { d.away["b"] = false })
		wait(6 * time.Second)
		if b.Fenced() || a.Dead("b") || owners(a) != "ab" {
			t.Errorf("b is back: fenced %v, dead %v, owners %s", b.Fenced(), a.Dead("b"), owners(a))
		}
	})
}

func TestClocksAreSet(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := newDatabase()
		d.ahead = 3 * time.Second
		a, b := start(t, d, "a", nil), start(t, d, "b", nil)
		wait(5 * time.Second)
		for _, ahead := range []time.Duration{0, 30 * time.Second, -30 * time.Second, time.Hour, -time.Hour, 0} {
			for range 15 {
				wait(time.Second)
				if owners(a) != "ab" || owners(b) != "ab" || a.Dead("b") || b.Dead("a") {
					t.Fatalf("with the database's clock ahead by %s: a sees %s, b sees %s", d.ahead, owners(a), owners(b))
				}
			}
			if (a.Offset()+d.ahead).Abs() > time.Millisecond || a.Now().Sub(d.now()).Abs() > time.Millisecond {
				t.Errorf("offset %s, want %s", a.Offset(), -d.ahead)
			}
			d.change(func() { d.ahead = ahead })
		}
	})
}

// TestRestart: the next life of a host is another one; what the former one left
// is dead after 15 s.
func TestRestart(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := newDatabase()
		a := start(t, d, "a", nil)
		wait(10 * time.Second)
		kill(a)
		d.change(func() {
			row := d.nodes["a"]
			row.Cluster = "h:1"
			d.nodes["a"] = row
		})
		wait(time.Second)
		again := NewView(ViewConfig{
			Self: ax.Node{Incarnation: "A", Name: "a", App: "app", Cluster: "h:1", StartedAt: time.Now()}, Limits: DefaultLimits(),
			Table: link{d, "A"}, Log: hclog.NewNullLogger(),
		})
		if err := again.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		defer again.Stop(context.Background())
		if owners(again) != "A" {
			t.Errorf("owners %s: the former life has a share", owners(again))
		}
		if again.Dead("a") {
			t.Error("dead for good at the first sight")
		}
		wait(16 * time.Second)
		if !again.Dead("a") {
			t.Error("the former life is not dead after 16 s")
		}
	})
}

// TestIdleCost: a host costs two statements in five seconds.
func TestIdleCost(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := newDatabase()
		a := start(t, d, "a", nil)
		start(t, d, "b", nil)
		wait(100*time.Second + time.Millisecond)
		if d.writes != 2*20 || d.asked != 2*21 {
			t.Errorf("%d signs of life and %d looks in 100 s, want 40 and 42", d.writes, d.asked)
		}
		d.change(func() { delete(d.nodes, "a") })
		wait(5 * time.Second)
		if owners(a) != "ab" {
			t.Errorf("owners %s after a row was removed", owners(a))
		}
	})
}

// TestDrainIsTakenBack: the others hear of a drain at once, by a message, and of its
// end with a sign of life.
func TestDrainIsTakenBack(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := newDatabase()
		a, b := start(t, d, "a", nil), start(t, d, "b", nil)
		wait(6 * time.Second)
		b.Drain()
		a.Leaving("b")
		synctest.Wait()
		if owners(a) != "a" || owners(b) != "a" {
			t.Fatalf("after the drain of b: %s for a, %s for b", owners(a), owners(b))
		}
		wait(30 * time.Second) // signs of life go on and say the same
		if owners(a) != "a" || owners(b) != "a" || a.Dead("b") {
			t.Fatalf("a while after: %s for a, %s for b", owners(a), owners(b))
		}
		b.Undrain()
		synctest.Wait()
		if owners(b) != "ab" {
			t.Errorf("b sees %s when it takes part again", owners(b))
		}
		wait(6 * time.Second)
		if owners(a) != "ab" {
			t.Errorf("a sees %s after the next sign of life", owners(a))
		}
	})
}

// TestBeatOnItsWayUndoesNoDrain: a sign of life that was sent before a drain and is
// read after it says nothing about it.
func TestBeatOnItsWayUndoesNoDrain(t *testing.T) {
	t.Parallel()
	r := newRoster("a", DefaultLimits())
	begin := time.Date(2026, 3, 9, 8, 0, 0, 0, time.UTC)
	row := func(beat time.Duration) []ax.Node { return []ax.Node{{Incarnation: "b", BeatAt: begin.Add(beat)}} }
	leaving := func() bool { return r.members()[0].Draining }
	r.look(row(0), begin, 0)
	r.leave("b", begin.Add(time.Second))
	r.look(row(1100*time.Millisecond), begin.Add(2*time.Second), 2*time.Second)
	if !leaving() {
		t.Error("undone by a sign of life that was on its way")
	}
	r.look(row(6*time.Second), begin.Add(7*time.Second), 7*time.Second)
	if leaving() {
		t.Error("a later sign of life without a word of it is passed over")
	}
}
