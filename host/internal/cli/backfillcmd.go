package cli

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/axsched/ax/host/internal/api"
	"github.com/axsched/ax/host/internal/ax"
)

// recordTimeout bounds the request that records the due times of a backfill.
const recordTimeout = time.Minute

const backfillHelp = `Run past due times of a task: each becomes a run of the kind backfill, with the
due time that it stands for. There are three ways:

  ax backfill TASK --from T [--to T]   run the due times from T on, and before T;
                                       without --to up to now
  ax backfill TASK                     show how far the backfills of a task are
  ax backfill TASK --cancel            cancel what still waits in them

They run oldest first, --limit of them at once, within the limit of the task
itself, also if the task is paused or disabled. Due times to come go before
them. Due times that have succeeded, are under way or were backfilled before are
passed over, so the same command again adds what is missing; with --again those
run as well that have succeeded by the schedule. A due time that failed, was
missed, skipped or canceled, or has no run, is run.

The command waits and shows the progress. Interrupted, it leaves the backfill
running in the host. The exit code is 1 if a run did not succeed. A backfill
survives a restart of the host, and then goes on with one run at a time.`

// backfillFlags are the flags of "ax backfill".
type backfillFlags struct {
	from, to             string
	limit                int
	again, dryRun        bool
	wait, noWait, cancel bool
}

func (p *program) backfillCommand() *cobra.Command {
	var f backfillFlags
	c := command(&cobra.Command{
		Use:   "backfill TASK",
		Short: "Run past due times of a task",
		Long:  backfillHelp,
		Example: `  ax backfill nightly-report --from 2026-02-01 --to 2026-03-01 --dry-run
  ax backfill nightly-report --from 7d --limit 4
  ax backfill nightly-report
  ax backfill nightly-report --cancel`,
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: p.taskNames,
	}, "tasks", func(cmd *cobra.Command, args []string) error { return p.backfill(cmd, args[0], f) })
	flags := c.Flags()
	flags.StringVar(&f.from, "from", "", "first due time: a `TIME`, or a while ago such as 2h or 7d")
	flags.StringVar(&f.to, "to", "", "only due times before this `TIME` (default now)")
	flags.IntVarP(&f.limit, "limit", "n", 1, "how many run at once")
	flags.BoolVar(&f.again, "again", false, "run those as well that have succeeded")
	flags.BoolVar(&f.dryRun, "dry-run", false, "list the due times and change nothing")
	flags.BoolVarP(&f.wait, "wait", "w", false, "wait for the end (the default, but without --from)")
	flags.BoolVar(&f.noWait, "no-wait", false, "do not wait for the end")
	flags.BoolVar(&f.cancel, "cancel", false, "cancel what waits in the backfills of the task")
	return c
}

// backfill decides which of the three ways it is.
func (p *program) backfill(cmd *cobra.Command, task string, f backfillFlags) error {
	for _, flags := range [][]string{{"wait", "no-wait", "dry-run", "cancel"}, {"limit", "cancel"}, {"again", "cancel"}} {
		if err := exclusive(cmd, flags...); err != nil {
			return err
		}
	}
	host, err := p.client(cmd)
	if err != nil {
		return err
	}
	var span api.BackfillSpan
	for _, t := range []struct {
		flag, text string
		to         *time.Time
	}{{"from", f.from, &span.From}, {"to", f.to, &span.To}} {
		if t.text == "" {
			continue
		}
		if *t.to, err = p.timeOrAge(t.text); err != nil {
			return usage(fmt.Errorf("--%s: %w", t.flag, err))
		}
	}
	watch := &backfillWatch{program: p, client: host, task: task, span: span}
	switch {
	case f.cancel:
		return p.cancelBackfill(cmd.Context(), host, task, span)
	case f.from != "":
		return p.startBackfill(cmd.Context(), watch, f)
	case f.dryRun || f.again || cmd.Flags().Changed("limit"):
		return usage(errors.New("--from is missing: the first due time to run"))
	case f.wait:
		return watch.wait(cmd.Context())
	}
	progress, err := watch.ask(cmd.Context())
	if err != nil {
		return err
	}
	return p.show(progress, func() string { return backfillText(progress) + "\n" })
}

