package cli

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/axsched/ax/host/internal/api"
)

func (p *program) alertsCommand() *cobra.Command {
	var query struct {
		task, notifier string
		waiting, dead  bool
		n              int
	}
	c := command(&cobra.Command{
		Use:   "alerts [ALERT]",
		Short: "List the messages to people, or show one",
		Long: `List messages, those that began last first, or show one with all it says. A
message is open while it gathers, sending while it is sent and sent once the
notifier has taken it; merged was told by another message. failed is tried again,
given_up is a dead letter: see "ax alerts resend" and "ax alerts drop".`,
		Example: `  ax alerts
  ax alerts --dead
  ax alerts --task nightly-report --waiting
  ax alerts 7212883712040960
  ax alerts notifiers
  ax alerts test ops`,
		Args: cobra.MaximumNArgs(1),
	}, "tasks", func(cmd *cobra.Command, args []string) error {
		if err := exclusive(cmd, "waiting", "dead"); err != nil {
			return err
		}
		host, err := p.client(cmd)
		if err != nil {
			return err
		}
		if len(args) == 1 {
			return p.showAlert(cmd.Context(), host, args[0])
		}
		values := url.Values{"limit": {strconv.Itoa(query.n)}}
		if query.task != "" {
			values.Set("task", query.task)
		}
		if query.notifier != "" {
			values.Set("notifier", query.notifier)
		}
		switch {
		case query.waiting:
			values.Set("state", "open,sending,failed")
		case query.dead:
			values.Set("state", "given_up")
		}
		var list api.AlertList
		if err := host.get(cmd.Context(), api.Base+"/alerts", values, &list); err != nil {
			return err
		}
		return p.show(list, func() string { return p.alertsText(list.Alerts) })
	})
	f := c.Flags()
	f.StringVar(&query.task, "task", "", "only those about the `TASK`")
	f.StringVar(&query.notifier, "notifier", "", "only those to the notifier of this `NAME`")
	f.BoolVar(&query.waiting, "waiting", false, "only those that gather or wait to be sent")
	f.BoolVar(&query.dead, "dead", false, "only dead letters")
	f.IntVarP(&query.n, "limit", "n", 20, "how many to show at most")
	c.AddCommand(p.notifiersCommand(), p.testNotifierCommand(),
		p.letterCommand("resend", "Send a dead letter again", "is sent again"),
		p.letterCommand("drop", "Throw a dead letter away", "is dropped"),
		p.silenceCommand(), p.silencesCommand(), p.unsilenceCommand())
	return c
}

func (p *program) showAlert(ctx context.Context, host *client, id string) error {
	var alert api.AlertView
	if err := host.get(ctx, api.Base+"/alerts/"+url.PathEscape(id), nil, &alert); err != nil {
		return err
	}
	return p.show(alert, func() string { return p.alertText(alert) })
}

// checkNumber refuses what is no number of a message or of a silence.
func checkNumber(what, text string) error {
	if _, err := strconv.ParseInt(text, 10, 64); err != nil {
		return usage(fmt.Errorf("%q is no number of a %s", text, what))
	}
	return nil
}

func (p *program) letterCommand(name, short, done string) *cobra.Command {
	return command(&cobra.Command{
		Use: name + " ALERT", Short: short,
		Long:    short + ". \"ax alerts --dead\" lists them.",
		Example: "  ax alerts " + name + " 7212883712040960",
		Args:    cobra.ExactArgs(1),
	}, "", func(cmd *cobra.Command, args []string) error {
		if err := checkNumber("message", args[0]); err != nil {
			return err
		}
		host, err := p.client(cmd)
		if err != nil {
			return err
		}
		if err := host.post(cmd.Context(), api.Base+"/alerts/"+args[0]+"/"+name, nil, nil); err != nil {
			return err
		}
		return p.show(map[string]string{"id": args[0]}, func() string { return "message " + args[0] + " " + done + "\n" })
	})
}

func (p *program) testNotifierCommand() *cobra.Command {
	return command(&cobra.Command{
		Use:   "test NOTIFIER",
		Short: "Send a test message",
		Long: `Send a test message through a notifier of the configuration, and wait until it is
taken. If it is not, the words of the notifier are shown and the exit code is 1.`,
		Example: "  ax alerts test ops",
		Args:    cobra.ExactArgs(1),
	}, "", func(cmd *cobra.Command, args []string) error {
		host, err := p.client(cmd)
		if err != nil {
			return err
		}
		var report api.TestReport
		path := api.Base + "/notifiers/" + url.PathEscape(args[0]) + "/test"
		if err := host.postWithin(cmd.Context(), time.Minute, path, nil, &report); err != nil {
			return err
		}
		return p.show(report, func() string {
			return fmt.Sprintf("%s has taken test message %s in %s\n", report.Notifier, report.ID, report.Took)
		})
	})
}

