package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"
)

// vector is a line of testdata/vectors.jsonl.
type vector struct {
	ID, Kind, Expr, Zone, After string
	Next                        []time.Time
	Config                      struct {
		Every, Anchor, Time, Weekday, Calendar string
		N                                      int
		Exclude                                []string
		ExcludeCalendar                        string `json:"exclude_calendar"`
	}
}

// question is a line of input of "ax next --stdin".
type question struct {
	ID       string   `json:"id"`
	Cron     *string  `json:"cron,omitempty"`
	Every    string   `json:"every,omitempty"`
	Anchor   string   `json:"anchor,omitempty"`
	Trigger  *trigger `json:"trigger,omitempty"`
	Timezone string   `json:"timezone,omitempty"`
	Calendar string   `json:"calendar,omitempty"`
	After    string   `json:"after"`
	N        int      `json:"n"`
}

type trigger struct {
	Use       string         `json:"use"`
	With      map[string]any `json:"with"`
	Calendars []string       `json:"calendars,omitempty"`
}

// answer is a line of its output.
type answer struct {
	ID    string
	Next  *[]time.Time
	Error string
}

// question asks a vector in the words of the configuration.
func (v vector) question() question {
	q := question{ID: v.ID, Timezone: v.Zone, After: v.After, N: max(1, len(v.Next))}
	switch v.Kind {
	case "interval", "interval-error":
		q.Every, q.Anchor = v.Config.Every, v.Config.Anchor
	case "lastweekday":
		q.Trigger = &trigger{Use: "lastweekday", With: map[string]any{"weekday": v.Config.Weekday, "time": v.Config.Time}}
	case "workday":
		q.Trigger = &trigger{Use: "workday", With: map[string]any{"calendar": "china", "time": v.Config.Time}, Calendars: []string{"china"}}
	case "nth-workday":
		q.Trigger = &trigger{
			Use:       "workday",
			With:      map[string]any{"calendar": "china", "mode": "nth", "n": v.Config.N, "time": v.Config.Time},
			Calendars: []string{"china"},
		}
	case "weekly-not-monthend":
		q.Cron, q.Calendar = new("0 0 9 ? * MON"), "not-month-end"
	case "calendar":
		q.Cron, q.Calendar = &v.Expr, v.ID
		if v.Config.ExcludeCalendar != "" {
			q.Calendar = "holidays"
		}
	default:
		q.Cron = &v.Expr
	}
	return q
}

// ask has the program answer questions, with the world's configuration.
func (w *world) ask(questions []question) map[string]answer {
	w.t.Helper()
	var input strings.Builder
	encoder := json.NewEncoder(&input)
	for _, q := range questions {
		w.must(encoder.Encode(q))
	}
	r := w.axWith(input.String(), "next", "--stdin", "--config", w.path("ax.yaml"))
	if r.code != 0 {
		w.t.Fatalf("ax next: exit code %d: %s", r.code, r.err)
	}
	answers := map[string]answer{}
	for i, line := range strings.Split(strings.TrimSuffix(r.out, "\n"), "\n") {
		var a answer
		if err := json.Unmarshal([]byte(line), &a); err != nil {
			w.t.Fatalf("answer %q: %v", line, err)
		}
		if i >= len(questions) || a.ID != questions[i].ID {
			w.t.Fatalf("answer %d is to %q", i, a.ID)
		}
		answers[a.ID] = a
	}
	if len(answers) != len(questions) {
		w.t.Fatalf("%d answers to %d questions", len(answers), len(questions))
	}
	return answers
}

// newNextWorld makes a world with the real trigger plugins and the calendars
// that the vectors name.
func newNextWorld(t *testing.T, vectors []vector) *world {
	t.Helper()
	w := newWorld(t, "lastweekday", "workday", "random")
	w.must(os.CopyFS(w.path("calendars"), os.DirFS("../../calendars")))
	var b strings.Builder
	b.WriteString("calendars:\n")
	b.WriteString("  china: {weekly: MON-FRI, files: [calendars/cn-2024-2026.csv]}\n")
	b.WriteString("  holidays: {files: [calendars/cn-2024-2026.csv]}\n")
	b.WriteString("  not-month-end: {closed: [monthly last]}\n")
	for _, v := range vectors {
		if len(v.Config.Exclude) > 0 {
			fmt.Fprintf(&b, "  %s: {closed: [%s]}\n", v.ID, strings.Join(v.Config.Exclude, ", "))
		}
	}
	w.config(b.String() + "tasks: []\n")
	return w
}

