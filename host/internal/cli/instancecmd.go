package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/axsched/ax/host/internal/api"
	"github.com/axsched/ax/host/internal/ax"
	"github.com/axsched/ax/pluginapi"
)

// completionTimeout bounds how long a shell waits for names.
const completionTimeout = 2 * time.Second

// maxPage is the most instances that one request returns.
const maxPage = 1000

func (p *program) instancesCommand() *cobra.Command {
	var o instanceFlags
	c := command(&cobra.Command{
		Use:   "instances [INSTANCE]",
		Short: "List instances, newest first, or show one",
		Long: `List instances, newest first, or show one. An instance is one due time of a task,
or one run by hand, and what became of it.`,
		Example: `  ax instances
  ax instances --task nightly-report --status FAILED,TIMEOUT --since 7d
  ax instances 7212883712040960`,
		Args: cobra.MaximumNArgs(1),
	}, "tasks", func(cmd *cobra.Command, args []string) error {
		host, err := p.client(cmd)
		if err != nil {
			return err
		}
		if len(args) == 1 {
			if err := checkID(args[0]); err != nil {
				return err
			}
			return p.showInstance(cmd.Context(), host, args[0])
		}
		query, err := p.instanceQuery(o)
		if err != nil {
			return usage(err)
		}
		list, err := host.instances(cmd.Context(), query, o.limit)
		if err != nil {
			return err
		}
		return p.show(list, func() string { return p.instancesText(list.Instances) })
	})
	flags := c.Flags()
	flags.StringVarP(&o.task, "task", "t", "", "only of this `TASK`")
	flags.StringSliceVarP(&o.status, "status", "s", nil, "only in these `STATES`, separated by commas")
	flags.StringSliceVarP(&o.kind, "kind", "k", nil, "only of these `KINDS`: scheduled, manual, backfill, child")
	flags.StringVar(&o.since, "since", "", "only those due since a `TIME`, or since a while ago such as 2h or 7d")
	flags.StringVar(&o.until, "until", "", "only those due before a `TIME`, or before a while ago")
	flags.StringVar(&o.before, "before", "", "only those older than this `INSTANCE`, for the next page")
	flags.IntVarP(&o.limit, "limit", "n", 20, "how many to show at most")
	p.complete(c, "status", statuses()...)
	p.complete(c, "kind", kinds()...)
	if err := c.RegisterFlagCompletionFunc("task", p.taskNames); err != nil {
		panic(err) // a flag that is not there
	}
	return c
}

// statuses are those in which an instance can be.
func statuses() []string {
	var names []string
	for _, status := range ax.Statuses() {
		names = append(names, string(status))
	}
	return names
}

func kinds() []string {
	return []string{string(ax.KindScheduled), string(ax.KindManual), string(ax.KindBackfill), string(ax.KindChild)}
}

// oneOf refuses a value of a flag that is not among the known ones.
func oneOf(flag string, values, known []string) error {
	for _, value := range values {
		if !slices.Contains(known, value) {
			return fmt.Errorf("--%s: expected one of %s, got %q", flag, strings.Join(known, ", "), value)
		}
	}
	return nil
}

type instanceFlags struct {
	task, since, until, before string
	status, kind               []string
	limit                      int
}

func (p *program) instanceQuery(o instanceFlags) (url.Values, error) {
	query := url.Values{}
	if o.task != "" {
		query.Set("task", o.task)
	}
	for i := range o.status {
		o.status[i] = strings.ToUpper(o.status[i])
	}
	if err := errors.Join(oneOf("status", o.status, statuses()), oneOf("kind", o.kind, kinds())); err != nil {
		return nil, err
	}
	if len(o.status) > 0 {
		query.Set("status", strings.Join(o.status, ","))
	}
	if len(o.kind) > 0 {
		query.Set("kind", strings.Join(o.kind, ","))
	}
	if o.before != "" {
		query.Set("before", o.before)
	}
	if o.limit < 1 {
		return nil, fmt.Errorf("--limit: expected a positive number, got %d", o.limit)
	}
	for name, text := range map[string]string{"since": o.since, "until": o.until} {
		if text == "" {
			continue
		}
		at, err := p.timeOrAge(text)
		if err != nil {
			return nil, fmt.Errorf("--%s: %w", name, err)
		}
		query.Set(name, at.Format(time.RFC3339Nano))
	}
	return query, nil
}

// timeOrAge reads a time, or how long ago it was.
func (p *program) timeOrAge(text string) (time.Time, error) {
	if age, err := pluginapi.ParseDuration(text); err == nil {
		return p.Now().Add(-age.Std()), nil
	}
	at, err := p.instant(text)
	if err != nil {
		return at, fmt.Errorf("%w; or a while ago such as 2h or 7d", err)
	}
	return at, nil
}

