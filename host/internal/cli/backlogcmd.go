package cli

import (
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/axsched/ax/host/internal/api"
)

func (p *program) backlogCommand() *cobra.Command {
	var n int
	c := command(&cobra.Command{
		Use:   "backlog",
		Short: "Show what waits and why, and which tasks are slow",
		Long: `Show how busy a host is, by task what runs and what waits and why, and the tasks
whose runs took longest during the last day. What waits longest comes first.

QUEUED runs wait for a worker, WAITING ones for the limit of their task. A queue
that stays full means that the workers do not keep up: look at the slowest tasks.`,
		Example: `  ax backlog
  ax backlog -n 50
  ax backlog -o json | jq '.tasks[] | select(.queued > 0)'`,
	}, "tasks", func(cmd *cobra.Command, _ []string) error {
		if n < 1 {
			return usage(fmt.Errorf("--limit: expected a positive number, got %d", n))
		}
		host, err := p.client(cmd)
		if err != nil {
			return err
		}
		var backlog api.Backlog
		if err := host.get(cmd.Context(), api.Base+"/backlog", url.Values{"n": {strconv.Itoa(n)}}, &backlog); err != nil {
			return err
		}
		return p.show(backlog, func() string { return p.backlogText(backlog) })
	})
	c.Flags().IntVarP(&n, "limit", "n", 10, "how many tasks to show at most, of those that wait and of the slow ones")
	return c
}

func (p *program) backlogText(b api.Backlog) string {
	var f fields
	f.add("workers", fmt.Sprintf("%d of %d busy", b.Busy, b.Workers))
	f.add("queue", fmt.Sprintf("%d of %d places taken", b.QueueDepth, b.QueueLimit))
	if b.Held > 0 {
		f.add("held", count(b.Held, "task")+" due, without room in the queue")
	}
	text := f.String()
	if len(b.Tasks) == 0 {
		text += "\nnothing runs or waits\n"
	} else {
		text += "\n" + p.waitingText(b.Tasks)
	}
	if more := b.TasksTotal - len(b.Tasks); more > 0 {
		text += fmt.Sprintf("and %s, see -n\n", count(more, "more task"))
	}
	if len(b.Slow) > 0 {
		text += fmt.Sprintf("\nslowest since %s:\n", p.clock(b.SlowSince)) + slowText(b.Slow)
	}
	return text
}

func (p *program) waitingText(tasks []api.BacklogTask) string {
	t := newTable("TASK", "RUNNING", "SINCE", "QUEUED", "WAITING", "RETRYING", "OLDEST DUE", "WHY IT WAITS")
	for _, task := range tasks {
		since := ""
		if !task.RunningSince.IsZero() {
			since = distance(task.RunningSince.Sub(p.Now()))
		}
		var why []string
		for _, reason := range task.Why {
			why = append(why, p.reasonText(reason))
		}
		t.add(task.Task, number(task.Running), since, number(task.Queued), number(task.Waiting),
			number(task.Retrying), p.when(task.OldestDue), strings.Join(why, "; "))
	}
	return t.String()
}

func (p *program) reasonText(r api.WaitReason) string {
	text := oneLine(r.Text)
	switch {
	case r.Until.IsZero():
		return text
	case r.Cause == api.WaitParked, r.Cause == api.WaitError:
		return text + ", tried again " + distance(r.Until.Sub(p.Now()))
	default:
		return text + ", until " + p.when(r.Until)
	}
}

func slowText(slow []api.SlowTask) string {
	t := newTable("TASK", "RUNS", "FAILURES", "AVERAGE", "LONGEST")
	for _, task := range slow {
		t.add(task.Task, strconv.FormatInt(task.Runs, 10), strconv.FormatInt(task.Failures, 10), task.Average, task.Longest)
	}
	return t.String()
}

// number shows a count, and nothing for zero, so that the others stand out.
func number(n int) string {
	if n == 0 {
		return ""
	}
	return strconv.Itoa(n)
}
