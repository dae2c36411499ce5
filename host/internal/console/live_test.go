package console_test

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/axsched/ax/host/internal/api"
	"github.com/axsched/ax/host/internal/api/apitest"
	"github.com/axsched/ax/host/internal/ax"
)

// liveRun is a run that goes on while it is looked at.
type liveRun struct {
	mu      sync.Mutex
	run     ax.Instance
	events  []ax.Event
	signals chan struct{}
}

func newLiveRun(s *sample) *liveRun {
	l := &liveRun{run: apitest.SampleInstances()[0], events: apitest.SampleEvents(104), signals: make(chan struct{}, 1)}
	l.run.Deferred = false
	s.OnInstance = func(context.Context, ax.InstanceID) (ax.Instance, error) {
		l.mu.Lock()
		defer l.mu.Unlock()
		return l.run, nil
	}
	s.OnEvents = func(_ context.Context, f ax.EventFilter) ([]ax.Event, error) {
		l.mu.Lock()
		defer l.mu.Unlock()
		var found []ax.Event
		for _, e := range l.events {
			if e.ID > f.After {
				found = append(found, e)
			}
		}
		return found, nil
	}
	s.OnFollow = func(context.Context, ax.InstanceID) (<-chan struct{}, error) { return l.signals, nil }
	return l
}

// says adds a line of output.
func (l *liveRun) says(text string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	last := l.events[len(l.events)-1]
	l.events = append(l.events, ax.Event{ID: last.ID + 1, At: last.At.Add(time.Second), Attempt: 1, Stage: ax.StageOutput, Level: "output", Text: text})
	l.signals <- struct{}{}
}

// ends makes it a success.
func (l *liveRun) ends() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.run.Status, l.run.EndedAt = ax.StatusSuccess, l.run.StartedAt.Add(time.Minute)
	close(l.signals)
}

// TestLiveLog: lines come as they are written, each once and as text, and the
// end is seen without a click.
func TestLiveLog(t *testing.T) {
	t.Parallel()
	sample, _ := newSample(t)
	run := newLiveRun(sample)
	server := serve(t, config(sample))
	tab := open(t, browser(t), server.URL, look{"en", "light", 1280})
	tab.visit("/runs/104")
	run.says("second line")
	tab.run(chromedp.WaitVisible(`#lines > div:nth-child(2)`))
	run.says("<img src=x onerror=alert(1)>")
	tab.run(chromedp.WaitVisible(`#lines > div:nth-child(3)`))
	var log, state string
	tab.run(chromedp.Text("#lines", &log), chromedp.Text("#state .status", &state))
	for _, want := range []string{"11:00:00.020", "对账 started", "11:00:02.500", "second line", "<img src=x onerror=alert(1)>"} {
		if strings.Count(log, want) != 1 {
			t.Errorf("the log has %q not once: %q", want, log)
		}
	}
	if state != "running" {
		t.Errorf("it is %q", state)
	}
	run.ends()
	tab.run(chromedp.WaitVisible(`#state .s-success`), chromedp.WaitNotPresent(`form[action$="/cancel"]`), chromedp.WaitNotPresent("#follow"))
	tab.complain("/runs/104")
}

// TestSearchAsYouType: the list follows what is typed, and the address with it.
func TestSearchAsYouType(t *testing.T) {
	t.Parallel()
	sample, _ := newSample(t)
	server := serve(t, config(sample))
	tab := open(t, browser(t), server.URL, look{"en", "light", 1280})
	tab.visit("/tasks")
	tab.run(chromedp.SendKeys(`input[name=q]`, "warm"), chromedp.WaitNotPresent(`input[value="billing/close-day"]`), chromedp.WaitVisible(`input[value="warm-up"]`))
	var address, focus string
	tab.run(chromedp.Location(&address), chromedp.Evaluate("document.activeElement.name", &focus))
	if !strings.Contains(address, "q=warm") || focus != "q" {
		t.Errorf("the address is %s, the focus on %q", address, focus)
	}
	tab.complain("/tasks")
}

// TestKeyboard: a task can be started without a mouse, from the first key on.
func TestKeyboard(t *testing.T) {
	t.Parallel()
	sample, changes := newSample(t)
	run := sample.OnRun
	sample.OnRun = func(ctx context.Context, name string, o api.RunOptions) (ax.InstanceID, error) {
		_, err := run(ctx, name, o)
		return 104, err
	}
	server := serve(t, config(sample))
	tab := open(t, browser(t), server.URL, look{"en", "light", 1280})
	tab.visit("/tasks/warm-up")
	var skip, focus string
	tab.run(chromedp.KeyEvent(kb.Tab), chromedp.Evaluate("document.activeElement.className", &skip), chromedp.KeyEvent(kb.Enter),
		chromedp.Evaluate("document.activeElement.id || document.activeElement.tagName", &focus))
	if skip != "skip" || focus != "main" {
		t.Errorf("the first key leads to %q and then to %q", skip, focus)
	}
	tab.run(
		chromedp.KeyEvent(kb.Tab), chromedp.KeyEvent(kb.Enter), // opens the form
		chromedp.WaitVisible("textarea[name=params]"),
		chromedp.KeyEvent(kb.Tab), chromedp.KeyEvent(`{"rows": 1}`),
		chromedp.KeyEvent(kb.Tab), chromedp.KeyEvent(" "), // the box
		chromedp.KeyEvent(kb.Tab), chromedp.KeyEvent(kb.Enter),
		chromedp.WaitVisible(`p[role=status]`),
	)
	if made := changes.List(); len(made) != 1 || made[0] != `run warm-up {"rows":1} force=true by console` {
		t.Errorf("changes: %q", made)
	}
}
