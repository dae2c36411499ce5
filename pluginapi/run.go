package pluginapi

import (
	"errors"
	"log/slog"
	"time"
)

// Run is one attempt as its Job sees it.
type Run struct {
	Fire
	// Deadline is when the context will end, zero if the task has no timeout.
	Deadline time.Time
	// CallbackURL takes the result of a Deferred run by POST; it holds a token
	// that is valid for this attempt only, so treat it as a secret. Empty if
	// the host has no HTTP listener.
	CallbackURL string
	// Log writes lines that people follow while the run goes on. Like Output it
	// waits for a host that is slower than the job, though not for ever: if the
	// host takes nothing for 30 s, or for 2 s in all once the context has ended,
	// lines are dropped, which the log of the run tells in their place.
	Log *slog.Logger
	// Output takes the raw output of the work; whole lines are streamed to the
	// host as they come. Safe for concurrent use. It waits as Log does.
	Output OutputWriter
	// Progress tells how far the run is. total 0 means unknown.
	Progress func(done, total int64, message string)
	// OnKill registers what must still be done if the plugin process has to end
	// while the run goes on, for instance because the host was killed: usually
	// to kill a process group that the run started. kill has a few milliseconds.
	// Call release once there is nothing to kill any more.
	OnKill func(kill func()) (release func())
}

// OutputWriter takes output of a run; it never returns an error. Write returns
// len(p) once all of p is on its way, or counted as dropped.
type OutputWriter interface {
	Write(p []byte) (int, error)
}

// Causes with which the context of a Run ends.
var (
	ErrTimeout  = errors.New("the task's timeout is over")
	ErrCanceled = errors.New("canceled by a person")
	ErrReplaced = errors.New("replaced by a newer due time")
	ErrDrain    = errors.New("the host is shutting down")
)

// Permanent wraps err so that the host does not try again.
func Permanent(err error) error {
	if err == nil {
		return nil
	}
	return &permanentError{err}
}

// IsPermanent reports whether err was wrapped with Permanent.
func IsPermanent(err error) bool {
	_, ok := errors.AsType[*permanentError](err)
	return ok
}

type permanentError struct{ err error }

func (e *permanentError) Error() string { return e.err.Error() }
func (e *permanentError) Unwrap() error { return e.err }
