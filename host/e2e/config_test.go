package e2e

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/axsched/ax/host/internal/api"
	"github.com/axsched/ax/host/internal/ax"
)

// twoTasks is a configuration with the tasks a and b, every being b's interval.
func twoTasks(every string) string {
	return "tasks:\n- {name: a, every: 1h, job: {use: work}}\n- {name: b, every: " + every + ", job: {use: work}}\n"
}

// A change of the files, SIGHUP and the command put a configuration in force.
func TestReload(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "worker")
	w.config(twoTasks("1h"))
	h := w.start()

	w.config("include: more/*.yaml\n" + twoTasks("2h") + "- {name: c, every: 1s, job: {use: work}}\n")
	h.logs("configuration reloaded", `by="file change"`, "added=1", "changed=1", "removed=0", "unchanged=1")
	w.some("c", 1, ax.StatusSuccess)
	if got := w.tasks()["b"].Schedule.Every; got != "2h0m0s" && got != "2h" {
		t.Errorf("b is due every %s", got)
	}
	w.must(os.Mkdir(w.path("more"), 0o755))
	w.write("more/d.yaml", "tasks:\n- {name: d, every: 1s, job: {use: work}}\n")
	h.signal(syscall.SIGHUP)
	h.logs("configuration reloaded", "by=SIGHUP", "added=1")
	w.some("d", 1, ax.StatusSuccess)
	w.must(os.Remove(w.path("more", "d.yaml")))
	h.logs("configuration reloaded", `by="file change"`, "removed=1")
	if _, ok := w.tasks()["d"]; ok {
		t.Error("a task whose file was removed is still there")
	}

	h.signal(syscall.SIGSTOP) // so that the file watch is not faster
	w.config(twoTasks("3h"))
	h.signal(syscall.SIGCONT)
	report := axJSON[api.ReloadReport](w, "reload")
	if report.Removed+report.Changed > 2 {
		t.Errorf("reload: %+v", report)
	}
	eventually(t, patience, func() error {
		if tasks := w.tasks(); len(tasks) != 2 || !strings.HasPrefix(tasks["b"].Schedule.Every, "3h") {
			return fmt.Errorf("tasks: %v", tasks)
		}
		return nil
	})
	n := len(w.of("c"))
	h.kill()
	h = w.start()
	if now := len(w.of("c")); now != n {
		t.Errorf("a removed task ran %d times after a restart", now-n)
	}
	h.stop()
}

// Reloads that change something else of tasks neither lose due times nor make
// them run twice.
func TestReloadAgainAndAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "worker")
	random := rand.New(rand.NewPCG(1, 0))
	write := func(round int) {
		var b strings.Builder
		b.WriteString("executor: {workers: 24}\ntasks:\n")
		for i := range 10 {
			schedule := "every: 1s"
			if i%2 == 0 {
				schedule = "trigger: {use: beat, with: {every: 1s}}"
			}
			fmt.Fprintf(&b, "- {name: t%d, %s, timeout: %ds, overlap: queue, job: {use: work, with: {journal: %q, takes: %dms}}}\n",
				i, schedule, 60+round, w.path("journal"), random.IntN(1500))
		}
		w.config(b.String())
	}
	write(0)
	begin := time.Now()
	h := w.start()
	for round := 1; len(w.of("t0")) < 8; round++ {
		write(round)
		report := axJSON[api.ReloadReport](w, "reload")
		if report.Added+report.Removed > 0 {
			t.Fatalf("reload: %+v", report)
		}
	}
	w.settle()
	h.stop()
	w.everyDueTimeOnce(begin)
	w.noAttemptTwice()
	for _, r := range w.rows("status NOT IN ('SUCCESS', 'SKIPPED')") {
		t.Errorf("%s of %s is %s: %s %s", r.Task, r.ScheduledAt, r.Status, r.Reason, r.Error)
	}
}