func (p *program) notifiersCommand() *cobra.Command {
	return command(&cobra.Command{
		Use:   "notifiers",
		Short: "Show how the notifiers fare",
		Long: `Show how the notifiers fare. One is down if its newest delivery failed: its
messages wait and go on gathering. WAITING are messages that gather or wait to be
sent, DEAD those that were given up.`,
		Example: "  ax alerts notifiers",
	}, "", func(cmd *cobra.Command, _ []string) error {
		host, err := p.client(cmd)
		if err != nil {
			return err
		}
		var list api.NotifierList
		if err := host.get(cmd.Context(), api.Base+"/notifiers", nil, &list); err != nil {
			return err
		}
		return p.show(list, func() string { return p.notifiersText(list.Notifiers) })
	})
}

func (p *program) silenceCommand() *cobra.Command {
	var length, until, notifier, reason string
	c := command(&cobra.Command{
		Use:   "silence [TASK]",
		Short: "Let messages wait for a while",
		Long: `Let the messages about a task, or about all, wait for a while. They go on
gathering, and what was held is told when the silence ends.`,
		Example: `  ax alerts silence nightly-report --for 2h --reason "the database moves"
  ax alerts silence --notifier ops --until '2026-03-09 18:00'
  ax alerts silences
  ax alerts unsilence 7212883712040960`,
		Args: cobra.MaximumNArgs(1),
	}, "", func(cmd *cobra.Command, args []string) error {
		if err := exclusive(cmd, "until", "for"); err != nil {
			return err
		}
		end, err := p.pauseEnd(until, length)
		if err == nil && end.IsZero() {
			err = errors.New("expected --for or --until")
		}
		if err != nil {
			return usage(err)
		}
		host, err := p.client(cmd)
		if err != nil {
			return err
		}
		in := map[string]any{"until": end}
		for key, value := range map[string]string{"notifier": notifier, "reason": reason} {
			if value != "" {
				in[key] = value
			}
		}
		if len(args) == 1 {
			in["task"] = args[0]
		}
		var silence api.SilenceView
		if err := host.post(cmd.Context(), api.Base+"/silences", in, &silence); err != nil {
			return err
		}
		return p.show(silence, func() string {
			return fmt.Sprintf("silence %s: messages wait until %s\n", silence.ID, p.when(silence.Until))
		})
	})
	f := c.Flags()
	f.StringVar(&length, "for", "", "how long, a `DURATION` such as 90m or 2d")
	f.StringVar(&until, "until", "", "until when: a `TIME` such as 2026-03-09T08:00:00+08:00, or without offset in the local zone")
	f.StringVar(&notifier, "notifier", "", "only messages to the notifier of this `NAME`")
	f.StringVar(&reason, "reason", "", "`WHY`, for others")
	return c
}

func (p *program) silencesCommand() *cobra.Command {
	return command(&cobra.Command{
		Use:     "silences",
		Short:   "List the silences that are not over",
		Example: "  ax alerts silences",
	}, "", func(cmd *cobra.Command, _ []string) error {
		host, err := p.client(cmd)
		if err != nil {
			return err
		}
		var list api.SilenceList
		if err := host.get(cmd.Context(), api.Base+"/silences", nil, &list); err != nil {
			return err
		}
		return p.show(list, func() string { return p.silencesText(list.Silences) })
	})
}

func (p *program) unsilenceCommand() *cobra.Command {
	return command(&cobra.Command{
		Use:     "unsilence SILENCE",
		Short:   "End a silence before its time",
		Long:    "End a silence before its time. What was held leaves now.",
		Example: "  ax alerts unsilence 7212883712040960",
		Args:    cobra.ExactArgs(1),
	}, "", func(cmd *cobra.Command, args []string) error {
		if err := checkNumber("silence", args[0]); err != nil {
			return err
		}
		host, err := p.client(cmd)
		if err != nil {
			return err
		}
		if err := host.post(cmd.Context(), api.Base+"/silences/"+args[0]+"/end", nil, nil); err != nil {
			return err
		}
		return p.show(map[string]string{"id": args[0]}, func() string { return "silence " + args[0] + " is over\n" })
	})
}
