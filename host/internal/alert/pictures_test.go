package alert_test

import (
	"bytes"
	"encoding/json"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/axsched/ax/host/internal/alert"
	"github.com/axsched/ax/host/internal/ax"
	"github.com/axsched/ax/pluginapi"
)

// outage is the error of the task in the pictures.
var outage = "read new orders: dial tcp 10.2.0.7:3306: connect: connection refused\n" + strings.Join([]string{
	"\tat shop.db.Pool.connect(Pool.java:131)", "\tat shop.db.Pool.take(Pool.java:74)", "\tat shop.db.Query.open(Query.java:52)",
	"\tat shop.db.Query.rows(Query.java:38)", "\tat shop.Orders.since(Orders.java:97)", "\tat shop.Sync.readOrders(Sync.java:212)",
	"\tat shop.Sync.page(Sync.java:140)", "\tat shop.Sync.run(Sync.java:88)", "\tat shop.Main.call(Main.java:61)",
}, "\n") + strings.Repeat("\n\tat shop.Retry.call(Retry.java:29)", 32) +
	"\n\tat shop.Main.main(Main.java:19)\n\tat java.base/java.lang.Thread.run(Thread.java:1583)"

// TestStoryOfPictures keeps the messages in docs/testdata, of which the pictures in
// docs/img are made, in step with what a Manager writes: a task fails, goes on
// failing and recovers. UPDATE=1 writes them anew, see scripts/pictures.sh.
func TestStoryOfPictures(t *testing.T) {
	t.Parallel()
	story(t, func(w *world) {
		w.node = "host-2"
		w.settings.Gather = 2 * time.Second
		w.settings.Receivers = map[string]*alert.Receiver{"en": {}, "zh": {Language: alert.Chinese}}
		task := w.task("sync-orders", to("en", "zh"), func(t *ax.Task) { t.Schedule.Timezone = "Asia/Shanghai" })
		begin := time.Date(2026, 3, 2, 1, 30, 9, 0, time.UTC).Sub(start)
		w.at(begin - time.Minute)
		w.open()
		for n := range 11 {
			w.at(begin + time.Duration(n)*time.Minute - time.Duration(n)*200*time.Millisecond)
			w.picture(task, ax.StatusFailed, []string{"host-1", "host-2"}[n%3/2])
		}
		w.at(begin + 16*time.Minute)
		w.picture(task, ax.StatusSuccess, "host-1")
		w.at(begin + 21*time.Minute)
		msgs := map[string][]pluginapi.Message{}
		for _, d := range w.taken() {
			msgs[d.notifier] = append(msgs[d.notifier], d.msg)
		}
		for _, lang := range []string{"en", "zh"} {
			if len(msgs[lang]) != 3 {
				t.Fatalf("%d messages in %s, want 3", len(msgs[lang]), lang)
			}
			w.wantFile("../../../docs/testdata/story."+lang+".json", msgs[lang])
		}
	})
}

// picture reports the end of a run that took several attempts if it failed.
func (w *world) picture(task *ax.Task, status ax.Status, node string) {
	w.run++
	now := time.Now()
	running := ax.Instance{
		ID: w.run, TaskID: task.ID, TaskName: task.Name, App: task.App, Kind: ax.KindScheduled, Status: ax.StatusRunning,
		ScheduledAt: now.Add(-9 * time.Second), CreatedAt: now, StartedAt: now, Attempt: 1, Node: node,
	}
	ended := running
	ended.Status, ended.EndedAt = status, now
	if status.Failure() {
		running.Attempt, ended.Attempt, ended.Error = 4, 4, outage
	}
	w.submit(ax.Change{Insert: []ax.Instance{running}})
	w.submit(ax.Change{Move: &ax.Move{From: ax.StatusRunning, New: ended}})
}

// wantFile wants a file to hold messages, or writes it if UPDATE is set.
func (w *world) wantFile(path string, msgs []pluginapi.Message) {
	w.t.Helper()
	var text bytes.Buffer
	e := json.NewEncoder(&text)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	w.must(e.Encode(msgs))
	if os.Getenv("UPDATE") != "" {
		w.must(os.WriteFile(path, text.Bytes(), 0o644))
	}
	kept, err := os.ReadFile(path)
	w.must(err)
	if !bytes.Equal(kept, text.Bytes()) {
		w.t.Errorf("%s is not what is sent, run scripts/pictures.sh: a host sends\n%s", path, text.Bytes())
	}
}
