package cli

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	hostclient "github.com/axsched/ax/host/client"
	"github.com/axsched/ax/host/internal/api"
	"github.com/axsched/ax/host/internal/config"
)

// Exit codes of the program.
const (
	ExitOK          = 0
	ExitFailed      = 1
	ExitUsage       = 2
	ExitUnreachable = 3
	ExitNotFound    = 4
	ExitFaults      = 5
	ExitRefused     = 6
	ExitChanges     = 7
	ExitInterrupted = 130
)

const exitCodeHelp = `
Exit codes:
  0    done; with run --wait: the run succeeded
  1    failed; with run --wait: the run did not succeed
  2    wrong usage
  3    no host can be reached
  4    there is no such task, instance or plugin
  5    the configuration has faults
  6    refused: the state of the task or instance, or your role, does not allow it
  7    plan: the configuration would change tasks
  130  interrupted
`

// coded is an error that decides the exit code.
type coded interface {
	error
	exitCode() int
}

// exitError ends the program with a code; without an err all has been said.
type exitError struct {
	code int
	err  error
}

func (e *exitError) Error() string {
	if e.err == nil {
		return ""
	}
	return e.err.Error()
}

func (e *exitError) Unwrap() error { return e.err }
func (e *exitError) exitCode() int { return e.code }

// usage marks an error as a wrong use of the command line.
func usage(err error) error {
	if err == nil {
		return nil
	}
	return &exitError{code: ExitUsage, err: err}
}

// failure marks errors of a command that was used rightly.
type failure struct{ error }

func (e *failure) Unwrap() error { return e.error }

func failed(err error) error {
	if err == nil {
		return nil
	}
	return &failure{err}
}

// unreachable says that no host answers.
type unreachable struct{ *hostclient.UnreachableError }

func (e *unreachable) Error() string {
	return fmt.Sprintf("no host answers at %s (%v)\nstart one with: ax serve --config FILE\nor say where it is with --server, --config, AX_SERVER or \"ax context\"", e.Server, e.Err)
}

func (e *unreachable) exitCode() int { return ExitUnreachable }

// refusal is a problem document of the host.
type refusal struct{ *hostclient.ProblemError }

func (e *refusal) Error() string {
	if e.Status == http.StatusPreconditionFailed { // the detail names both versions
		return e.Detail
	}
	lines := []string{e.Detail}
	if e.Detail == "" {
		lines[0] = fmt.Sprintf("the host answers %d %s", e.Status, http.StatusText(e.Status))
	}
	for _, detail := range e.Errors {
		line := detail.Message
		if detail.Location != "" {
			line = detail.Location + ": " + line
		}
		lines = append(lines, "  "+line)
	}
	if e.Status == http.StatusUnauthorized {
		lines = append(lines, "give a token with AX_TOKEN, or keep it in a context: ax context --help")
	}
	if e.Status == http.StatusNotFound {
		// What is not there is named second in the path: tasks, instances, plugins.
		if kind, _, ok := strings.Cut(strings.TrimPrefix(e.Path, api.Base+"/"), "/"); ok {
			if kind == "notifiers" || kind == "silences" {
				kind = "alerts " + kind
			}
			lines = append(lines, fmt.Sprintf(`"ax %s" lists those that are there`, kind))
		}
	}
	return strings.Join(lines, "\n")
}

func (e *refusal) exitCode() int {
	switch e.Status {
	case http.StatusNotFound:
		return ExitNotFound
	case http.StatusConflict, http.StatusPreconditionFailed, http.StatusForbidden, http.StatusUnauthorized:
		return ExitRefused
	case http.StatusUnprocessableEntity, http.StatusBadRequest:
		return ExitUsage
	default:
		return ExitFailed
	}
}

// codeOf returns the exit code for an error.
func codeOf(ctx context.Context, err error) int {
	if ctx.Err() != nil {
		return ExitInterrupted
	}
	if e, ok := errors.AsType[coded](err); ok {
		return e.exitCode()
	}
	if _, ok := errors.AsType[config.Faults](err); ok {
		return ExitFaults
	}
	if _, ok := errors.AsType[*failure](err); ok {
		return ExitFailed
	}
	// What cobra itself finds: an unknown command, a missing argument.
	return ExitUsage
}
