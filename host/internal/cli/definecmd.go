package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"regexp"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	hostclient "github.com/axsched/ax/host/client"
	"github.com/axsched/ax/host/internal/api"
	"github.com/axsched/ax/host/internal/config"
	"github.com/axsched/ax/host/internal/preview"
)

// stdin is the name of the standard input among files.
const stdin = "-"

// versionLine is what "ax tasks definition" writes first, for "ax tasks edit".
var versionLine = regexp.MustCompile(`^# version (\d+) of `)

func (p *program) defineCommands(tasks *cobra.Command) {
	tasks.AddCommand(p.definitionCommand(), p.createTaskCommand(), p.editTaskCommand(), p.deleteTaskCommand())
}

func (p *program) definitionCommand() *cobra.Command {
	return command(&cobra.Command{
		Use:   "definition TASK",
		Short: "Print the definition of a task as YAML",
		Long: `Print the definition of a task as YAML, as an entry of tasks: in the configuration.
Secrets are not in it: tasks that people make name them, ${secret:NAME}, and [secret]
stands for those of a file. The first line tells the version, by which "ax tasks edit"
finds out whether somebody else was quicker.`,
		Example:           "  ax tasks definition tidy-up >tidy-up.yaml",
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: p.taskNames,
	}, "", func(cmd *cobra.Command, args []string) error {
		host, err := p.client(cmd)
		if err != nil {
			return err
		}
		var d api.Definition
		if err := host.get(cmd.Context(), taskPath(args[0], "definition"), nil, &d); err != nil {
			return err
		}
		return p.show(d, func() string {
			if d.Source != api.SourceConsole {
				return fmt.Sprintf("# from %s, to be changed there\n%s", d.Source, d.YAML)
			}
			return fmt.Sprintf("# version %d of %s\n%s", d.Version, d.Name, d.YAML)
		})
	})
}

func (p *program) createTaskCommand() *cobra.Command {
	var check bool
	c := command(&cobra.Command{
		Use:   "create [FILE]",
		Short: "Make a task from a YAML file or the standard input",
		Long: `Make a task while the host runs. FILE holds what one entry of tasks: in the
configuration would hold, in YAML or JSON; without it, or for -, the standard input
is read. The task is kept in the database, known to all hosts of the app, and can be
changed with "ax tasks edit" and in the console. ${env:…} and ${file:…} are for the
files of the configuration only.

With --check nothing is kept: it tells what is wrong, or when the task would be due.`,
		Example: "  ax tasks create tidy-up.yaml\n  ax tasks create --check tidy-up.yaml\n  ax tasks definition tidy-up | sed 's/^name: .*/name: tidy-more/' | ax tasks create",
		Args:    cobra.MaximumNArgs(1),
	}, "", func(cmd *cobra.Command, args []string) error {
		file, text, err := p.readDefinition(args)
		if err != nil {
			return err
		}
		host, err := p.client(cmd)
		if err != nil {
			return err
		}
		if err := p.checkLang(); err != nil {
			return err
		}
		if check {
			return p.checkTask(cmd.Context(), host, file, text)
		}
		var d api.Definition
		if err := host.write(cmd.Context(), http.MethodPost, api.Base+"/tasks", text, "", &d); err != nil {
			return placed(err, file, text)
		}
		return p.showDefined(d, "made")
	})
	c.Flags().BoolVar(&check, "check", false, "keep nothing, tell what is wrong or when the task would be due")
	p.langFlag(c)
	return c
}

func (p *program) editTaskCommand() *cobra.Command {
	var version int64
	c := command(&cobra.Command{
		Use:   "edit TASK [FILE]",
		Short: "Define a task anew that was made with create, or in the console",
		Long: `Define a task anew from FILE, or from the standard input. If the file begins with the
line that "ax tasks definition" writes, or --version is given, the task is changed only
if nobody else has changed it since. Tasks of the configuration are changed there.`,
		Example: "  ax tasks definition tidy-up >tidy-up.yaml\n  ax tasks edit tidy-up tidy-up.yaml",
		Args:    cobra.RangeArgs(1, 2),
	}, "", func(cmd *cobra.Command, args []string) error {
		file, text, err := p.readDefinition(args[1:])
		if err != nil {
			return err
		}
		if m := versionLine.FindSubmatch(text); m != nil && version == 0 {
			if version, err = strconv.ParseInt(string(m[1]), 10, 64); err != nil {
				return usage(fmt.Errorf("%s: the version in its first line: %w", file, err))
			}
		}
		host, err := p.client(cmd)
		if err != nil {
			return err
		}
		var d api.Definition
		if err := host.write(cmd.Context(), http.MethodPut, taskPath(args[0]), text, match(version), &d); err != nil {
			return placed(err, file, text)
		}
		return p.showDefined(d, "changed")
	})
	c.Flags().Int64Var(&version, "version", 0, "change it only if this is its `VERSION`")
	return c
}

