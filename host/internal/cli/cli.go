// Package cli is the program "ax": the commands that start, check and prepare
// a host, and those that talk to one over its API. What needs the rest of the
// host comes in through Deps.
package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/axsched/ax/host/internal/api"
	"github.com/axsched/ax/host/internal/ax"
	"github.com/axsched/ax/host/internal/config"
	"github.com/axsched/ax/host/internal/preview"
	"github.com/axsched/ax/host/internal/trigger"
	"github.com/axsched/ax/pluginapi/calendar"
)

// Defaults of flags.
const (
	defaultAddr   = "http://127.0.0.1:8090"
	defaultConfig = "config.yaml"
)

// Deps is what the commands take from their surroundings. A command whose
// function is nil is left out of the program.
type Deps struct {
	Version string
	// Serve runs a host until ctx ends.
	Serve func(ctx context.Context, o ServeOptions) error
	// Validate checks a configuration. Faults are in the report; the error
	// tells why there is none.
	Validate func(ctx context.Context, path string) (Report, error)
	// Migrate brings the database of a configuration up to date.
	Migrate func(ctx context.Context, o MigrateOptions) (MigrateReport, error)
	// Move moves the data of a database into another one.
	Move func(ctx context.Context, o MoveOptions) (MoveReport, error)
	// OpenNext reads what "ax next" needs of a configuration.
	OpenNext func(ctx context.Context, path string) (*NextSource, error)
	// Candidate reads a configuration for a host to compare with what it runs.
	Candidate func(path string) (api.Candidate, error)
	// PlanOffline compares a configuration with its database.
	PlanOffline func(ctx context.Context, path string) (*preview.Plan, error)
	// Address returns the URL of http.listen of a configuration, also of one with
	// faults elsewhere; empty if it is off. The error is fs.ErrNotExist if there is no such file.
	Address func(path string) (string, error)

	In       io.Reader
	Out, Err io.Writer
	// Terminal says that Err is a terminal, on which a line can be redrawn.
	Terminal bool
	// Narrow says that Out is a terminal, on which long notes are cut.
	Narrow bool
	Now    func() time.Time
	// Zone is the one in which times are shown.
	Zone *time.Location
	// HashPassword returns what the configuration has of a password, NewToken a new
	// token and what it has of that.
	HashPassword func(password string) (string, error)
	NewToken     func() (token, sha256 string)

	// Env returns the value of an environment variable, or "".
	Env func(name string) string
}

// ServeOptions are the flags of "ax serve".
type ServeOptions struct {
	Config string
}

// Report is what "ax validate" found.
type Report struct {
	Tasks     int `json:"tasks"`
	Calendars int `json:"calendars"`
	Plugins   int `json:"plugins"`
	// Refused counts the files of plugins that cannot be used.
	Refused  int           `json:"plugins_refused"`
	Faults   config.Faults `json:"-"`
	Warnings config.Faults `json:"-"`
}

// MigrateOptions are the flags of "ax migrate".
type MigrateOptions struct {
	Config string
	// DSN replaces that of the configuration, for an account that may change
	// the schema.
	DSN    string
	DryRun bool
}

// MigrateReport says what a migration did, or would do.
type MigrateReport struct {
	From    int      `json:"from"`
	To      int      `json:"to"`
	Applied []string `json:"applied"`
}

// NextSource is a configuration with its plugins, for computing due times.
type NextSource struct {
	Tasks     []ax.Task
	Calendars map[string]*calendar.Calendar
	Plugins   trigger.Plugins
	// Shown takes secrets out of a schedule; nil if there can be none.
	Shown func(ax.Schedule) ax.Schedule
	// Close stops the plugins.
	Close func()
}

// program is a run of the command line.
type program struct {
	Deps
	server     string
	context    string // name of one
	ca         string // file
	configPath string
	output     string
	lang       string // "", "en" or "zh"
}

// Run runs the command line and returns the exit code of the process. Errors
// are written to d.Err.
func Run(ctx context.Context, d Deps, args []string) int {
	p := &program{Deps: d}
	root := p.root()
	root.SetArgs(args)
	root.SetIn(d.In)
	root.SetOut(d.Out)
	root.SetErr(d.Err)
	err := root.ExecuteContext(ctx)
	if err == nil {
		return ExitOK
	}
	code := codeOf(ctx, err)
	if text := err.Error(); text != "" {
		fmt.Fprintln(d.Err, "ax: "+text)
	}
	if code == ExitUsage {
		fmt.Fprintln(d.Err, `"ax COMMAND --help" shows how a command is used`)
	}
	return code
}

