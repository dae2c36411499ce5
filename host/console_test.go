package host

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/axsched/ax/host/internal/api"
	"github.com/axsched/ax/host/internal/ax"
	"github.com/axsched/ax/host/internal/console"
)

const consoleTasks = `- {name: close-day, group: billing, cron: "0 0 2 * * ?", description: Closes the books, labels: {team: Finance}, job: {use: exec}}
- {name: close-month, group: billing, cron: "0 0 3 1 * ?", job: {use: exec}}
- {name: 对账, every: 1h, job: {use: http}}
- {name: old, every: 1h, enabled: false, job: {use: http}}
`

// names are those of the tasks that a search finds.
func names(t *testing.T, p pages, s console.TaskSearch) string {
	t.Helper()
	if s.Size == 0 {
		s.Size = 10
	}
	found, err := p.FindTasks(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, task := range found.Tasks {
		all = append(all, task.Name)
	}
	return strings.Join(all, " ")
}

func TestFindTasks(t *testing.T) {
	t.Parallel()
	h, _, _ := started(t, consoleTasks)
	p := pages{backend{h}, newTally(h), &seen{}}
	if err := p.Pause(t.Context(), "close-month", time.Time{}, "test"); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		search console.TaskSearch
		want   string
	}{
		{console.TaskSearch{}, "close-day close-month old 对账"},
		{console.TaskSearch{Text: " CLOSE "}, "close-day close-month"},
		{console.TaskSearch{Text: "books"}, "close-day"},
		{console.TaskSearch{Text: "team=fin"}, "close-day"},
		{console.TaskSearch{Group: "billing", Job: "exec"}, "close-day close-month"},
		{console.TaskSearch{Job: "http"}, "old 对账"},
		{console.TaskSearch{State: string(api.TaskOff)}, "old"},
		{console.TaskSearch{State: string(api.TaskPaused)}, "close-month"},
		{console.TaskSearch{State: console.StateFailing}, ""},
		{console.TaskSearch{Node: "nowhere"}, ""},
		{console.TaskSearch{Page: 2, Size: 3}, "对账"},
		{console.TaskSearch{Page: 9, Size: 3}, ""},
	} {
		if got := names(t, p, test.search); got != test.want {
			t.Errorf("%+v finds %q, want %q", test.search, got, test.want)
		}
	}
}

// counted waits for the first round of counting, for which a page waits only so
// long.
func counted(t *testing.T, tally *tally) {
	t.Helper()
	tally.hours(t.Context())
	tally.mu.Lock()
	running := tally.running
	tally.mu.Unlock()
	if running != nil {
		<-running
	}
}

// TestFailuresAreCounted: how often a task failed is known to those who gather
// alerts, and shown wherever tasks are.
func TestFailuresAreCounted(t *testing.T) {
	t.Parallel()
	h, _, _ := started(t, consoleTasks)
	tally := newTally(h)
	p := pages{backend{h}, tally, &seen{}}
	counted(t, tally)
	lease, err := h.store.AlertLease(t.Context(), "a")
	if err != nil {
		t.Fatal(err)
	}
	id := ax.NewTaskID("a", "close-day")
	if err := h.store.WriteAlerts(t.Context(), ax.AlertBatch{Lease: lease, TTL: time.Hour, Tasks: []ax.AlertTask{{App: "a", TaskID: id, Failures: 3}}}); err != nil {
		t.Fatal(err)
	}
	if task, err := p.Task(t.Context(), "close-day"); err != nil || task.Failures != 3 {
		t.Errorf("the task has %d failures, %v", task.Failures, err)
	}
	if got := names(t, p, console.TaskSearch{State: console.StateFailing}); got != "close-day" {
		t.Errorf("failing: %q", got)
	}
	o, err := p.Overview(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if o.FailingTotal != 1 || len(o.Failing) != 1 || o.Failing[0].Failures != 3 {
		t.Errorf("failing: %d, %+v", o.FailingTotal, o.Failing)
	}
	if !o.Database.OK || len(o.Nodes) != 1 || len(o.Hours) != tallyHours {
		t.Errorf("the overview: %+v", o)
	}
}

// TestConsoleOfHost: all pages of a real host can be shown.
func TestConsoleOfHost(t *testing.T) {
	t.Parallel()
	h, _, _ := started(t, consoleTasks)
	handler, err := h.newConsole()
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{
		"/", "/tasks", "/tasks/close-day", "/tasks/%E5%AF%B9%E8%B4%A6", "/runs", "/runs?status=FAILED&task=old", "/alerts", "/calendars", "/nodes", "/plugins", "/audit",
	} {
		w := httptest.NewRecorder()
		ctx := ax.WithCaller(t.Context(), ax.Caller{Name: "ann", Role: ax.RoleAdmin})
		handler.ServeHTTP(w, httptest.NewRequestWithContext(ctx, http.MethodGet, path, nil))
		if w.Code != http.StatusOK {
			t.Errorf("%s: %d %s", path, w.Code, w.Body)
		}
	}
}
