package alert_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/axsched/ax/host/internal/ax"
)

// TestDay lets a day pass on which a thousand tasks fail at random, two outages
// hit many of them, hosts are stopped and killed, and one of two notifiers is down
// for an hour. Then it looks into the database: nothing is lost, nothing told
// twice, no task is in two messages within ten minutes, and the last message of
// each says how it fares.
func TestDay(t *testing.T) {
	t.Parallel()
	tasks, seeds := 1000, 1
	if testing.Short() || slowed {
		tasks = 60
	}
	for seed := range seeds {
		t.Run(fmt.Sprintf("seed %d", seed), func(t *testing.T) {
			t.Parallel()
			merging(t, func(w *world) { newDay(w, tasks, uint64(seed)).live() })
		})
	}
}

// day is a random day, and a simple model of what must be told.
type day struct {
	*world
	rng    *rand.Rand
	models []*model
	outage bool
	down   atomic.Bool  // the notifier ops takes nothing
	sent   atomic.Int64 // changes on their way to the database
}

func newDay(w *world, tasks int, seed uint64) *day {
	d := &day{world: w, rng: rand.New(rand.NewPCG(seed, 2))}
	receivers := [][]string{{"ops"}, {"ops", "dev"}, {"dev"}}
	for i := range tasks {
		task := w.task(fmt.Sprintf("t%d", i), to(receivers[i%3]...), after(1+d.rng.IntN(3)))
		d.models = append(d.models, &model{task: task, told: map[string]int{}})
	}
	w.answers(func(_ context.Context, got delivery) error {
		if got.notifier == "ops" && d.down.Load() {
			return errBusy
		}
		return nil
	})
	return d
}

func (d *day) live() {
	d.open()
	for now := time.Duration(0); now < 24*time.Hour; now += time.Minute {
		d.at(now)
		d.outage = now >= 3*time.Hour && now < 3*time.Hour+20*time.Minute || now >= 15*time.Hour && now < 16*time.Hour
		d.down.Store(now >= 9*time.Hour && now < 10*time.Hour)
		for range max(len(d.models)/90, 1) { // each task runs every 90 minutes or so
			d.happen(d.models[d.rng.IntN(len(d.models))])
		}
		if d.rng.IntN(120) == 0 {
			d.restart()
		}
	}
	d.at(25*time.Hour + 30*time.Minute)
	d.check()
	d.stop()
	d.open() // for the end of the story
}

// restart ends the host, in good order or not, at any moment.
func (d *day) restart() {
	if d.rng.IntN(2) == 0 {
		d.stop()
	} else {
		d.kill()
	}
	if d.rng.IntN(3) == 0 {
		time.Sleep(time.Duration(d.rng.IntN(40)) * time.Second)
	}
	d.open()
}

// happen lets a task run. What has happened is written, and then forgotten here:
// the host may die before it has looked at it.
func (d *day) happen(m *model) {
	d.run++
	now := time.Now()
	running := ax.Instance{
		ID: d.run, TaskID: m.task.ID, TaskName: m.task.Name, App: "shop", Kind: ax.KindManual, Status: ax.StatusRunning,
		ScheduledAt: now.Add(time.Duration(d.run) * time.Microsecond), CreatedAt: now, StartedAt: now, Attempt: 1, Node: "n1",
	}
	ended := running
	// No two events of a task are at the same time, so that their order is known.
	ended.EndedAt = now.Add(time.Duration(d.run%1_000_000) * time.Microsecond)
	chance := 10
	if d.outage {
		chance = 90
	}
	if d.rng.IntN(100) < chance {
		ended.Status = []ax.Status{ax.StatusFailed, ax.StatusTimeout, ax.StatusLost}[d.rng.IntN(3)]
		ended.Error = fmt.Sprintf("%s of its own", []string{"an error", "a trouble", "a fault", "bad luck"}[d.rng.IntN(4)])
		if d.outage {
			ended.Status, ended.Error = ax.StatusFailed, "connection refused"
		}
		m.fail(ended.Error)
	} else {
		ended.Status = ax.StatusSuccess
		m.succeed()
	}
	d.store.Submit(ax.Change{Insert: []ax.Instance{running}})
	d.sent.Add(1)
	d.store.Submit(d.manager.Journal(ax.Change{
		Move: &ax.Move{From: ax.StatusRunning, New: ended},
		Done: func(applied bool, err error) {
			if !applied || err != nil {
				d.t.Errorf("a change was not written: %v", err)
			}
			d.sent.Add(-1)
		},
	}))
	if d.rng.IntN(4) == 0 {
		synctest.Wait()
	}
}

func (d *day) check() {
	d.t.Helper()
	synctest.Wait()
	if n := d.sent.Load(); n != 0 {
		d.t.Fatalf("%d changes are not written", n)
	}
	rows := map[string][]ax.AlertRow{} // by task and notifier, oldest first
	told := map[string]int{}           // by notifier
	for _, row := range d.rows() {
		key := row.TaskName + " " + row.Notifier
		rows[key] = append(rows[key], row)
		told[row.Notifier] += row.Count
	}
	for _, m := range d.models {
		for _, notifier := range m.task.Notify.To {
			d.checkThread(m, notifier, rows[m.task.Name+" "+notifier])
		}
	}
	counted, seen := map[string]int{}, map[string]bool{}
	for _, got := range d.taken() {
		if seen[got.msg.ID] {
			d.t.Errorf("%v was taken twice", got)
		}
		seen[got.msg.ID] = true
		counted[got.notifier] += got.msg.Count
	}
	if fmt.Sprint(counted) != fmt.Sprint(told) {
		d.t.Errorf("the messages tell of %v events, the rows of %v", counted, told)
	}
	d.t.Logf("%d runs, %v events in %d messages", d.run-1000, told, len(seen))
}

// checkThread checks what one notifier was told of one task.
func (d *day) checkThread(m *model, notifier string, rows []ax.AlertRow) {
	got := map[string]int{}
	for i, row := range rows {
		if row.State != ax.AlertSent && row.State != ax.AlertMerged {
			d.t.Errorf("%s to %s: row %d is %s", m.task.Name, notifier, row.ID, row.State)
		}
		if i > 0 && row.WindowEnd.Sub(rows[i-1].WindowEnd) < window-time.Microsecond {
			d.t.Errorf("%s to %s: messages at %v and %v", m.task.Name, notifier, rows[i-1].WindowEnd, row.WindowEnd)
		}
		for event, n := range d.tallies(row) {
			got[sortOf(event)] += n
		}
	}
	if fmt.Sprint(got) != fmt.Sprint(m.told) {
		d.t.Errorf("%s to %s: told %v, want %v", m.task.Name, notifier, got, m.told)
	}
	if len(rows) == 0 {
		return
	}
	last, want := rows[len(rows)-1].Event, "recovered"
	if m.streak >= m.task.Notify.After {
		want = "failure"
	}
	if sortOf(last) != want {
		d.t.Errorf("%s to %s: the last message says %s, the task fares %s", m.task.Name, notifier, last, want)
	}
}
