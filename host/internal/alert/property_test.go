package alert_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"github.com/axsched/ax/host/internal/ax"
)

// TestRandomLives lets random things happen to three tasks for some hours, with
// notifiers that go down and hosts that are stopped or killed, and checks what
// must hold whatever happens.
func TestRandomLives(t *testing.T) {
	t.Parallel()
	lives := 6
	if testing.Short() || slowed {
		lives = 2
	}
	for seed := range lives {
		t.Run(fmt.Sprintf("seed %d", seed), func(t *testing.T) {
			t.Parallel()
			story(t, func(w *world) { newLife(w, uint64(seed)).live() })
		})
	}
}

// life is a random story, and a simple model of what must be told.
type life struct {
	*world
	rng    *rand.Rand
	models map[string]*model
	down   map[string]bool // notifiers that take nothing
	errors int
}

// model is what must have been told of a task once all is quiet.
type model struct {
	task   *ax.Task
	streak int
	untold int
	told   map[string]int // by sort of event, see sortOf
	newest string         // error of the newest failure that was told
}

func newLife(w *world, seed uint64) *life {
	l := &life{world: w, rng: rand.New(rand.NewPCG(seed, 1)), models: map[string]*model{}, down: map[string]bool{}}
	receivers := [][]string{{"ops"}, {"ops", "dev"}, {"dev"}}
	for i, name := range []string{"a", "b", "c"} {
		task := w.task(name, to(receivers[i]...), after(1+l.rng.IntN(3)))
		l.models[name] = &model{task: task, told: map[string]int{}}
	}
	w.answers(func(_ context.Context, d delivery) error {
		w.mu.Lock()
		defer w.mu.Unlock()
		if l.down[d.notifier] {
			return errBusy
		}
		return nil
	})
	return l
}

func (l *life) live() {
	l.open()
	for range 400 {
		time.Sleep(l.pause())
		switch n := l.rng.IntN(100); {
		case n < 80:
			l.happen(l.models[[]string{"a", "b", "c"}[l.rng.IntN(3)]])
		case n < 92:
			l.settle()
			name := []string{"ops", "dev"}[l.rng.IntN(2)]
			l.mu.Lock()
			l.down[name] = !l.down[name]
			l.mu.Unlock()
		default:
			l.restart()
		}
	}
	l.settle()
	l.mu.Lock()
	clear(l.down)
	l.mu.Unlock()
	time.Sleep(time.Hour)
	l.settle()
	l.check()
}

// pause is short mostly, and sometimes longer than a window.
func (l *life) pause() time.Duration {
	switch n := l.rng.IntN(20); {
	case n < 6:
		return 0
	case n < 19:
		return time.Duration(l.rng.IntN(120_000)) * time.Millisecond
	}
	return time.Duration(l.rng.IntN(30)) * time.Minute
}

// settle lets the Manager write what it has.
func (l *life) settle() {
	time.Sleep(time.Second)
	synctest.Wait()
}

func (l *life) restart() {
	if l.rng.IntN(2) == 0 {
		l.stop()
	} else {
		l.settle() // what was not committed yet may be lost, which the model does not know
		l.kill()
	}
	time.Sleep(l.pause())
	l.open()
}

func (l *life) happen(m *model) {
	switch n := l.rng.IntN(10); {
	case n < 5:
		l.errors++
		text := fmt.Sprintf("error %d", l.errors)
		m.fail(text)
		l.ends(m.task, []ax.Status{ax.StatusFailed, ax.StatusTimeout, ax.StatusLost}[l.rng.IntN(3)], text)
	case n < 8:
		m.succeed()
		l.succeeds(m.task)
	default:
		switch l.rng.IntN(3) {
		case 0:
			m.told["missed"]++
			l.drops(m.task, ax.StatusMissed, "for some reason")
		case 1:
			m.told["skipped"]++
			l.drops(m.task, ax.StatusSkipped, "for some reason")
		default:
			m.told["parked"]++
			l.happens(m.task, ax.TaskParked, "for some reason")
		}
	}
}

func (m *model) fail(text string) {
	m.streak++
	m.untold++
	if m.streak >= m.task.Notify.After {
		m.told["failure"] += m.untold
		m.untold, m.newest = 0, text
	}
}

func (m *model) succeed() {
	if m.streak >= m.task.Notify.After {
		m.told["recovered"]++
	}
	m.streak, m.untold = 0, 0
}

// sortOf joins the kinds of failures, since a restart forgets which of them
// those below the threshold were.
func sortOf(event string) string {
	if event == "failed" || event == "timeout" || event == "lost" {
		return "failure"
	}
	return event
}

func (l *life) check() {
	l.checkSpacing()
	for _, m := range l.models {
		for _, notifier := range m.task.Notify.To {
			l.checkTold(m, notifier)
		}
		row, err := l.store.Task(context.Background(), "shop", m.task.Name)
		l.must(err)
		if row.Failures != m.streak {
			l.t.Errorf("%s: %d failures in a row are kept, want %d", m.task.Name, row.Failures, m.streak)
		}
	}
}

// checkSpacing checks that no two messages are within one window, and that none
// was taken twice.
func (l *life) checkSpacing() {
	newest, seen := map[string]delivery{}, map[string]bool{}
	for _, d := range l.taken() {
		key := d.notifier + " " + d.msg.Task
		// The database keeps times in microseconds.
		if before, ok := newest[key]; ok && d.at.Sub(before.at) < window-time.Microsecond {
			l.t.Errorf("%v and %v are closer than the window", before, d)
		}
		if seen[d.msg.ID] {
			l.t.Errorf("%v was taken twice", d)
		}
		newest[key], seen[d.msg.ID] = d, true
	}
}

// checkTold checks that the messages of one thread add up, and end with the
// newest error.
func (l *life) checkTold(m *model, notifier string) {
	got, total := map[string]int{}, 0
	for _, row := range l.rows() {
		if row.TaskID != m.task.ID || row.Notifier != notifier {
			continue
		}
		for event, n := range l.tallies(row) {
			got[sortOf(event)] += n
			total += n
		}
		if row.State != ax.AlertSent {
			l.t.Errorf("%s to %s: row %d is %s", m.task.Name, notifier, row.ID, row.State)
		}
	}
	if fmt.Sprint(got) != fmt.Sprint(m.told) {
		l.t.Errorf("%s to %s: told %v, want %v", m.task.Name, notifier, got, m.told)
	}
	newest, counted := "", 0
	for _, d := range l.taken() {
		if d.msg.Task == m.task.Name && d.notifier == notifier {
			counted += d.msg.Count
			if d.msg.LastError != "" {
				newest = d.msg.LastError
			}
		}
	}
	if counted != total {
		l.t.Errorf("%s to %s: the messages tell of %d events, want %d", m.task.Name, notifier, counted, total)
	}
	if newest != m.newest {
		l.t.Errorf("%s to %s: the newest error shown is %q, want %q", m.task.Name, notifier, newest, m.newest)
	}
}
