package cli

import (
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"

	"github.com/axsched/ax/host/internal/config"
)

func (p *program) addHostCommands(root *cobra.Command) {
	if p.Serve != nil {
		root.AddCommand(p.serveCommand())
	}
	if p.Validate != nil {
		root.AddCommand(p.validateCommand())
	}
	if p.Migrate != nil {
		root.AddCommand(p.migrateCommand())
	}
	if p.HashPassword != nil {
		root.AddCommand(p.passwdCommand())
	}
	if p.NewToken != nil {
		root.AddCommand(p.tokenCommand())
	}
	root.AddCommand(p.contextCommand(), p.versionCommand())
}

func (p *program) serveCommand() *cobra.Command {
	return command(&cobra.Command{
		Use:   "serve",
		Short: "Start a host",
		Long: `Start a host: it loads the configuration and the plugins, runs the tasks at
their due times and serves the API on http.listen.

SIGHUP, a changed file or "ax reload" reads the configuration again. SIGTERM and
SIGINT let running jobs end within their grace period; a second one ends at once.`,
		Example: `  ax serve --config config.yaml`,
	}, "host", func(cmd *cobra.Command, _ []string) error {
		return p.withFaults(p.Serve(cmd.Context(), ServeOptions{Config: p.configFile()}))
	})
}

// withFaults writes the faults of a configuration a line each, so that editors
// and people find the places.
func (p *program) withFaults(err error) error {
	faults, ok := errors.AsType[config.Faults](err)
	if !ok {
		return err
	}
	for _, fault := range faults {
		fmt.Fprintln(p.Err, fault)
	}
	return &exitError{ExitFaults, fmt.Errorf("the configuration has %s", count(len(faults), "fault"))}
}

func (p *program) validateCommand() *cobra.Command {
	return command(&cobra.Command{
		Use:   "validate [FILE]",
		Short: "Check a configuration without starting anything",
		Long: `Check a configuration: syntax, names, schedules, calendars and the settings of
plugins. All faults are shown at once, each as FILE:LINE:COLUMN: MESSAGE, and the
exit code is 5 if there is one. Warnings do not change it. A component that no
plugin offers is a fault here; a running host lets its tasks wait for the plugin.`,
		Example: `  ax validate config.yaml
  ax validate -c config.yaml -o json`,
		Args: cobra.MaximumNArgs(1),
	}, "host", func(cmd *cobra.Command, args []string) error {
		path := p.configFile()
		if len(args) > 0 {
			path = args[0]
		}
		report, err := p.Validate(cmd.Context(), path)
		if err != nil {
			return p.withFaults(err)
		}
		if err := p.show(reportJSON(report), func() string { return reportText(path, report) }); err != nil {
			return err
		}
		if len(report.Faults) > 0 {
			return &exitError{code: ExitFaults}
		}
		return nil
	})
}

func reportText(path string, r Report) string {
	var b strings.Builder
	for _, warning := range r.Warnings {
		fmt.Fprintln(&b, "warning:", warning)
	}
	for _, fault := range r.Faults {
		fmt.Fprintln(&b, fault)
	}
	if len(r.Faults) > 0 {
		fmt.Fprintf(&b, "%s has %s\n", path, count(len(r.Faults), "fault"))
		return b.String()
	}
	fmt.Fprintf(&b, "%s is good: %s, %s, %s", path,
		count(r.Tasks, "task"), count(r.Calendars, "calendar"), count(r.Plugins, "plugin"))
	if r.Refused > 0 {
		fmt.Fprintf(&b, " (and %d refused)", r.Refused)
	}
	b.WriteByte('\n')
	return b.String()
}

// place is a fault in JSON.
type place struct {
	File    string `json:"file"`
	Line    int    `json:"line"`
	Column  int    `json:"column"`
	Message string `json:"message"`
}

func reportJSON(r Report) any {
	places := func(faults config.Faults) []place {
		out := make([]place, 0, len(faults))
		for _, f := range faults {
			out = append(out, place{f.File, f.Line, f.Column, f.Message})
		}
		return out
	}
	return struct {
		OK bool `json:"ok"`
		Report
		Faults   []place `json:"faults"`
		Warnings []place `json:"warnings"`
	}{len(r.Faults) == 0, r, places(r.Faults), places(r.Warnings)}
}

func (p *program) migrateCommand() *cobra.Command {
	var o MigrateOptions
	var data MoveOptions
	c := command(&cobra.Command{
		Use:   "migrate",
		Short: "Bring the database up to date",
		Long: `Create or change the tables that this version of ax needs. Only one process
migrates at a time; what is done already is left alone. A host needs an account
that may read and write rows; migrate needs one that may change tables.

With --from and --to it also moves everything that the one database has into the
other: tasks, instances, logs, alerts and the audit trail. The other one must be
empty, and no host may run on either. The first one stays as it is. A move that was
interrupted goes on where it stopped when the same command is run again.`,
		Example: `  ax migrate --config config.yaml --dry-run
  ax migrate --config config.yaml --dsn sqlite:/srv/ax/ax.db
  ax migrate --from sqlite:/srv/ax/ax.db --to mysql://ax_owner:secret@db/ax`,
	}, "host", func(cmd *cobra.Command, _ []string) error {
		if data.From != "" || data.To != "" {
			if err := exclusive(cmd, "from", "dsn", "dry-run"); err != nil {
				return err
			}
			return p.move(cmd.Context(), data)
		}
		o.Config = p.configFile()
		report, err := p.Migrate(cmd.Context(), o)
		if err != nil {
			return p.withFaults(err)
		}
		report.Applied = append([]string{}, report.Applied...) // [] in JSON
		return p.show(report, func() string { return migrateText(report, o.DryRun) })
	})
	c.Flags().StringVar(&o.DSN, "dsn", "", "`DSN` of the database to use instead of store.dsn")
	c.Flags().BoolVar(&o.DryRun, "dry-run", false, "only say what would be done")
	if p.Move != nil {
		c.Flags().StringVar(&data.From, "from", "", "`DSN` of a database whose data is moved")
		c.Flags().StringVar(&data.To, "to", "", "`DSN` of the database that it is moved to")
	}
	return c
}

func migrateText(r MigrateReport, dryRun bool) string {
	if len(r.Applied) == 0 {
		return fmt.Sprintf("the schema is at version %d, there is nothing to do\n", r.To)
	}
	verb := "migrated"
	if dryRun {
		verb = "would migrate"
	}
	return fmt.Sprintf("%s from version %d to %d:\n%s\n", verb, r.From, r.To, dashed(r.Applied))
}

func (p *program) versionCommand() *cobra.Command {
	return command(&cobra.Command{
		Use:   "version",
		Short: "Show the version of this program",
	}, "host", func(*cobra.Command, []string) error {
		v := struct {
			Version string `json:"version"`
			Commit  string `json:"commit,omitempty"`
			Go      string `json:"go"`
			System  string `json:"system"`
		}{p.Version, commit(), runtime.Version(), runtime.GOOS + "/" + runtime.GOARCH}
		return p.show(v, func() string {
			text := "ax " + v.Version
			if v.Commit != "" {
				text += " (" + v.Commit + ")"
			}
			return text + " " + v.Go + " " + v.System + "\n"
		})
	})
}

// commit returns the revision that the program was built from, if it is known.
func commit() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	for _, setting := range info.Settings {
		if setting.Key == "vcs.revision" {
			return setting.Value[:min(12, len(setting.Value))]
		}
	}
	return ""
}

// count writes a number with its noun.
func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
