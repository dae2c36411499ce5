package cli

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/axsched/ax/host/internal/api"
)

const whyHelp = `Tell why a due time of a task did or did not run, from its schedule and calendar,
pauses, the rows of its instances, their logs, and the audit trail. Without --at:
the next due time and the newest one.

The answer comes first, then what led to it, the newest thing first. With -o json
the things are in the order of time. A time without a fraction stands for all of
its second; one without an offset is in the local zone. All times that are shown
are in the zone of the task.`

func (p *program) whyCommand() *cobra.Command {
	var at string
	c := command(&cobra.Command{
		Use:   "why TASK",
		Short: "Tell why a due time did or did not run",
		Long:  whyHelp,
		Example: `  ax why nightly-report
  ax why nightly-report --at '2026-03-09 02:00'
  ax why nightly-report --at 2026-03-09T02:00:00+08:00 -o json`,
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: p.taskNames,
	}, "tasks", func(cmd *cobra.Command, args []string) error {
		host, err := p.client(cmd)
		if err != nil {
			return err
		}
		query := url.Values{}
		if at != "" {
			t, err := p.instant(at)
			if err != nil {
				return usage(fmt.Errorf("--at: %w", err))
			}
			query.Set("at", t.Format(time.RFC3339Nano))
		}
		var view api.WhyView
		if err := host.get(cmd.Context(), taskPath(args[0], "why"), query, &view); err != nil {
			return err
		}
		return p.show(view, func() string { return p.whyText(view) })
	})
	c.Flags().StringVar(&at, "at", "", "the `TIME` to tell about, such as 2026-03-09T02:00:00+08:00")
	return c
}

// whyClock shows a time as the sentences of an answer do.
const whyClock = "2006-01-02 15:04:05 -07:00"

func (p *program) whyText(view api.WhyView) string {
	if len(view.Answers) == 0 {
		return "the task was never due, and never will be\n"
	}
	texts := make([]string, 0, len(view.Answers))
	for _, a := range view.Answers {
		var text strings.Builder
		// The host words its sentences in the zone of the task.
		fmt.Fprintf(&text, "%s (%s): %s\n  %s\n", a.At.Format(whyClock), distance(a.At.Sub(p.Now())), strings.ReplaceAll(string(a.Code), "_", " "), printable(a.Summary))
		t := &table{}
		for _, link := range slices.Backward(a.Chain) {
			t.add(link.At.Format(whyClock), string(link.Step), link.Text)
		}
		for line := range strings.Lines(t.String()) {
			text.WriteString("  " + line)
		}
		if a.Instance != "" {
			text.WriteString("  its log: ax logs " + a.Instance + "\n")
		}
		texts = append(texts, text.String())
	}
	return strings.Join(texts, "\n")
}
