package cli

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/axsched/ax/host/internal/preview"
	"github.com/axsched/ax/host/internal/trigger"
)

// changesText shows a plan: tasks that are added, changed and removed, each behind
// a sign, then how many there are.
func (p *program) changesText(plan *preview.Plan) string {
	var b strings.Builder
	for _, warning := range plan.Warnings {
		b.WriteString("warning: " + printable(warning) + "\n")
	}
	for _, task := range plan.Added {
		fmt.Fprintf(&b, "+ %s\n", printable(task.Task))
		p.planTimes(&b, "due", task.After, task)
	}
	for _, task := range plan.Changed {
		p.planChange(&b, task)
	}
	for _, task := range plan.Removed {
		fmt.Fprintf(&b, "- %s\n", printable(task.Task))
		p.planTimes(&b, "no longer due", task.Before, task)
	}
	if plan.Empty() {
		b.WriteString("no task changes; ")
	}
	fmt.Fprintf(&b, "tasks: %d to add, %d to change, %d to remove, %d unchanged\n",
		len(plan.Added), len(plan.Changed), len(plan.Removed), plan.Unchanged)
	return b.String()
}

func (p *program) planChange(b *strings.Builder, task preview.TaskPlan) {
	fmt.Fprintf(b, "~ %s\n", printable(task.Task))
	for _, f := range task.Fields {
		value := "differs"
		if f.Before != "" || f.After != "" {
			value = fmt.Sprintf("%s -> %s", p.quoted(f.Before), p.quoted(f.After))
		}
		fmt.Fprintf(b, "    %s: %s\n", printable(f.Field), value)
	}
	if slices.EqualFunc(task.Before, task.After, time.Time.Equal) {
		p.planTimes(b, "due as before", task.After, task)
	} else {
		p.planTimes(b, "due before", task.Before, preview.TaskPlan{})
		p.planTimes(b, "due after", task.After, task)
	}
	if task.MovesTotal == 0 {
		return
	}
	b.WriteString("    in the next 90 days:\n")
	for _, m := range task.Moves {
		b.WriteString("      " + p.moveText(m) + "\n")
	}
	if more := task.MovesTotal - len(task.Moves); more > 0 {
		fmt.Fprintf(b, "      and %d more\n", more)
	}
}

// quoted shows a value, which may be missing.
func (p *program) quoted(value string) string {
	if value == "" {
		return "nothing"
	}
	return printable(p.cut(value, 80))
}

// planTimes shows due times under a title, with what there is to say of them.
func (p *program) planTimes(b *strings.Builder, title string, times []time.Time, task preview.TaskPlan) {
	if task.Note != "" {
		fmt.Fprintf(b, "    due times: not known: %s\n", printable(task.Note))
	}
	if len(times) == 0 {
		return
	}
	fmt.Fprintf(b, "    %s:\n", title)
	beyond := task.Beyond
	for _, at := range times {
		fmt.Fprintf(b, "      %s", p.dueText(at.In(p.Zone)))
		if len(beyond) > 0 && beyond[0].At.Equal(at) {
			for _, name := range beyond[0].Calendars {
				b.WriteString("; " + trigger.BeyondText(printable(name)))
			}
			beyond = beyond[1:]
		}
		b.WriteByte('\n')
	}
}

// moveText and planTimes show times by the clock of the person, whatever zones the
// tasks have: an output in which they differ cannot be compared.
func (p *program) moveText(m preview.Move) string {
	zoned := func(t time.Time) string { return zoned(t.In(p.Zone)) }
	var text string
	switch {
	case m.After.IsZero():
		text = zoned(m.Before) + " is left out"
	case m.Before.IsZero():
		text = zoned(m.After) + " is new"
	default:
		text = zoned(m.Before) + " moves to " + zoned(m.After)
	}
	if m.Reason != "" {
		text += ": " + printable(m.Reason)
	}
	return text
}
