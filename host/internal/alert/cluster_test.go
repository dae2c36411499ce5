package alert_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/axsched/ax/host/internal/alert"
	"github.com/axsched/ax/host/internal/ax"
)

// cluster is a story with several hosts on one database.
func cluster(t *testing.T, nodes int, f func(w *world, hosts []*alert.Manager)) {
	t.Helper()
	story(t, func(w *world) {
		w.task("a")
		w.task("b")
		w.open() // makes the database
		w.manager.Kill()
		w.sql("DELETE FROM ax_alert_lease")
		var hosts []*alert.Manager
		for i := range nodes {
			m := w.newManager(fmt.Sprintf("n%d", i), false)
			w.must(m.Start(context.Background()))
			hosts = append(hosts, m)
			time.Sleep(time.Second) // so that it is known who has the lease
		}
		w.manager = hosts[0]
		f(w, hosts)
		w.manager = nil
		w.must(w.store.Close())
	})
}

// on lets something happen on one of the hosts.
func (w *world) on(host *alert.Manager, f func()) {
	before := w.manager
	w.manager = host
	f()
	w.manager = before
}

// TestHostsShareTheWindow: whichever host a run ends on, there is one message a
// window, and one host sends them.
func TestHostsShareTheWindow(t *testing.T) {
	t.Parallel()
	cluster(t, 3, func(w *world, hosts []*alert.Manager) {
		a := w.tasks["a"]
		for i := range 30 {
			w.at(time.Minute + time.Duration(i)*time.Minute)
			w.on(hosts[i%3], func() { w.fails(a, fmt.Sprintf("e%d", i)) })
		}
		w.at(45 * time.Minute)
		w.on(hosts[1], func() { w.succeeds(a) })
		w.at(2 * time.Hour)
		counts := 0
		got := w.taken()
		for i, d := range got {
			if counts += d.msg.Count; i > 0 && d.at.Sub(got[i-1].at) < window {
				t.Errorf("%v and %v are closer than the window", got[i-1], d)
			}
			if d.msg.Node != "n0" {
				t.Errorf("%v was sent by %s", d, d.msg.Node)
			}
		}
		if last := w.last(); counts != 31 || last.Event != "recovered" || !strings.Contains(last.Title, "30 failures") {
			t.Errorf("%d events told, the last one in %+v", counts, last)
		}
		for _, m := range hosts {
			m.Stop(context.Background())
		}
	})
}

// TestDeadHostIsTakenOver: within the time of the lease another host goes on, and
// sends nothing that was sent.
func TestDeadHostIsTakenOver(t *testing.T) {
	t.Parallel()
	cluster(t, 3, func(w *world, hosts []*alert.Manager) {
		a, b := w.tasks["a"], w.tasks["b"]
		w.at(time.Minute)
		w.fails(a, "e1")
		w.at(2 * time.Minute)
		w.fails(a, "e2")
		hosts[0].Kill()
		w.on(hosts[2], func() { w.fails(b, "e1") })
		w.at(2*time.Minute + alert.LeaseTTL + 6*time.Second)
		got := w.taken()
		if len(got) != 2 || got[1].msg.Task != "b" || got[1].msg.Node == "n0" {
			t.Fatalf("messages %v", got)
		}
		w.at(time.Hour)
		if got = w.taken(); len(got) != 3 || got[2].msg.Task != "a" || got[2].msg.Count != 1 || got[2].at.Sub(got[0].at) < window {
			t.Errorf("messages %v", got)
		}
		for _, m := range hosts[1:] {
			m.Stop(context.Background())
		}
	})
}

// TestHostThatStops hands over at once.
func TestHostThatStops(t *testing.T) {
	t.Parallel()
	cluster(t, 2, func(w *world, hosts []*alert.Manager) {
		w.at(time.Minute)
		hosts[0].Stop(context.Background())
		w.on(hosts[1], func() { w.fails(w.tasks["a"], "e1") })
		w.at(time.Minute + 6*time.Second)
		if got := w.taken(); len(got) != 1 || got[0].msg.Node != "n1" {
			t.Errorf("messages %v", got)
		}
		hosts[1].Stop(context.Background())
	})
}

