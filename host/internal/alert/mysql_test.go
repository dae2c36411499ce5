package alert_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/axsched/ax/host/internal/alert"
	"github.com/axsched/ax/host/internal/ax"
	"github.com/axsched/ax/host/internal/store"
	"github.com/axsched/ax/host/internal/store/mysqltest"
	"github.com/axsched/ax/host/internal/store/storetest"
	"github.com/axsched/ax/pluginapi"
)

func TestMain(m *testing.M) { os.Exit(mysqltest.Main(m)) }

// fleet is hosts on one MySQL database, in real time.
type fleet struct {
	*testing.T
	settings alert.Settings
	tasks    []*ax.Task
	stores   []*store.Store
	hosts    []*alert.Manager

	mu   sync.Mutex
	sent map[string][]string // nodes that have sent a message, by its ID
}

const fleetWindow = 2 * time.Second

func newFleet(t *testing.T, hosts, tasks int) *fleet {
	f := &fleet{T: t, sent: map[string][]string{}, settings: alert.Settings{
		Window: fleetWindow, Gather: 50 * time.Millisecond, Expire: time.Hour, Receivers: map[string]*alert.Receiver{"ops": {}, "dev": {}},
	}}
	byName := map[string]*ax.Task{}
	w := &world{tasks: byName}
	for i := range tasks {
		f.tasks = append(f.tasks, w.task(fmt.Sprintf("t%d", i), to("ops", "dev")))
	}
	dsn := mysqltest.DSN(t)
	for i := range hosts {
		node := fmt.Sprintf("n%d", i)
		s := storetest.OpenWith(t, store.Options{DSN: dsn, PartitionDays: 2})
		f.stores = append(f.stores, s)
		f.hosts = append(f.hosts, alert.New(alert.Config{
			App: "shop", Node: node, Incarnation: node, IDs: ax.NewIDs(int64(i)), Store: s, Log: hclog.NewNullLogger(),
			Settings: func() *alert.Settings { return &f.settings },
			Task:     func(name string) *ax.Task { return byName[name] },
			Notify: func(_ context.Context, notifier string, msg pluginapi.Message) (string, error) {
				f.mu.Lock()
				defer f.mu.Unlock()
				f.sent[msg.ID+" "+notifier] = append(f.sent[msg.ID+" "+notifier], node)
				return "", nil
			},
		}))
		if err := f.hosts[i].Start(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	return f
}

// storm lets tasks fail on a host for a while, and returns how many events were
// written.
func (f *fleet) storm(host int, length time.Duration) int {
	ids, rng := ax.NewIDs(int64(100+host)), rand.New(rand.NewPCG(1, uint64(host)))
	written := 0
	for end := time.Now().Add(length); time.Now().Before(end); {
		task, now := f.tasks[rng.IntN(len(f.tasks))], time.Now()
		c := f.hosts[host].Journal(ax.Change{Move: &ax.Move{From: ax.StatusRunning, New: ax.Instance{
			ID: ax.InstanceID(ids.Next(now)), TaskID: task.ID, TaskName: task.Name, Status: ax.StatusFailed, EndedAt: now, Attempt: 1, Node: "n",
		}}})
		c.Move = nil // there is no instance: what matters is the event
		done, journaled := make(chan bool, 1), c.Done
		c.Done = func(applied bool, err error) {
			journaled(applied, err)
			done <- applied && err == nil
		}
		f.stores[host].Submit(c)
		if <-done {
			written++
		}
	}
	return written
}

// TestHostsOnMySQL: several hosts see tasks fail at once, and the one that sends
// is killed. No event is lost or counted twice, and of no task are there two
// messages within a window.
func TestHostsOnMySQL(t *testing.T) {
	t.Parallel()
	f := newFleet(t, 4, 30)
	var wg sync.WaitGroup
	written := make([]int, len(f.hosts))
	for i := range f.hosts {
		wg.Go(func() { written[i] = f.storm(i, 5*time.Second) })
	}
	time.Sleep(2 * time.Second) // the storm goes on: this is not a wait for anything
	keeper, err := f.stores[0].AlertLease(t.Context(), "shop")
	if err != nil {
		t.Fatal(err)
	}
	for i, m := range f.hosts {
		if keeper.Owner == fmt.Sprintf("n%d", i) {
			m.Kill()
		}
	}
	wg.Wait()
	total := 0
	for _, n := range written {
		total += n
	}
	rows := f.settled(total)
	for i, m := range f.hosts {
		if keeper.Owner != fmt.Sprintf("n%d", i) {
			m.Stop(t.Context())
		}
	}
	f.check(rows, total)
}

// settled waits until all events are in messages, and these are sent.
func (f *fleet) settled(total int) []ax.AlertRow {
	f.Helper()
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(100 * time.Millisecond) {
		rows, err := f.stores[0].Alerts(f.Context(), ax.AlertFilter{App: "shop", Limit: 100_000})
		if err != nil {
			f.Fatal(err)
		}
		told, open := 0, 0
		for i := range rows {
			if told += rows[i].Count; !rows[i].State.Settled() {
				open++
			}
		}
		if told >= 2*total && open == 0 {
			return rows
		}
		if time.Now().After(deadline) {
			f.Fatalf("%d of %d events are told to two notifiers, %d messages wait", told, total, open)
		}
	}
}

func (f *fleet) check(rows []ax.AlertRow, total int) {
	f.Helper()
	told, next := map[string]int{}, map[string]ax.AlertRow{}
	for _, row := range rows { // newest first
		key := row.TaskName + " " + row.Notifier
		if after, ok := next[key]; ok && after.WindowEnd.Sub(row.WindowEnd) < fleetWindow {
			f.Errorf("%s: messages at %v and %v", key, row.WindowEnd, after.WindowEnd)
		}
		next[key] = row
		told[row.Notifier] += row.Count
	}
	if told["ops"] != total || told["dev"] != total {
		f.Errorf("told %v of %d events", told, total)
	}
	again := 0
	for id, nodes := range f.sent {
		if again += len(nodes) - 1; len(nodes) > 2 {
			f.Errorf("message %s was sent by %v", id, nodes)
		}
	}
	// What the dead host was sending, one message of each notifier at most.
	if again > 2 {
		f.Errorf("%d messages were sent again", again)
	}
	f.Logf("%d events in %d messages", total, len(rows))
}
