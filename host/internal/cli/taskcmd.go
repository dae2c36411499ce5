package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/axsched/ax/host/internal/api"
	"github.com/axsched/ax/pluginapi"
)

// noteWidth is how many columns a note takes in a table.
const noteWidth = 60

func (p *program) tasksCommand() *cobra.Command {
	var prefix, group string
	c := command(&cobra.Command{
		Use:   "tasks [TASK]",
		Short: "List tasks, or show one",
		Long: `List tasks, or show one with its schedule in plain language. NEXT is the next due
time, of a paused task the first one after its pause. NOTE says why a task is
parked, how long it is paused, or how often it failed in a row.

States: on; off, disabled in the configuration; paused, by a person; parked, it
cannot be scheduled; done, no due time is left.`,
		Example:           "  ax tasks\n  ax tasks --prefix billing/\n  ax tasks nightly-report -o json",
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: p.taskNames,
	}, "tasks", func(cmd *cobra.Command, args []string) error {
		if err := p.checkLang(); err != nil {
			return err
		}
		host, err := p.client(cmd)
		if err != nil {
			return err
		}
		if len(args) == 1 {
			var task api.TaskView
			if err := host.get(cmd.Context(), taskPath(args[0]), nil, &task); err != nil {
				return err
			}
			return p.show(task, func() string { return p.taskText(task) })
		}
		list, err := host.tasks(cmd.Context(), url.Values{"prefix": {prefix}, "group": {group}})
		if err != nil {
			return err
		}
		return p.show(list, func() string { return p.tasksText(list.Tasks) })
	})
	c.Flags().StringVar(&prefix, "prefix", "", "only tasks whose names begin with this `TEXT`")
	c.Flags().StringVar(&group, "group", "", "only tasks of this `GROUP`")
	p.langFlag(c)
	p.defineCommands(c)
	return c
}

// tasks returns all pages of a list.
func (c *client) tasks(ctx context.Context, query url.Values) (api.TaskList, error) {
	all := api.TaskList{Tasks: []api.TaskView{}}
	for {
		var page api.TaskList
		if err := c.get(ctx, api.Base+"/tasks", query, &page); err != nil {
			return all, err
		}
		all.Tasks = append(all.Tasks, page.Tasks...)
		if page.Next == "" {
			return all, nil
		}
		query.Set("after", page.Next)
	}
}

func (p *program) tasksText(tasks []api.TaskView) string {
	t := newTable("TASK", "STATE", "SCHEDULE", "NEXT", "LAST", "NOTE")
	for _, task := range tasks {
		t.add(task.Name, string(task.State), p.cut(task.Schedule.Text(), 40), p.when(task.NextAt),
			string(task.LastStatus), p.cut(p.taskNote(task), noteWidth))
	}
	return t.String()
}

// taskNote says what is out of the ordinary.
func (p *program) taskNote(task api.TaskView) string {
	switch {
	case task.Parked != "":
		return task.Parked
	case task.State == api.TaskPaused && task.PausedUntil.IsZero():
		return "until it is resumed"
	case task.State == api.TaskPaused:
		return "until " + p.when(task.PausedUntil)
	case task.Failures > 0:
		return count(task.Failures, "failure") + " in a row"
	}
	return ""
}