// Schedules that change in a host that is behind, is killed and is started again
// lose no due time: what the old one has reached is missed, the new one goes on
// from there.
func TestSchedulesThatChange(t *testing.T) {
	t.Parallel()
	random := seeded(t)
	w := newWorld(t, "worker")
	round := 0
	write := func() {
		round++
		var b strings.Builder
		b.WriteString("executor: {workers: 1, queue: 1}\ntasks:\n")
		for i := range 8 {
			until := time.Date(2099, 1, 1, 0, 0, round*random.IntN(2), 0, time.UTC)
			schedule := fmt.Sprintf("every: 1s, until: %q", until.Format(time.RFC3339))
			if i%2 == 0 {
				schedule = fmt.Sprintf("trigger: {use: beat, with: {every: 1s}}, until: %q", until.Format(time.RFC3339))
			}
			fmt.Fprintf(&b, "- {name: t%d, %s, overlap: %s, retry: 0, misfire: %s, job: {use: work, with: {journal: %q, takes: %dms}}}\n",
				i, schedule, []string{"queue", "skip", "allow"}[i%3], []string{"all", "skip", "once"}[random.IntN(3)],
				w.path("journal"), random.IntN(400))
		}
		w.config(b.String())
	}
	write()
	h := w.start()
	restart := time.Now()
	for n := range 25 {
		time.Sleep(time.Duration(random.IntN(800)) * time.Millisecond)
		write()
		switch {
		case n%8 == 7:
			h.kill()
			time.Sleep(time.Duration(random.IntN(3000)) * time.Millisecond)
			write()
			restart = time.Now()
			h = w.start()
		case random.IntN(2) == 0:
			axJSON[api.ReloadReport](w, "reload")
		}
	}
	axJSON[api.ReloadReport](w, "reload") // one that came during the pause would pass over what is due then
	w.settle()
	h.stop()
	w.everyDueTimeOnce(restart)
	w.noAttemptTwice()
	if len(w.rows("status = 'MISSED' AND reason LIKE '%schedule was changed%'")) == 0 {
		t.Error("no due time was missed by a change of the schedule: the test has shown nothing")
	}
}

// SIGHUP while the host still starts is not its end.
func TestHangUpWhileStarting(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "worker")
	w.config(manyTasks(1000))
	h := w.launch()
	h.logs("schema migrated")
	h.signal(syscall.SIGHUP)
	h.ready()
	h.logs("configuration reloaded", "by=SIGHUP", "unchanged=1000")
	h.stop()
}

// Programs that write into the same folder all the time, such as the log of the
// host itself, do not keep a change from being noticed.
func TestReloadInABusyFolder(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "worker")
	w.config(twoTasks("1h"))
	h := w.start()
	defer h.stop()
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for tick := time.NewTicker(poll); ; {
			select {
			case now := <-tick.C:
				if err := os.WriteFile(w.path("busy.log"), []byte(now.String()), 0o600); err != nil {
					t.Error(err)
				}
			case <-stop:
				return
			}
		}
	}()
	w.config(twoTasks("2h"))
	h.logs("configuration reloaded", "changed=1")
	close(stop)
	<-stopped
	if n := strings.Count(h.log(), "configuration reloaded"); n != 1 {
		t.Errorf("%d reloads after one change", n)
	}
}

// A broken file changes nothing and says where it is broken, whichever way it
// comes.
func TestBrokenConfiguration(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "worker")
	w.config(twoTasks("1s"))
	h := w.start()
	w.some("b", 1, ax.StatusSuccess)

	broken := twoTasks("1x") + "- {name: c, every: 1s, job: {use: work, with: {takse: 1s}}}\n"
	w.config(broken)
	h.logs("ax.yaml:9:", "every")
	if r := w.ax("reload"); r.code != 5 || !strings.Contains(r.err, "ax.yaml:9:") {
		t.Errorf("ax reload: exit code %d: %s", r.code, r.err)
	}
	if r := w.ax("validate", "ax.yaml"); r.code != 5 || !strings.Contains(r.out+r.err, "ax.yaml:9:") {
		t.Errorf("ax validate: exit code %d: %s%s", r.code, r.out, r.err)
	}
	w.config(strings.Replace(broken, "1x", "1s", 1)) // now only the plugin knows
	h.logs("ax.yaml:10:", "takse")
	r := w.ax("validate", "ax.yaml", "-o", "json")
	var report struct {
		OK     bool
		Faults []struct {
			File, Message string
			Line, Column  int
		}
	}
	w.must(json.Unmarshal([]byte(r.out), &report))
	if f := report.Faults; r.code != 5 || report.OK || len(f) != 1 ||
		f[0].Line != 10 || f[0].Column == 0 || !containsAll(f[0].Message, []string{"takse", "takes"}) {
		t.Errorf("ax validate: exit code %d: %+v", r.code, report)
	}
	if tasks := w.tasks(); len(tasks) != 2 {
		t.Errorf("tasks: %v", tasks)
	}
	n := len(w.of("b"))
	w.some("b", n+1, ax.StatusSuccess)
	health := axJSON[api.Health](w, "health")
	if text := strings.Join(health.Reasons, "\n"); !containsAll(text, []string{"config: refused since ", "ax.yaml:10:"}) {
		t.Errorf("health: %+v", health)
	}
	w.config(twoTasks("1s"))
	h.logs("the configuration is good again")
	if health := axJSON[api.Health](w, "health"); health.Status != api.HealthOK {
		t.Errorf("health after the repair: %+v", health)
	}
	w.config(strings.Replace(broken, "1x", "1s", 1))
	h.stop()

	h = w.launch()
	if state := h.wait(patience); state.ExitCode() != 5 {
		t.Errorf("a host with a broken configuration: %s", state)
	}
	h.logs("ax.yaml:10:", "takse")
	w.gone(w.processes(), patience)
	w.config(twoTasks("1s"))
	if r := w.ax("validate", "ax.yaml"); r.code != 0 || !strings.Contains(r.out, "2 tasks") {
		t.Errorf("ax validate of a good file: exit code %d: %s%s", r.code, r.out, r.err)
	}
	if r := w.ax("validate", "missing.yaml"); r.code != 5 || !strings.Contains(r.out+r.err, "missing.yaml") {
		t.Errorf("ax validate of no file: exit code %d: %s%s", r.code, r.out, r.err)
	}
}

