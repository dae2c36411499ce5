package cli

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/axsched/ax/host/internal/api"
	"github.com/axsched/ax/host/internal/trigger"
)

const nextHelp = `Compute due times. There are four ways:

  ax next TASK…              of tasks of a running host
  ax next TASK… -c FILE      of tasks of a configuration, without a host
  ax next --cron EXPR …      of a schedule given by flags (or --every, --at),
                             without a host
  ax next --stdin            of many schedules, without a host: each line of the
                             input is a JSON object, and so is each line of the
                             output, in the same order

A line of input has the words of the configuration: exactly one of "cron",
"every", "delay", "at" and "trigger" ({"use": NAME, "with": {…}, "calendars":
[…]}), and "timezone" (default UTC), "calendar", "on_closed", "jitter", "blackout"
(a list), "on_blackout", "anchor", "repeat_count", "from", "until"; besides, "id"
(any value, returned as it is), "after" (default now), "n" (default 5), "why" and
"words". Calendars and plugin triggers need -c FILE. The answer is
{"id": …, "next": [TIMES]}, with no times if it is never due again, or
{"id": …, "error": TEXT}; a line with an error does not stop the rest. Schedules
that draw times at random take the id for the name of the task.

The schedule is told in plain language before its times, in English or Chinese
(--lang). In JSON that is "words", with "en" and "zh"; a line of input has to ask
for it, with "words": true.

With --why, or "why": true, the answer tells of every time at which the schedule
would be due what becomes of it: due, or moved or left out because of a closed
day (with its name and where that comes from), a blackout, from and until. What
is left out for the same reason in a row is one line. "beyond" in JSON, and a
note in text, tell of due times in years for which a calendar has no list: it
goes by its weekly pattern then.

Of a fixed delay each run is taken to be over at once, as it begins.

Times are strictly after --after. An interval with a repeat count and no anchor
is taken as first seen at that time.`

// nextFlags are the flags of "ax next".
type nextFlags struct {
	question
	n     int
	count int // repeat count, if it is given
	stdin bool
	// blackouts are times of day.
	blackouts []string
}

func (p *program) nextCommand() *cobra.Command {
	var f nextFlags
	c := command(&cobra.Command{
		Use:   "next [TASK…]",
		Short: "Compute the next due times",
		Long:  nextHelp,
		Example: `  ax next nightly-report
  ax next nightly-report -c config.yaml -n 10
  ax next nightly-report --why
  ax next --cron '0 0 10 ? * MON-FRI' --timezone Asia/Shanghai --after 2026-01-01T00:00:00Z
  ax next --cron '0 0 2 ? * 6L' --calendar cn --on-closed next -c config.yaml
  echo '{"id": 1, "every": "36h", "anchor": "2026-01-01", "n": 3}' | ax next --stdin`,
		Args:              cobra.ArbitraryArgs,
		ValidArgsFunction: p.taskNames,
	}, "tasks", func(cmd *cobra.Command, args []string) error { return p.next(cmd, &f, args) })
	flags := c.Flags()
	flags.StringVar(&f.Cron, "cron", "", "cron `EXPRESSION` of 5, 6 or 7 fields")
	flags.StringVar(&f.Every, "every", "", "`INTERVAL` such as 90s or 36h")
	flags.StringVar(&f.At, "at", "", "a single `TIME`")
	flags.StringVar(&f.Timezone, "timezone", "", "time `ZONE` of the schedule (default UTC)")
	flags.StringVar(&f.Calendar, "calendar", "", "`CALENDAR` of the configuration whose closed days are left out")
	flags.StringVar((*string)(&f.OnClosed), "on-closed", "", "`POLICY` for times on closed days: skip, previous or next")
	flags.StringVar(&f.Jitter, "jitter", "", "put each time off by less than this `DURATION`, by the name of the task and the time")
	flags.StringArrayVar(&f.blackouts, "blackout", nil, "`SPAN` of the day without times, such as 22:00-06:00; may be repeated")
	flags.StringVar((*string)(&f.OnBlackout), "on-blackout", "", "`POLICY` for times in blackouts: skip, or after for their end")
	flags.StringVar(&f.Anchor, "anchor", "", "`TIME` to which --every is aligned")
	flags.IntVar(&f.count, "repeat-count", 0, "how often --every is repeated after its first time (default no end)")
	flags.StringVar(&f.From, "from", "", "no times before this `TIME`")
	flags.StringVar(&f.Until, "until", "", "only times before this `TIME`")
	flags.StringVar(&f.After, "after", "", "times strictly after this `TIME` (default now)")
	flags.IntVarP(&f.n, "number", "n", defaultTimes, "how many times")
	flags.BoolVar(&f.Why, "why", false, "tell what becomes of each time at which the schedule would be due")
	flags.BoolVar(&f.stdin, "stdin", false, "read schedules from the standard input, a JSON object a line")
	p.langFlag(c)
	p.complete(c, "on-closed", "skip", "previous", "next")
	p.complete(c, "on-blackout", "skip", "after")
	return c
}

