package cli

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/axsched/ax/host/internal/ax"
	"github.com/axsched/ax/host/internal/preview"
	"github.com/axsched/ax/host/internal/trigger"
)

// previewed is what there is to show of a schedule.
type previewed struct {
	// Words are left out of the answers to lines that do not ask for them.
	Words  preview.Words    `json:"words,omitzero"`
	Next   []time.Time      `json:"next,omitzero"`
	Beyond []preview.Beyond `json:"beyond,omitempty"`
	Why    []preview.Step   `json:"why,omitempty"`
}

// span is which due times to show.
type span struct {
	after time.Time
	n     int
	why   bool
	words bool
}

// timetable makes the trigger of a schedule that is first seen at an instant.
func (s *NextSource) timetable(task string, schedule ax.Schedule, firstSeen time.Time) (*trigger.Timetable, error) {
	return trigger.Compile(trigger.Spec{
		Schedule: schedule, Task: task, Calendars: s.Calendars, Plugins: s.Plugins, AnchorAt: firstSeen,
	})
}

// preview computes due times, as many as are asked for or as there are.
func (s *NextSource) preview(ctx context.Context, task string, schedule ax.Schedule, of span) (previewed, error) {
	table, err := s.timetable(task, schedule, of.after)
	if err != nil {
		return previewed{}, err
	}
	var p previewed
	if p.Next, err = preview.Next(ctx, table, of.after, of.n); err != nil {
		return previewed{}, err
	}
	p.Beyond = preview.Unlisted(table, p.Next)
	if of.words {
		if s.Shown != nil {
			schedule = s.Shown(schedule)
		}
		p.Words = preview.Describe(&schedule, task)
	}
	if of.why {
		p.Why, err = preview.Why(ctx, table, of.after, p.Next, len(p.Next) < of.n)
	}
	return p, err
}

// showTimes writes what a schedule says in words, then its due times, a line
// each.
func (p *program) showTimes(task string, found previewed, named bool) error {
	if found.Next == nil {
		found.Next = []time.Time{} // [] in JSON
	}
	answer := struct {
		Task string `json:"task,omitempty"`
		previewed
	}{task, found}
	return p.show(answer, func() string {
		var b strings.Builder
		switch words := printable(found.Words.In(p.language())); {
		case !named:
			b.WriteString(words + "\n")
		default:
			fmt.Fprintf(&b, "%s: %s\n", printable(task), words)
		}
		if found.Why == nil {
			p.writeTimes(&b, found)
		}
		for _, step := range found.Why {
			b.WriteString(p.stepLine(step) + "\n")
		}
		if len(found.Next) == 0 {
			b.WriteString("never\n")
		}
		return b.String()
	})
}

func (p *program) writeTimes(b *strings.Builder, found previewed) {
	beyond := found.Beyond
	for _, t := range found.Next {
		b.WriteString(p.dueText(t))
		if len(beyond) > 0 && beyond[0].At.Equal(t) {
			for _, name := range beyond[0].Calendars {
				b.WriteString("; " + trigger.BeyondText(printable(name)))
			}
			beyond = beyond[1:]
		}
		b.WriteByte('\n')
	}
}

// zoned shows a time in its own zone, to the millisecond if it has some.
func zoned(t time.Time) string { return t.Format("2006-01-02 15:04:05.999 -07:00 Mon") }

func (p *program) dueText(t time.Time) string {
	return zoned(t) + " (" + distance(t.Sub(p.Now())) + ")"
}

// stepLine shows what becomes of a candidate.
func (p *program) stepLine(s preview.Step) string {
	line := zoned(s.At)
	switch {
	case !s.Last.IsZero():
		line += fmt.Sprintf(" to %s, %d times", zoned(s.Last), s.Times)
	case s.Verdict == trigger.VerdictMoved:
		line += " moved to " + p.dueText(s.Due)
	case s.Due.Equal(s.At):
		line = p.dueText(s.At)
	case !s.Due.IsZero():
		line += " due at " + p.dueText(s.Due)
	}
	if s.Due.IsZero() && s.Verdict != trigger.VerdictMerged {
		line += " left out"
	}
	if s.Reason != "" {
		line += ": " + printable(s.Reason)
	}
	return line
}