func (p *program) root() *cobra.Command {
	root := &cobra.Command{
		Use:   "ax",
		Short: "A scheduler for tasks that are plugins",
		Long: `ax runs tasks at their due times, in plugins, and keeps a record of every run.

A host is started with "ax serve". The other commands talk to a host, or check
and compute things without one: validate, migrate, simulate, and next with
--config or with a schedule of its own.

The configuration file is the first of these that is given: --config, AX_CONFIG,
config.yaml in the current folder. The host is at the first of these:
` + addressHelp + exitCodeHelp + `
Environment:
  AX_CONFIG  configuration file
  AX_SERVER  URL of the host; AX_ADDR does the same
  AX_TOKEN   token for hosts that ask who you are
  AX_CA      the same as --ca
  LC_ALL, LC_MESSAGES, LANG
             schedules are described in Chinese if the first one that is set begins
             with zh, else in English; --lang goes before them`,
		Example: `  ax serve --config config.yaml
  ax tasks
  ax run nightly-report --wait
  ax logs -f 7212883712040960`,
		Version:       p.Version,
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	root.SetVersionTemplate("ax {{.Version}}\n") // "ax version" tells more
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return usage(err) })
	flags := root.PersistentFlags()
	flags.StringVar(&p.server, "server", "", "`URL` of the host, such as "+defaultAddr+" (\"ax --help\" tells the default)")
	flags.StringVar(&p.server, "addr", "", "the same as --server")
	_ = flags.MarkHidden("addr") // it is there
	flags.StringVar(&p.context, "context", "", "`NAME` of the context to use, see \"ax context\"")
	flags.StringVar(&p.ca, "ca", "", "PEM `FILE` of the authority that the host's certificate comes from")
	flags.StringVarP(&p.configPath, "config", "c", "", "configuration `FILE` (default $AX_CONFIG, else "+defaultConfig+")")
	flags.StringVarP(&p.output, "output", "o", "table", "`FORMAT` of results: table for people, json for programs")
	root.PersistentPreRunE = func(*cobra.Command, []string) error {
		if p.output != "table" && p.output != "json" {
			return usage(fmt.Errorf("-o %s: expected table or json", p.output))
		}
		return nil
	}
	p.complete(root, "output", "table", "json")
	root.AddGroup(
		&cobra.Group{ID: "host", Title: "Run a host:"},
		&cobra.Group{ID: "tasks", Title: "Tasks and their runs:"},
	)
	p.addHostCommands(root)
	p.addClientCommands(root)
	return root
}

// command completes a command: its group, and errors that count as failures
// of the command, not of its usage.
func command(c *cobra.Command, group string, run func(cmd *cobra.Command, args []string) error) *cobra.Command {
	c.GroupID = group
	if c.Args == nil {
		c.Args = cobra.NoArgs
	}
	check := c.Args
	c.Args = func(cmd *cobra.Command, args []string) error {
		if err := check(cmd, args); err != nil {
			return usage(argsError(cmd, args))
		}
		return nil
	}
	c.RunE = func(cmd *cobra.Command, args []string) error { return failed(run(cmd, args)) }
	return c
}

// exclusive makes sure that at most one of some flags is given.
func exclusive(c *cobra.Command, flags ...string) error {
	given := slices.DeleteFunc(flags, func(name string) bool { return !c.Flags().Changed(name) })
	if len(given) < 2 {
		return nil
	}
	return usage(fmt.Errorf("give only one of --%s", strings.Join(given, " and --")))
}

// argsError says what is wrong with the arguments of a command, and how it is
// used. The words after the name in Use are the arguments.
func argsError(c *cobra.Command, args []string) error {
	wanted := strings.Fields(c.Use)[1:]
	var text string
	if len(args) > len(wanted) {
		text = fmt.Sprintf("unexpected argument %q", args[len(wanted)])
	} else {
		text = wanted[len(args)] + " is missing"
	}
	example, _, _ := strings.Cut(strings.TrimSpace(c.Example), "\n")
	return fmt.Errorf("%s\nusage:    %s\nexample:  %s", text, c.UseLine(), example)
}

// complete offers fixed values for a flag in shells.
func (p *program) complete(c *cobra.Command, flag string, values ...string) {
	// The only errors are a flag that does not exist or is completed twice.
	if err := c.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp)); err != nil {
		panic(err)
	}
}

// configFile returns the path of the configuration to use.
func (p *program) configFile() string {
	for _, path := range []string{p.configPath, p.Env("AX_CONFIG")} {
		if path != "" {
			return path
		}
	}
	return defaultConfig
}

// json reports whether results are for programs.
func (p *program) json() bool { return p.output == "json" }

// Std returns the parts of Deps that belong to the process.
func Std() Deps {
	return Deps{
		In: os.Stdin, Out: os.Stdout, Err: os.Stderr,
		Terminal: isTerminal(os.Stderr), Narrow: isTerminal(os.Stdout),
		Now: time.Now, Zone: time.Local, Env: os.Getenv,
	}
}

func isTerminal(f *os.File) bool {
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

// dashed joins lines of an indented list.
func dashed(lines []string) string { return "  - " + strings.Join(lines, "\n  - ") }