// TestMessageUnderWay: what a dead host was sending is sent again, by the same ID,
// but not before its own try must be over.
func TestMessageUnderWay(t *testing.T) {
	t.Parallel()
	cluster(t, 2, func(w *world, hosts []*alert.Manager) {
		var tr tries
		w.answers(func(ctx context.Context, d delivery) error {
			if tr.add(d) == 1 {
				<-ctx.Done()
				return ctx.Err()
			}
			return nil
		})
		w.at(time.Minute)
		w.fails(w.tasks["a"], "e1")
		hosts[0].Kill()
		w.at(10 * time.Minute)
		list := tr.all()
		if len(list) != 2 || list[0].msg.ID != list[1].msg.ID || list[1].msg.Text != list[0].msg.Text || list[1].at.Sub(list[0].at) < 30*time.Second {
			t.Errorf("tries %v", list)
		}
		hosts[1].Stop(context.Background())
	})
}

// TestHostWithoutDatabase: one that cannot write loses the lease and what it was
// about to send is not sent twice.
func TestHostWithoutDatabase(t *testing.T) {
	t.Parallel()
	cluster(t, 2, func(w *world, hosts []*alert.Manager) {
		w.at(time.Minute)
		w.fails(w.tasks["a"], "e1")
		w.sql("UPDATE ax_alert_lease SET owner = 'somebody', fence = fence + 1, until_at = ?", time.Now().Add(20*time.Second).UnixMicro())
		w.at(2 * time.Minute)
		w.fails(w.tasks["a"], "e2")
		w.at(time.Hour)
		var list []string
		for _, d := range w.taken() {
			list = append(list, fmt.Sprint(d.msg.Task, d.msg.Count))
		}
		if !slices.Equal(list, []string{"a1", "a1"}) || !strings.Contains(w.log.String(), "another host sends the alerts") {
			t.Errorf("messages %v\n%s", list, w.log.String())
		}
		for _, m := range hosts {
			m.Stop(context.Background())
		}
	})
}

// TestSuccessOnAnotherHost: a host that does not know of a failure elsewhere does
// not note the success that ends it, and still people hear of it.
func TestSuccessOnAnotherHost(t *testing.T) {
	t.Parallel()
	cluster(t, 2, func(w *world, hosts []*alert.Manager) {
		w.at(time.Minute)
		w.run = ax.InstanceID(ax.FirstID(time.Now())) // ids tell how old an instance is
		w.fails(w.tasks["a"], "e1")
		w.at(time.Minute + time.Second)
		w.on(hosts[1], func() { w.succeeds(w.tasks["a"]) })
		w.at(time.Hour)
		w.wantTaken("1m0s ops: a failed x1", "11m0s ops: a recovered x1")
		for _, m := range hosts {
			m.Stop(context.Background())
		}
	})
}

func TestLostHost(t *testing.T) {
	t.Parallel()
	cluster(t, 2, func(w *world, hosts []*alert.Manager) {
		beats := func(nodes ...ax.Node) {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.nodes = nodes
		}
		alive := ax.Node{Incarnation: "1", Name: "n7", BeatAt: start.Add(time.Hour)}
		left := ax.Node{Incarnation: "2", Name: "n8", BeatAt: start.Add(time.Minute), Draining: true}
		beats(alive, left)
		w.at(time.Minute)
		synctest.Wait()
		alive.BeatAt = start.Add(time.Minute)
		beats(alive, left)
		w.at(10 * time.Minute)
		got := w.taken()
		if len(got) != 1 || got[0].msg.Task != "host n7" || got[0].msg.Event != "node" || !strings.Contains(got[0].msg.Text, "no sign of life since 2026-01-01 00:01:00 UTC") {
			t.Errorf("messages %+v", got)
		}
		for _, m := range hosts {
			m.Stop(context.Background())
		}
	})
}