// startBackfill asks for a backfill and waits for its end if it should.
func (p *program) startBackfill(ctx context.Context, watch *backfillWatch, f backfillFlags) error {
	if f.limit < 1 {
		return usage(fmt.Errorf("--limit: expected a positive number, got %d", f.limit))
	}
	var plan api.BackfillPlan
	body := api.BackfillBody{From: watch.span.From, To: watch.span.To, Limit: f.limit, Again: f.again, DryRun: f.dryRun}
	if err := watch.client.postWithin(ctx, recordTimeout, taskPath(watch.task, "backfill"), body, &plan); err != nil {
		return err
	}
	if f.dryRun || f.noWait {
		return p.show(plan, func() string { return p.planText(plan) })
	}
	if !p.json() {
		fmt.Fprint(p.Out, p.planText(plan))
	}
	watch.span.From, watch.span.To = plan.From, plan.To
	return watch.wait(ctx)
}

func (p *program) cancelBackfill(ctx context.Context, host *client, task string, span api.BackfillSpan) error {
	var canceled api.BackfillCanceled
	if err := host.postWithin(ctx, recordTimeout, taskPath(task, "backfill", "cancel"), span, &canceled); err != nil {
		return err
	}
	return p.show(canceled, func() string {
		text := count(canceled.Canceled, "due time") + " canceled"
		if canceled.Running > 0 {
			text += fmt.Sprintf("; still under way: %d, see: %s", canceled.Running, instancesOf(task, ax.StatusRunning, ax.StatusRetrying))
		}
		return text + "\n"
	})
}

// planText lists the due times of a dry run, and sums up.
func (p *program) planText(plan api.BackfillPlan) string {
	var text string
	if len(plan.Times) > 0 {
		t := newTable("DUE", "RUN", "NOTE")
		for _, due := range plan.Times {
			run, note := "no", ""
			if due.Run {
				run = "yes"
			}
			switch {
			case due.Instance != "":
				note = fmt.Sprintf("%s as %s, instance %s", due.Status, due.Kind, due.Instance)
			case due.Status != "":
				note = "the schedule itself will see to it"
			}
			t.add(p.clock(due.At), run, note)
		}
		text = t.String()
	}
	return text + fmt.Sprintf("%s from %s to %s: %d to run, %d passed over\n",
		count(plan.Due, "due time"), p.clock(plan.From), p.clock(plan.To), plan.New, plan.Existing)
}

// backfillText sums up how far a backfill is.
func backfillText(b api.BackfillProgress) string {
	if b.Total == 0 {
		return "no due time was backfilled"
	}
	parts := []string{fmt.Sprintf("%d of %d done", ended(b), b.Total)}
	for _, part := range []struct {
		n    int
		word string
	}{
		{b.Failed, "failed"}, {b.Canceled, "canceled"}, {b.Running, "running"}, {b.Retrying, "to be retried"}, {b.Waiting, "waiting"},
	} {
		if part.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", part.n, part.word))
		}
	}
	return strings.Join(parts, ", ")
}

func ended(b api.BackfillProgress) int { return b.Succeeded + b.Failed + b.Canceled }

// instancesOf is the command that lists the backfilled instances of a task.
func instancesOf(task string, statuses ...ax.Status) string {
	text := "ax instances --task " + task + " --kind backfill"
	if len(statuses) == 0 {
		return text
	}
	names := make([]string, len(statuses))
	for i, s := range statuses {
		names[i] = string(s)
	}
	return text + " --status " + strings.Join(names, ",")
}

// spanQuery names the span in a request.
func spanQuery(span api.BackfillSpan) url.Values {
	query := url.Values{}
	for name, at := range map[string]time.Time{"from": span.From, "to": span.To} {
		if !at.IsZero() {
			query.Set(name, at.Format(time.RFC3339Nano))
		}
	}
	return query
}