func (p *program) taskText(task api.TaskView) string {
	var f fields
	f.add("task", task.Name)
	f.add("description", task.Description)
	f.add("state", string(task.State))
	f.add("note", p.taskNote(task))
	f.add("schedule", task.Schedule.Text())
	f.add("in words", task.Schedule.Words.In(p.language()))
	f.add("timezone", task.Schedule.Timezone)
	if task.Schedule.RepeatCount != nil {
		f.add("repeat count", strconv.Itoa(*task.Schedule.RepeatCount))
	}
	f.add("from", p.clock(task.Schedule.From))
	f.add("until", p.clock(task.Schedule.Until))
	if len(task.Schedule.Blackouts) > 0 {
		f.add("blackouts", fmt.Sprintf("%s (due times in them: %s)", strings.Join(task.Schedule.Blackouts, "; "), task.Schedule.OnBlackout))
	}
	f.add("jitter", task.Schedule.Jitter)
	if task.Schedule.Calendar != "" {
		f.add("calendar", fmt.Sprintf("%s (on closed days: %s)", task.Schedule.Calendar, task.Schedule.OnClosed))
	}
	f.add("next", p.when(task.NextAt))
	f.add("previous", p.when(task.PrevAt))
	if task.LastID != "" {
		f.add("last run", fmt.Sprintf("%s %s", task.LastID, task.LastStatus))
	}
	f.add("running", strconv.Itoa(task.Running))
	f.add("job", task.Job)
	f.add("timeout", task.Timeout)
	f.add("attempts", strconv.Itoa(task.Attempts))
	limit := "no limit"
	if task.Concurrency > 0 {
		limit = fmt.Sprintf("at most %d at once", task.Concurrency)
	}
	f.add("overlap", fmt.Sprintf("%s (%s)", task.Overlap, limit))
	f.add("misfire", string(task.Misfire))
	f.add("notify", strings.Join(task.NotifyTo, ", "))
	f.add("source", task.Source)
	return f.String()
}

func (p *program) runCommand() *cobra.Command {
	var o struct {
		params string
		param  []string
		force  bool
		wait   bool
	}
	c := command(&cobra.Command{
		Use:   "run TASK",
		Short: "Run a task now",
		Long: `Run a task now, also one that is paused or disabled. Its schedule goes on as it
is. While as many runs as its concurrency allows go on, its overlap policy is
obeyed unless --force is given: skip refuses the run; queue and defer let it wait
for a place, defer until the next due time; replace cancels the oldest run.

With --wait the log is shown until the run has ended for good, with all its
retries, and the exit code says how: 0 if it succeeded, else 1. Ctrl-C ends the
waiting only: the run goes on in the host, until it ends or "ax cancel" ends it.`,
		Example: `  ax run nightly-report
  ax run nightly-report --param date=2026-03-01 --wait
  ax run import --params '{"rows": 1000}' --force`,
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: p.taskNames,
	}, "tasks", func(cmd *cobra.Command, args []string) error {
		host, err := p.client(cmd)
		if err != nil {
			return err
		}
		body := api.RunBody{Force: o.force}
		if body.Params, err = runParams(o.params, o.param); err != nil {
			return usage(err)
		}
		var started api.RunStarted
		if err := host.post(cmd.Context(), taskPath(args[0], "run"), body, &started); err != nil {
			if cmd.Context().Err() != nil {
				return fmt.Errorf("interrupted before the host had answered; whether the run was started is seen with: ax instances --task %s", args[0])
			}
			return err
		}
		p.tellStarted(started)
		if !o.wait {
			return p.show(started, func() string { return started.Instance + "\n" })
		}
		fmt.Fprintln(p.Err, "instance", started.Instance)
		end, err := p.follow(cmd.Context(), host, started.Instance)
		if cmd.Context().Err() != nil {
			return fmt.Errorf("interrupted; the run goes on in the host\nfollow its log:  ax logs -f %[1]s\nsee how it is:   ax instances %[1]s\ncancel it:       ax cancel %[1]s", started.Instance)
		}
		if err != nil {
			return err
		}
		return outcome(end)
	})
	c.Flags().StringVar(&o.params, "params", "", "parameters as a `JSON` object, laid over those of the task")
	c.Flags().StringArrayVar(&o.param, "param", nil, "one parameter with a text value, `KEY=VALUE`; may be repeated")
	c.Flags().BoolVar(&o.force, "force", false, "run it at once, whatever the overlap policy says")
	c.Flags().BoolVarP(&o.wait, "wait", "w", false, "show the log and wait for the end")
	return c
}

// tellStarted tells what there is to say of a run besides its number.
func (p *program) tellStarted(started api.RunStarted) {
	for _, warning := range started.Warnings {
		fmt.Fprintln(p.Err, "warning: "+printable(warning))
	}
	if started.Waits != "" && !p.json() {
		fmt.Fprintln(p.Err, "it "+printable(started.Waits))
	}
}

