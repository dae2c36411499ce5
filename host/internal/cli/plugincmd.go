package cli

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/axsched/ax/host/internal/api"
)

func (p *program) addClientCommands(root *cobra.Command) {
	root.AddCommand(
		p.tasksCommand(), p.runCommand(), p.nextCommand(), p.pauseCommand(), p.resumeCommand(),
		p.instancesCommand(), p.logsCommand(), p.cancelCommand(), p.backlogCommand(),
		p.backfillCommand(), p.whyCommand(), p.alertsCommand(),
		p.nodesCommand(), p.drainCommand(), p.pluginsCommand(), p.reloadCommand(), p.healthCommand(),
	)
	if p.OpenNext != nil {
		root.AddCommand(p.simulateCommand())
	}
	if p.Candidate != nil && p.PlanOffline != nil {
		root.AddCommand(p.planCommand())
	}
	root.AddCommand(p.applyCommand())
}

func (p *program) pluginsCommand() *cobra.Command {
	c := command(&cobra.Command{
		Use:   "plugins",
		Short: "List the plugins of a host",
		Long: `List the plugins of a host. OFFERS are their components, by kind and name. A plugin
that is ready runs, or starts when it is first needed. NOTE tells why one is not:
starting, backoff (it crashed and waits), quarantined (it crashed too often, see
"ax plugins reset"), draining (its file is gone, runs end) or refused (its file is
no good).`,
		Example: "  ax plugins\n  ax plugins reset random",
	}, "host", func(cmd *cobra.Command, _ []string) error {
		host, err := p.client(cmd)
		if err != nil {
			return err
		}
		var list api.PluginList
		if err := host.get(cmd.Context(), api.Base+"/plugins", nil, &list); err != nil {
			return err
		}
		return p.show(list, func() string { return p.pluginsText(list.Plugins) })
	})
	c.AddCommand(p.resetCommand())
	return c
}

func (p *program) pluginsText(plugins []api.PluginView) string {
	t := newTable("PLUGIN", "VERSION", "STATE", "RUNNING", "OFFERS", "NOTE")
	for _, plugin := range plugins {
		var offers []string
		for _, c := range plugin.Components {
			offers = append(offers, c.Kind+" "+c.Name)
		}
		t.add(plugin.Name, plugin.Version, plugin.State, strconv.Itoa(plugin.Running),
			p.cut(strings.Join(offers, ", "), noteWidth), p.cut(oneLine(pluginNote(plugin)), noteWidth))
	}
	return t.String()
}

// pluginNote says why a plugin is not ready, or that it does not run yet.
func pluginNote(plugin api.PluginView) string {
	if plugin.Reason == "" && plugin.State == "ready" && plugin.PID == 0 {
		return "starts when it is first needed"
	}
	return plugin.Reason
}

func (p *program) resetCommand() *cobra.Command {
	c := command(&cobra.Command{
		Use:     "reset PLUGIN",
		Short:   "Start a plugin anew that was put into quarantine",
		Long:    "Start a plugin anew that crashed too often and was put into quarantine, or that\nwaits before it is started again.",
		Example: "  ax plugins reset random",
		Args:    cobra.ExactArgs(1),
	}, "", func(cmd *cobra.Command, args []string) error {
		host, err := p.client(cmd)
		if err != nil {
			return err
		}
		if err := host.post(cmd.Context(), pluginPath(args[0], "reset"), nil, nil); err != nil {
			return err
		}
		done := struct {
			Plugin string `json:"plugin"`
		}{args[0]}
		return p.show(done, func() string { return printable(args[0]) + " starts anew when it is next needed\n" })
	})
	return c
}

func (p *program) reloadCommand() *cobra.Command {
	return command(&cobra.Command{
		Use:   "reload",
		Short: "Let a host read its configuration again",
		Long: `Let a host read its configuration again, at once. If the configuration has faults
nothing changes: they are shown, and the exit code is 5. Warnings do not change it:
tasks that wait for a plugin that is not there, calendars that end, settings that
take a restart.`,
		Example: "  ax reload",
	}, "host", func(cmd *cobra.Command, _ []string) error {
		host, err := p.client(cmd)
		if err != nil {
			return err
		}
		var report api.ReloadReport
		if err := asFaults(host.post(cmd.Context(), api.Base+"/reload", nil, &report)); err != nil {
			return err
		}
		return p.show(report, func() string { return reloadText(report) })
	})
}

func reloadText(r api.ReloadReport) string {
	var b strings.Builder
	for _, warning := range r.Warnings {
		b.WriteString("warning: " + printable(warning) + "\n")
	}
	fmt.Fprintf(&b, "tasks: %d added, %d changed, %d removed, %d unchanged\n", r.Added, r.Changed, r.Removed, r.Unchanged)
	return b.String()
}

func (p *program) healthCommand() *cobra.Command {
	return command(&cobra.Command{
		Use:   "health",
		Short: "Show how a host is",
		Long: `Show how a host is. The exit code is 0 if it is ok or degraded, else 1.

It is degraded if tasks are parked, plugins are not ready, or the configuration
file was changed and refused: then the one before stays in force.`,
		Example: "  ax health",
	}, "host", func(cmd *cobra.Command, _ []string) error {
		host, err := p.client(cmd)
		if err != nil {
			return err
		}
		var health api.Health
		if err := host.get(cmd.Context(), api.Base+"/health", nil, &health); err != nil {
			return err
		}
		if err := p.show(health, func() string { return p.healthText(health) }); err != nil {
			return err
		}
		if health.Status != api.HealthOK && health.Status != api.HealthDegraded {
			return &exitError{code: ExitFailed}
		}
		return nil
	})
}

func (p *program) healthText(h api.Health) string {
	var f fields
	f.add("status", string(h.Status))
	label := "because"
	if h.Status == api.HealthOK {
		label = "but soon"
	}
	for _, reason := range h.Reasons {
		f.add(label, reason)
	}
	f.add("version", h.Version)
	f.add("app", h.App)
	f.add("node", h.Node)
	f.add("started", p.when(h.StartedAt))
	database := h.Database
	if !h.DatabaseOK {
		database += ", away"
	}
	f.add("database", database)
	f.add("plugins", fmt.Sprintf("%d, %d of them ready", h.Plugins, h.PluginsReady))
	f.add("tasks", fmt.Sprintf("%d, %d of them parked", h.Tasks, h.TasksParked))
	f.add("running", fmt.Sprintf("%d, and %d in the queue", h.Running, h.QueueDepth))
	return f.String()
}