func (p *program) deleteTaskCommand() *cobra.Command {
	var version int64
	c := command(&cobra.Command{
		Use:               "delete TASK",
		Short:             "Delete a task that was made with create, or in the console",
		Long:              "Delete a task. Its history stays until the retention ends, runs under way end as\nusual. Tasks of the configuration are deleted there.",
		Example:           "  ax tasks delete tidy-up",
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: p.taskNames,
	}, "", func(cmd *cobra.Command, args []string) error {
		host, err := p.client(cmd)
		if err != nil {
			return err
		}
		return host.write(cmd.Context(), http.MethodDelete, taskPath(args[0]), nil, match(version), nil)
	})
	c.Flags().Int64Var(&version, "version", 0, "delete it only if this is its `VERSION`")
	return c
}

// match is the If-Match of a version, 0 for any.
func match(version int64) string {
	if version == 0 {
		return "*"
	}
	return strconv.Quote(strconv.FormatInt(version, 10))
}

// readDefinition reads the file that the arguments name, or the standard input.
func (p *program) readDefinition(args []string) (file string, text []byte, err error) {
	if len(args) == 0 || args[0] == stdin {
		text, err = io.ReadAll(io.LimitReader(p.In, config.MaxDefinition+1))
		return "standard input", text, err
	}
	text, err = os.ReadFile(args[0])
	return args[0], text, err
}

// write sends a definition, if there is one, and reads the answer into out, unless
// that is nil.
func (c *client) write(ctx context.Context, method, path string, text []byte, match string, out any) error {
	header := http.Header{}
	if match != "" {
		header.Set("If-Match", match)
	}
	return c.callWithin(ctx, requestTimeout, method, path, hostclient.YAML(text), out, header)
}

// checkTask tells what is wrong with a definition, or when it would be due.
func (p *program) checkTask(ctx context.Context, host *client, file string, text []byte) error {
	var check api.TaskCheck
	if err := host.write(ctx, http.MethodPost, api.Base+"/tasks/check", text, "", &check); err != nil {
		return err
	}
	if len(check.Faults) > 0 && !p.json() {
		lines := make([]string, len(check.Faults))
		for i, f := range check.Faults {
			lines[i] = placeOf(file, text, f.Field) + ": " + f.Message
		}
		return &exitError{ExitFaults, errors.New(strings.Join(lines, "\n"))}
	}
	err := p.show(check, func() string { return p.checkText(check, file, text) })
	if err == nil && len(check.Faults) > 0 {
		err = &exitError{code: ExitFaults}
	}
	return err
}

func (p *program) checkText(check api.TaskCheck, file string, text []byte) string {
	var b strings.Builder
	for _, w := range check.Warnings {
		fmt.Fprintf(&b, "warning: %s: %s\n", placeOf(file, text, w.Field), w.Message)
	}
	words := preview.Words{}
	if check.Words != nil {
		words = *check.Words
	}
	fmt.Fprintf(&b, "%s: %s\n", check.Name, words.In(p.language()))
	for _, at := range check.Times {
		fmt.Fprintln(&b, "  "+p.clock(at))
	}
	if check.Note != "" {
		fmt.Fprintln(&b, check.Note)
	}
	return b.String()
}

// showDefined tells of a definition that is in force now.
func (p *program) showDefined(d api.Definition, what string) error {
	for _, w := range d.Warnings {
		fmt.Fprintln(p.Err, "warning:", w.Message)
	}
	return p.show(d, func() string { return fmt.Sprintf("task %s %s, version %d\n", d.Name, what, d.Version) })
}

// placed gives faults of a definition their places in the file that it came from.
func placed(err error, file string, text []byte) error {
	refused, ok := errors.AsType[*refusal](err)
	if !ok || refused.Status != http.StatusUnprocessableEntity || len(refused.Errors) == 0 {
		return err
	}
	lines := make([]string, len(refused.Errors))
	for i, e := range refused.Errors {
		field := strings.TrimPrefix(strings.TrimPrefix(e.Location, "body"), ".")
		lines[i] = placeOf(file, text, field) + ": " + e.Message
	}
	return &exitError{ExitFaults, errors.New(strings.Join(lines, "\n"))}
}

// placeOf is where a key of a definition stands in a file.
func placeOf(file string, text []byte, field string) string {
	line, column := config.PlaceOfField(text, field)
	if line == 0 {
		return file
	}
	return fmt.Sprintf("%s:%d:%d", file, line, column)
}