func readVectors(t *testing.T) []vector {
	t.Helper()
	text, err := os.ReadFile("testdata/vectors.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	var vectors []vector
	for line := range strings.Lines(string(text)) {
		var v vector
		if err := json.Unmarshal([]byte(line), &v); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		vectors = append(vectors, v)
	}
	return vectors
}

// The program and its plugins know the due times that others have got wrong.
func TestNextVectors(t *testing.T) {
	t.Parallel()
	vectors := readVectors(t)
	w := newNextWorld(t, vectors)
	var questions []question
	for _, v := range vectors {
		questions = append(questions, v.question())
	}
	answers := w.ask(questions)
	kinds := map[string]int{}
	for _, v := range vectors {
		kinds[v.Kind]++
		a := answers[v.ID]
		switch {
		case strings.HasSuffix(v.Kind, "-error"):
			if a.Error == "" || a.Next != nil {
				t.Errorf("%s %q: got %v, want an error", v.ID, v.Expr, a.Next)
			}
		case v.Kind == "cron-never":
			if a.Error == "" && (a.Next == nil || len(*a.Next) > 0) {
				t.Errorf("%s %q: got %v, want never", v.ID, v.Expr, a.Next)
			}
		case a.Error != "":
			t.Errorf("%s: %s", v.ID, a.Error)
		case !slices.EqualFunc(*a.Next, v.Next, time.Time.Equal):
			t.Errorf("%s %q:\ngot  %v\nwant %v", v.ID, v.Expr, *a.Next, v.Next)
		}
	}
	for kind, want := range map[string]int{
		"cron": 57, "cron-error": 16, "cron-never": 3, "interval": 2, "interval-error": 2, "calendar": 3,
		"lastweekday": 2, "workday": 2, "nth-workday": 2, "weekly-not-monthend": 1,
	} {
		if kinds[kind] != want {
			t.Errorf("%d vectors of kind %s, want %d", kinds[kind], kind, want)
		}
	}
}

// The times that a host plans are those that "ax next" foretells, and a random
// trigger draws the same ones in every process.
func TestNextAgreesWithTheHost(t *testing.T) {
	t.Parallel()
	w := newNextWorld(t, nil)
	w.install("worker", "worker")
	w.config(`
calendars: {china: {weekly: MON-FRI, files: [calendars/cn-2024-2026.csv]}}
defaults: {timezone: Asia/Shanghai}
tasks:
- {name: cron, cron: "0 30 3 ? * MON-FRI", calendar: china, on_closed: next, job: {use: work}}
- {name: every, every: 7h, anchor: "2026-01-01", job: {use: work}}
- {name: last-friday, trigger: {use: lastweekday, with: {weekday: FRI, time: "02:00"}}, job: {use: work}}
- {name: workday, trigger: {use: workday, with: {calendar: china, time: "10:00"}, calendars: [china]}, job: {use: work}}
- {name: random, trigger: {use: random, with: {from: "01:00", to: "05:00"}}, job: {use: work}}
`)
	names := []string{"cron", "every", "last-friday", "workday", "random"}
	after := time.Now().Format(time.RFC3339)
	foretold := map[string]string{}
	for _, name := range names {
		foretold[name] = w.axOK("next", name, "--config", "ax.yaml", "--after", after, "-n", "20", "-o", "json")
	}
	h := w.start()
	for _, name := range names {
		if got := w.axOK("next", name, "--after", after, "-n", "20", "-o", "json"); got != foretold[name] {
			t.Errorf("%s: the host answers %s, without a host it was %s", name, got, foretold[name])
		}
		var times struct{ Next []time.Time }
		w.must(json.Unmarshal([]byte(foretold[name]), &times))
		eventually(t, patience, func() error {
			if task := w.tasks()[name]; len(times.Next) == 0 || !task.NextAt.Equal(times.Next[0]) {
				return fmt.Errorf("%s is due %s, foretold was %v", name, task.NextAt, times.Next)
			}
			return nil
		})
	}
	h.stop()
}

// 20,000 questions are answered in one go, triggers of plugins among them.
func TestNextManyLines(t *testing.T) {
	t.Parallel()
	vectors := readVectors(t)
	w := newNextWorld(t, vectors)
	var questions []question
	for i := range 20_000 {
		q := vectors[i%len(vectors)].question()
		q.ID = fmt.Sprint(i)
		questions = append(questions, q)
	}
	begin := time.Now()
	answers := w.ask(questions)
	took := time.Since(begin)
	t.Logf("%d lines took %s", len(questions), took.Round(time.Millisecond))
	if took > time.Minute { // 10 s on an idle machine
		t.Errorf("%d lines took %s", len(questions), took)
	}
	for i, v := range vectors {
		if len(v.Next) == 0 {
			continue
		}
		last := len(questions)/len(vectors)*len(vectors) - len(vectors) + i
		if a := answers[fmt.Sprint(last)]; a.Next == nil || !slices.EqualFunc(*a.Next, v.Next, time.Time.Equal) {
			t.Errorf("line %d, %s: got %v %s, want %v", last, v.ID, a.Next, a.Error, v.Next)
		}
	}
}
