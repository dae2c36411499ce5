package cli

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/axsched/ax/host/internal/api"
	"github.com/axsched/ax/host/internal/preview"
)

const planHelp = `Say what a configuration would change, and change nothing: the tasks that are
added, changed (in which keys) and removed, with the next due times before and
after, and the due times of the next 90 days that a changed calendar moves.

The file given with --config (or AX_CONFIG) is compared with what the host runs;
without one the host compares its own file. If no host answers, the file is
compared with its database, which keeps no calendars: that days differ is told,
not which due times move. Settings and parameters may hold secrets: that they
differ is told, not how. "ax validate" checks them.

The exit code is 0 if no task changes, and 7 if some do.`

const applyHelp = `Put a configuration in force: show what it changes, as "ax plan" does, and let the
host read its file again. A host reads one file, the one it was started with: a
--config that names another one is refused, with exit code 6, and nothing
changes. Faults in the file are shown with exit code 5, and nothing changes.`

func (p *program) planCommand() *cobra.Command {
	return command(&cobra.Command{
		Use:   "plan",
		Short: "Say what a configuration would change",
		Long:  planHelp,
		Example: `  ax plan -c config.new.yaml
  ax plan -c config.yaml -o json || test $? -eq 7`,
	}, "host", func(cmd *cobra.Command, _ []string) error {
		plan, err := p.plan(cmd)
		if err != nil {
			return err
		}
		if err := p.show(plan, func() string { return p.changesText(plan) }); err != nil {
			return err
		}
		if !plan.Empty() {
			return &exitError{code: ExitChanges}
		}
		return nil
	})
}

// statedConfig returns the configuration that was named, if one was.
func (p *program) statedConfig(cmd *cobra.Command) (string, bool) {
	if cmd.Flags().Changed("config") || p.Env("AX_CONFIG") != "" {
		return p.configFile(), true
	}
	return "", false
}

// plan compares a configuration with a host or, if none answers, with its
// database.
func (p *program) plan(cmd *cobra.Command) (*preview.Plan, error) {
	host, err := p.client(cmd)
	if err != nil {
		return nil, p.withFaults(err)
	}
	path, stated := p.statedConfig(cmd)
	var candidate any // nil for the host's own file
	if stated {
		read, err := p.Candidate(path)
		if err != nil {
			return nil, p.withFaults(err)
		}
		candidate = read
	}
	plan, err := askPlan(cmd.Context(), host, candidate)
	if _, away := errors.AsType[*unreachable](err); !away || !stated || p.server != "" || p.context != "" || p.Env("AX_SERVER") != "" || p.Env("AX_ADDR") != "" {
		return plan, err
	}
	fmt.Fprintf(p.Err, "no host answers at %s: comparing with the database of %s\n", host.base, path)
	plan, err = p.PlanOffline(cmd.Context(), path)
	return plan, p.withFaults(err)
}

func askPlan(ctx context.Context, host *client, candidate any) (*preview.Plan, error) {
	var plan preview.Plan
	return &plan, asFaults(host.post(ctx, api.Base+"/plan", candidate, &plan))
}

// asFaults gives a refusal because of faults in a configuration its exit code.
func asFaults(err error) error {
	if refused, ok := errors.AsType[*refusal](err); ok && refused.Status == http.StatusUnprocessableEntity {
		return &exitError{ExitFaults, err}
	}
	return err
}

func (p *program) applyCommand() *cobra.Command {
	return command(&cobra.Command{
		Use:     "apply",
		Short:   "Put a configuration in force and show what that changes",
		Long:    applyHelp,
		Example: "  ax apply\n  ax apply -c /etc/ax/config.yaml",
	}, "host", func(cmd *cobra.Command, _ []string) error {
		host, err := p.client(cmd)
		if err != nil {
			return p.withFaults(err)
		}
		plan, err := askPlan(cmd.Context(), host, nil)
		if err != nil {
			return err
		}
		if path, stated := p.statedConfig(cmd); stated && !sameFile(path, plan.Config) {
			return &exitError{ExitRefused, fmt.Errorf(
				"the host at %s reads %s, not %s: put the changes there, or start a host with this file", host.base, plan.Config, path)}
		}
		var report api.ReloadReport
		if err := asFaults(host.post(cmd.Context(), api.Base+"/reload", nil, &report)); err != nil {
			return err
		}
		result := struct {
			Plan   *preview.Plan    `json:"plan"`
			Reload api.ReloadReport `json:"reload"`
		}{plan, report}
		plan.Warnings = nil // the reload tells of the same
		return p.show(result, func() string { return p.changesText(plan) + "\nput in force:\n" + reloadText(report) })
	})
}

// sameFile reports whether two paths name one file. The host's may be on another
// machine, so paths that are equal are enough.
func sameFile(path, hosts string) bool {
	abs, err := filepath.Abs(path)
	if err != nil || abs == hosts {
		return err == nil
	}
	mine, err := os.Stat(abs)
	if err != nil {
		return false
	}
	theirs, err := os.Stat(hosts)
	return err == nil && os.SameFile(mine, theirs)
}