// next decides which of the four ways it is.
func (p *program) next(cmd *cobra.Command, f *nextFlags, tasks []string) error {
	if err := errors.Join(p.checkLang(), exclusive(cmd, "cron", "every", "at", "stdin")); err != nil {
		return err
	}
	if f.n < 1 || f.n > maxTimes {
		return usage(fmt.Errorf("--number: expected a number from 1 to %d, got %d", maxTimes, f.n))
	}
	inline := f.Cron != "" || f.Every != "" || f.At != ""
	switch {
	case len(tasks) > 0 && (inline || f.stdin):
		return usage(errors.New("give either tasks or a schedule"))
	case len(tasks) == 0 && !inline && !f.stdin:
		return usage(errors.New("say what to compute: a task, --cron, --every, --at or --stdin"))
	}
	f.N = &f.n
	if cmd.Flags().Changed("repeat-count") {
		f.RepeatCount = &f.count
	}
	for _, clock := range f.blackouts {
		f.Blackout = append(f.Blackout, blackoutWords{Time: clock})
	}
	source := &NextSource{Close: func() {}}
	if cmd.Flags().Changed("config") {
		if p.OpenNext == nil {
			return usage(errors.New("this program cannot read configurations"))
		}
		opened, err := p.OpenNext(cmd.Context(), p.configPath)
		if err != nil {
			return p.withFaults(err)
		}
		source = opened
	} else if len(tasks) > 0 {
		return p.nextOfHost(cmd, f, tasks)
	}
	defer source.Close()
	switch {
	case f.stdin:
		return p.nextLines(cmd.Context(), source)
	case inline:
		return p.nextInline(cmd.Context(), source, f.question)
	default:
		return p.nextOfFile(cmd.Context(), source, f.question, tasks)
	}
}

// mostOfHost is how many due times a host computes at once.
const mostOfHost = 1000

// nextOfHost asks a host for due times of its tasks.
func (p *program) nextOfHost(cmd *cobra.Command, f *nextFlags, tasks []string) error {
	if f.n > mostOfHost {
		return usage(fmt.Errorf("--number: a host computes up to %d due times, got %d; -c FILE computes up to %d without one", mostOfHost, f.n, maxTimes))
	}
	host, err := p.client(cmd)
	if err != nil {
		return err
	}
	query := url.Values{"n": {strconv.Itoa(f.n)}}
	if f.Why {
		query.Set("why", "true")
	}
	if f.After != "" {
		after, err := p.instant(f.After)
		if err != nil {
			return usage(fmt.Errorf("--after: %w", err))
		}
		query.Set("after", after.Format(time.RFC3339Nano))
	}
	for _, task := range tasks {
		var answer api.NextTimes
		if err := host.get(cmd.Context(), taskPath(task, "next"), query, &answer); err != nil {
			return err
		}
		if err := p.showTimes(task, previewed{answer.Words, answer.Times, answer.Beyond, answer.Why}, len(tasks) > 1); err != nil {
			return err
		}
	}
	return nil
}

// nextOfFile computes due times of tasks of a configuration.
func (p *program) nextOfFile(ctx context.Context, source *NextSource, q question, names []string) error {
	after, n, err := q.span(p.Now(), p.Zone)
	if err != nil {
		return usage(err)
	}
	for _, name := range names {
		task, err := source.find(name)
		if err != nil {
			return err
		}
		found, err := source.preview(ctx, task.Name, task.Schedule, span{after, n, q.Why, true})
		if err != nil {
			return fmt.Errorf("task %s: %w", name, err)
		}
		if err := p.showTimes(name, found, len(names) > 1); err != nil {
			return err
		}
	}
	return nil
}

// nextInline computes due times of the schedule that the flags give.
func (p *program) nextInline(ctx context.Context, source *NextSource, q question) error {
	q.Words = true
	found, err := source.answer(ctx, q, p.Now())
	if err != nil {
		return usage(err)
	}
	return p.showTimes("", found, false)
}

// answer computes the due times that a question asks for.
func (s *NextSource) answer(ctx context.Context, q question, now time.Time) (previewed, error) {
	schedule, err := q.schedule()
	if err != nil {
		return previewed{}, err
	}
	zone, err := trigger.Zone(schedule.Timezone)
	if err != nil {
		return previewed{}, err
	}
	after, n, err := q.span(now, zone)
	if err != nil {
		return previewed{}, err
	}
	// The name decides what is random in a schedule.
	return s.preview(ctx, strings.Trim(string(q.ID), `"`), schedule, span{after, n, q.Why, q.Words})
}
