package alert_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/axsched/ax/host/internal/alert"
	"github.com/axsched/ax/host/internal/ax"
)

// lives says that hosts live.
func (w *world) lives(names ...string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.nodes = nil
	for _, name := range names {
		w.nodes = append(w.nodes, ax.Node{Incarnation: w.incarnations[name], Name: name, BeatAt: start.Add(365 * 24 * time.Hour)})
	}
}

// onlyOn lets notifiers answer on one host only, as if the others lacked their
// plugins.
func (w *world) onlyOn(hosts map[string]string) {
	w.answers(func(_ context.Context, d delivery) error {
		if host := hosts[d.notifier]; host != "" && host != d.host {
			return fmt.Errorf("no plugin offers it: %w", alert.ErrCannot)
		}
		return nil
	})
}

// TestHostWithoutPlugin gives way to one that has it.
func TestHostWithoutPlugin(t *testing.T) {
	t.Parallel()
	cluster(t, 3, func(w *world, hosts []*alert.Manager) {
		w.lives("n0", "n1", "n2")
		w.onlyOn(map[string]string{"ops": "n2"})
		w.at(time.Minute)
		w.fails(w.tasks["a"], "e1")
		w.at(4 * time.Minute)
		got := w.taken()
		if len(got) != 1 || got[0].host != "n2" || got[0].msg.Count != 1 {
			t.Fatalf("messages %v", got)
		}
		w.fails(w.tasks["b"], "e2") // by the same host at once
		w.at(4*time.Minute + 10*time.Second)
		if got = w.taken(); len(got) != 2 || got[1].host != "n2" {
			t.Errorf("messages %v", got)
		}
		for _, m := range hosts {
			m.Stop(context.Background())
		}
	})
}

// TestNoHostHasAllPlugins: each notifier is served by the host that can.
func TestNoHostHasAllPlugins(t *testing.T) {
	t.Parallel()
	cluster(t, 2, func(w *world, hosts []*alert.Manager) {
		w.lives("n0", "n1")
		w.onlyOn(map[string]string{"ops": "n0", "dev": "n1"})
		for _, name := range []string{"a", "b"} {
			w.tasks[name].Notify.To = []string{"ops", "dev"}
		}
		for round := range 4 {
			w.at(time.Duration(1+15*round) * time.Minute)
			w.fails(w.tasks["a"], "e")
			w.fails(w.tasks["b"], "e'")
		}
		w.at(time.Hour)
		events := map[string]int{}
		ids := map[string]bool{}
		for _, d := range w.taken() {
			events[d.notifier] += d.msg.Count
			if late := d.at.Sub(d.msg.Last); late > 3*time.Minute || ids[d.msg.ID+d.notifier] {
				t.Errorf("%v came %v late, or twice", d, late)
			}
			ids[d.msg.ID+d.notifier] = true
		}
		if events["ops"] != 8 || events["dev"] != 8 {
			t.Errorf("events told: %v", events)
		}
		for _, m := range hosts {
			m.Stop(context.Background())
		}
	})
}

// TestNobodyToGiveWayTo: a host alone keeps the lease, and so does one whose
// notifier is only down.
func TestNobodyToGiveWayTo(t *testing.T) {
	t.Parallel()
	for name, story := range map[string]struct {
		alive []string
		cause error
	}{
		"alone": {[]string{"n0"}, alert.ErrCannot}, "down": {[]string{"n0", "n1"}, fmt.Errorf("no route to host")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cluster(t, 2, func(w *world, hosts []*alert.Manager) {
				w.lives(story.alive...)
				w.answers(func(context.Context, delivery) error { return story.cause })
				w.at(time.Minute)
				w.fails(w.tasks["a"], "e")
				for i := range 20 {
					w.at(time.Duration(2+i) * time.Minute)
					lease, err := w.store.AlertLease(context.Background(), "shop")
					w.must(err)
					if lease.Fence != 1 {
						t.Fatalf("the lease went to %s", lease.Owner)
					}
				}
				for _, m := range hosts {
					m.Stop(context.Background())
				}
			})
		})
	}
}
