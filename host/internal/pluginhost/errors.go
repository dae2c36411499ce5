package pluginhost

import (
	"fmt"
	"strings"

	"github.com/axsched/ax/host/internal/ax"
	"github.com/axsched/ax/pluginapi"
)

// NotFoundError says that no plugin offers a component.
type NotFoundError struct {
	Kind pluginapi.Kind
	Use  string
	// Suggestion is the closest name that does exist, or empty.
	Suggestion string
}

func (e *NotFoundError) Error() string {
	text := fmt.Sprintf("no plugin offers the %s %q", e.Kind, e.Use)
	if e.Suggestion != "" {
		text += fmt.Sprintf("; did you mean %q?", e.Suggestion)
	}
	return text
}

// AmbiguousError says that several plugins offer a component of one name.
type AmbiguousError struct {
	Kind pluginapi.Kind
	Use  string
	// Candidates are the full names, "plugin/name", in alphabetical order.
	Candidates []string
}

func (e *AmbiguousError) Error() string {
	return fmt.Sprintf("several plugins offer the %s %q; write one of %s",
		e.Kind, e.Use, strings.Join(e.Candidates, ", "))
}

// UnavailableError says that a plugin cannot answer now but may do so later:
// it is in back-off or quarantine, was refused, could not be started, died
// during the call or did not answer in time.
type UnavailableError struct {
	Plugin string
	Reason string
	// Err is the cause, if there is one.
	Err error
}

func (e *UnavailableError) Error() string {
	return fmt.Sprintf("plugin %s is not available: %s", e.Plugin, e.Reason)
}

func (e *UnavailableError) Unwrap() error { return e.Err }

// awayError says that no process could be had for a call: nothing was asked of
// the plugin. It reads as its cause, and is ax.ErrAway too.
type awayError struct{ error }

func (e awayError) Unwrap() []error { return []error{e.error, ax.ErrAway} }

// MisbehavedError says that a plugin broke the contract: its answer cannot be
// used, and asking again would bring no better one.
type MisbehavedError struct {
	Plugin    string
	Component string
	What      string
}

func (e *MisbehavedError) Error() string {
	return fmt.Sprintf("plugin %s broke the contract in %s: %s", e.Plugin, e.Component, e.What)
}
