package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"

	"github.com/spf13/cobra"

	"github.com/axsched/ax/host/internal/api"
	"github.com/axsched/ax/host/internal/ax"
)

func (p *program) logsCommand() *cobra.Command {
	var follow bool
	c := command(&cobra.Command{
		Use:   "logs INSTANCE",
		Short: "Show the log of an instance",
		Long: `Show the log of an instance: what the host did with it and what its job wrote.

With -f new lines are shown as they come, until the instance has ended for good;
if the connection breaks it is taken up again where it was. With -o json each line
is a JSON object.`,
		Example: `  ax logs 7212883712040960
  ax logs -f 7212883712040960
  ax logs 7212883712040960 -o json | jq -r 'select(.stage=="output").text'`,
		Args: cobra.ExactArgs(1),
	}, "tasks", func(cmd *cobra.Command, args []string) error {
		if err := checkID(args[0]); err != nil {
			return err
		}
		host, err := p.client(cmd)
		if err != nil {
			return err
		}
		if !follow {
			return p.printLog(cmd.Context(), host, args[0])
		}
		end, err := p.follow(cmd.Context(), host, args[0])
		if cmd.Context().Err() != nil {
			return &exitError{code: ExitInterrupted} // that is how one stops to look
		}
		if err != nil {
			return err
		}
		fmt.Fprintln(p.Err, endText(end))
		return nil
	})
	c.Flags().BoolVarP(&follow, "follow", "f", false, "show new lines as they come")
	return c
}

func (p *program) printLog(ctx context.Context, host *client, id string) error {
	query := url.Values{"limit": {"10000"}}
	for {
		var page api.EventList
		if err := host.get(ctx, instancePath(id, "log"), query, &page); err != nil {
			return err
		}
		for _, event := range page.Events {
			if err := p.printEvent(event); err != nil {
				return err
			}
		}
		if page.Next == "" {
			return nil
		}
		query.Set("after", page.Next)
	}
}

func (p *program) printEvent(e api.EventView) error {
	if p.json() {
		encoder := json.NewEncoder(p.Out)
		encoder.SetEscapeHTML(false)
		return encoder.Encode(e)
	}
	label := string(e.Stage)
	if e.Stage == ax.StageOutput && e.Level != "output" {
		label = e.Level
	}
	if e.Attempt > 1 {
		label += fmt.Sprintf(" #%d", e.Attempt)
	}
	at := e.At.In(p.Zone).Format("2006-01-02 15:04:05.000")
	for line := range strings.SplitSeq(strings.TrimSuffix(e.Text, "\n"), "\n") {
		if _, err := fmt.Fprintf(p.Out, "%s  %-15s  %s\n", at, label, printable(line)); err != nil {
			return err
		}
	}
	return nil
}

// follow shows the log of an instance to its end and returns how it ended.
func (p *program) follow(ctx context.Context, host *client, id string) (api.InstanceView, error) {
	return host.follow(ctx, id, p.printEvent)
}

// endText is the end of an instance in one line.
func endText(i api.InstanceView) string {
	text := string(i.Status)
	if d := took(i.StartedAt, i.EndedAt); d != "" {
		text += " after " + d
	}
	for _, why := range []string{i.Error, i.Reason, i.Message} {
		if why != "" {
			return text + ": " + oneLine(why)
		}
	}
	return text
}

// outcome turns the end of a run that was waited for into an error.
func outcome(end api.InstanceView) error {
	if end.Status == ax.StatusSuccess {
		return nil
	}
	return &exitError{ExitFailed, fmt.Errorf("instance %s of %s: %s", end.ID, end.Task, endText(end))}
}