// The example that comes with the program is good as it is, and each of its
// tasks runs.
func TestExampleConfiguration(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	example, err := os.ReadFile("../../config.example.yaml")
	w.must(err)
	w.must(os.CopyFS(w.path("calendars"), os.DirFS("../../calendars")))
	for _, p := range plugins() {
		w.install(filepath.Base(p), filepath.Base(p))
	}
	w.must(os.Mkdir(w.path("bin"), 0o755))
	w.must(os.Rename(w.path("plugins"), w.path("bin", "plugins")))
	w.write("ax.yaml", strings.ReplaceAll(string(example), "127.0.0.1:8090", w.addr))
	if r := w.ax("validate", "ax.yaml"); r.code != 0 {
		t.Errorf("ax validate: exit code %d: %s%s", r.code, r.out, r.err)
	}
	h := w.start()
	for name, task := range w.tasks() {
		if task.State != api.TaskOn {
			t.Errorf("task %s is %s", name, task.State)
		}
		if r := w.ax("run", name, "--force", "--wait"); r.code != 0 {
			t.Errorf("ax run %s: exit code %d: %s%s", name, r.code, r.out, r.err)
		}
	}
	h.stop()
}

// Two hosts on one data directory would run everything twice: the second one is
// refused and leaves nothing behind.
func TestSecondHostIsRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "worker")
	w.config(twoTasks("1s"))
	h := w.start()
	defer h.stop()
	w.some("b", 1, ax.StatusSuccess)
	before := w.processes()

	second := w.launch()
	if state := second.wait(patience); state.ExitCode() != 1 {
		t.Errorf("a host on the same address: %s", state)
	}
	second.logs("address already in use")
	addr := w.addr
	w.addr = freeAddr(t)
	w.config(twoTasks("1s"))
	second = w.launch()
	if state := second.wait(patience); state.ExitCode() != 1 {
		t.Errorf("a host on the same data_dir: %s", state)
	}
	second.logs("data_dir", "in use by another host", fmt.Sprintf("process %d of user ", h.cmd.Process.Pid))
	w.addr = addr
	if now := w.processes(); len(now) != len(before) {
		t.Errorf("processes before: %v, after: %v", before, now)
	}
	n := len(w.of("b"))
	w.some("b", n+1, ax.StatusSuccess)
}

// An address at which somebody else listens is refused before anything is
// started.
func TestAddressInUse(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "worker")
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", w.addr)
	w.must(err)
	defer l.Close()
	w.config(twoTasks("1s"))
	h := w.launch()
	if state := h.wait(patience); state.ExitCode() != 1 {
		t.Errorf("the host ended with %s", state)
	}
	h.logs(w.addr, "address already in use", "http.listen")
	if left := w.processes(); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
	if _, err := os.Stat(w.path("data")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the host made its data_dir although it could not start: %v", err)
	}
}