// checkID refuses what cannot be an instance, such as the name of a task.
func checkID(text string) error {
	if _, err := ax.ParseInstanceID(text); err != nil {
		return usage(fmt.Errorf(`%q is no instance: expected its number, as "ax instances" shows it`, text))
	}
	return nil
}

// instances returns up to limit instances.
func (c *client) instances(ctx context.Context, query url.Values, limit int) (api.InstanceList, error) {
	all := api.InstanceList{Instances: []api.InstanceView{}}
	for {
		query.Set("limit", strconv.Itoa(min(limit-len(all.Instances), maxPage)))
		var page api.InstanceList
		if err := c.get(ctx, api.Base+"/instances", query, &page); err != nil {
			return all, err
		}
		all.Instances = append(all.Instances, page.Instances...)
		all.Next = page.Next
		if page.Next == "" || len(all.Instances) >= limit {
			return all, nil
		}
		query.Set("before", page.Next)
	}
}

func (p *program) instancesText(instances []api.InstanceView) string {
	t := newTable("INSTANCE", "TASK", "STATUS", "DUE", "TOOK", "ATTEMPT", "NOTE")
	for _, i := range instances {
		t.add(i.ID, i.Task, string(i.Status), p.when(i.ScheduledAt), took(i.StartedAt, i.EndedAt),
			strconv.Itoa(i.Attempt), p.cut(oneLine(p.instanceNote(i)), noteWidth))
	}
	return t.String()
}

// instanceNote says the most telling thing about an instance.
func (p *program) instanceNote(i api.InstanceView) string {
	var parts []string
	if i.Kind != ax.KindScheduled {
		parts = append(parts, string(i.Kind))
	}
	if i.Shards > 0 {
		parts = append(parts, fmt.Sprintf("%d/%d on %s", i.Shard+1, i.Shards, i.Node))
	}
	if i.Missed > 1 {
		parts = append(parts, fmt.Sprintf("x%d until %s", i.Missed, p.clock(i.MissedUntil)))
	}
	if !i.RetryAt.IsZero() {
		parts = append(parts, "retry "+distance(i.RetryAt.Sub(p.Now())))
	}
	for _, text := range []string{i.Reason, i.Error, i.Message} {
		if text != "" {
			parts = append(parts, text)
			break
		}
	}
	return strings.Join(parts, ", ")
}

func (p *program) showInstance(ctx context.Context, host *client, id string) error {
	var i api.InstanceView
	if err := host.get(ctx, instancePath(id), nil, &i); err != nil {
		return err
	}
	return p.show(i, func() string { return p.instanceText(i) })
}

func (p *program) instanceText(i api.InstanceView) string {
	var f fields
	f.add("instance", i.ID)
	f.add("task", i.Task)
	f.add("kind", string(i.Kind))
	f.add("status", string(i.Status))
	f.add("reason", i.Reason)
	f.add("due", p.when(i.ScheduledAt))
	if i.Missed > 0 {
		f.add("missed", fmt.Sprintf("%s until %s", count(i.Missed, "due time"), p.clock(i.MissedUntil)))
	}
	f.add("started", p.when(i.StartedAt))
	f.add("ended", p.when(i.EndedAt))
	f.add("took", took(i.StartedAt, i.EndedAt))
	f.add("attempt", strconv.Itoa(i.Attempt))
	f.add("next attempt", p.when(i.RetryAt))
	if i.Deferred {
		f.add("waits for", "a callback, until "+p.when(i.DeadlineAt))
	}
	f.add("node", i.Node)
	if i.Shards > 0 {
		f.add("shard", fmt.Sprintf("%d of %d", i.Shard+1, i.Shards))
	}
	f.add("trace", i.TraceID)
	f.add("params", compact(i.Params))
	f.add("message", i.Message)
	f.add("error", i.Error)
	f.add("data", compact(i.Data))
	return f.String()
}

func compact(value any) string {
	if value == nil {
		return ""
	}
	text, err := json.Marshal(value)
	if err != nil {
		return fmt.Sprint(value)
	}
	return string(text)
}

func (p *program) cancelCommand() *cobra.Command {
	return command(&cobra.Command{
		Use:   "cancel INSTANCE",
		Short: "Cancel an instance",
		Long: `Cancel an instance that waits or runs. A running job is asked to stop and has the
grace period of its task for it; "ax instances INSTANCE" tells when it has.`,
		Example: "  ax cancel 7212883712040960",
		Args:    cobra.ExactArgs(1),
	}, "tasks", func(cmd *cobra.Command, args []string) error {
		if err := checkID(args[0]); err != nil {
			return err
		}
		host, err := p.client(cmd)
		if err != nil {
			return err
		}
		var i api.InstanceView
		if err := host.post(cmd.Context(), instancePath(args[0], "cancel"), nil, &i); err != nil {
			return err
		}
		return p.show(i, func() string { return p.instancesText([]api.InstanceView{i}) })
	})
}