// runParams joins the two ways to give parameters.
func runParams(object string, pairs []string) (api.Object, error) {
	params := api.Object{}
	if object != "" {
		if err := json.Unmarshal([]byte(object), &params); err != nil || params == nil {
			return nil, fmt.Errorf(`--params: expected a JSON object such as '{"rows": 1000}', got %s`, object)
		}
	}
	for _, pair := range pairs {
		key, value, ok := strings.Cut(pair, "=")
		if !ok || key == "" {
			return nil, fmt.Errorf("--param: expected KEY=VALUE, got %s", pair)
		}
		params[key] = value
	}
	if len(params) == 0 {
		return nil, nil
	}
	return params, nil
}

func (p *program) pauseCommand() *cobra.Command {
	var until, span string
	c := command(&cobra.Command{
		Use:               "pause TASK",
		Short:             "Stop the schedule of a task",
		Long:              "Stop the schedule of a task until it is resumed, or until a time. Runs that go on\nare not touched, and it can still be run by hand. What is due within the pause has\nno instance, is not missed and is not made up for; \"ax why\" tells of it.",
		Example:           "  ax pause nightly-report\n  ax pause nightly-report --for 2h\n  ax pause nightly-report --until '2026-03-09 08:00'",
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: p.taskNames,
	}, "tasks", func(cmd *cobra.Command, args []string) error {
		var body api.PauseBody
		err := exclusive(cmd, "until", "for")
		if err != nil {
			return err
		}
		if body.Until, err = p.pauseEnd(until, span); err != nil {
			return usage(err)
		}
		return p.changeTask(cmd, args[0], "pause", body)
	})
	c.Flags().StringVar(&until, "until", "", "when the pause ends by itself: a `TIME` such as 2026-03-09T08:00:00+08:00, or without offset in the local zone")
	c.Flags().StringVar(&span, "for", "", "how long the pause is, a `DURATION` such as 90m or 2d")
	return c
}

func (p *program) pauseEnd(until, span string) (time.Time, error) {
	if span != "" {
		d, err := pluginapi.ParseDuration(span)
		if err != nil {
			return time.Time{}, fmt.Errorf("--for: %w", err)
		}
		return p.Now().Add(d.Std()).Truncate(time.Second), nil
	}
	if until == "" {
		return time.Time{}, nil
	}
	end, err := p.instant(until)
	if err != nil {
		return time.Time{}, fmt.Errorf("--until: %w", err)
	}
	if !end.After(p.Now()) {
		return time.Time{}, errors.New("--until: that time is past")
	}
	return end, nil
}

func (p *program) resumeCommand() *cobra.Command {
	return command(&cobra.Command{
		Use:               "resume TASK",
		Short:             "Let the schedule of a paused task go on",
		Long:              "Let the schedule of a paused task go on with its next due time. Due times of the\npause are not made up for.",
		Example:           "  ax resume nightly-report",
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: p.taskNames,
	}, "tasks", func(cmd *cobra.Command, args []string) error {
		return p.changeTask(cmd, args[0], "resume", nil)
	})
}

// changeTask posts an action on a task and shows what it is now.
func (p *program) changeTask(cmd *cobra.Command, name, action string, body any) error {
	host, err := p.client(cmd)
	if err != nil {
		return err
	}
	var task api.TaskView
	if err := host.post(cmd.Context(), taskPath(name, action), body, &task); err != nil {
		return err
	}
	return p.show(task, func() string { return p.tasksText([]api.TaskView{task}) })
}

// taskNames completes the name of a task, from the host if one answers.
func (p *program) taskNames(cmd *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 && cmd.Name() != "next" {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	host, err := p.client(cmd)
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	ctx, cancel := context.WithTimeout(cmd.Context(), completionTimeout)
	defer cancel()
	var page api.TaskList
	if err := host.get(ctx, api.Base+"/tasks", url.Values{"prefix": {begun}, "limit": {"200"}}, &page); err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	names := make([]string, 0, len(page.Tasks))
	for _, task := range page.Tasks {
		names = append(names, cobra.CompletionWithDesc(task.Name, task.Description))
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}
