package ax

import "errors"

// Errors that decide what a caller does next. The store wraps them, so test
// with errors.Is.
var (
	// ErrNotFound: no such row.
	ErrNotFound = errors.New("not found")
	// ErrDuplicate: an instance of this task, due time, kind and shard exists.
	ErrDuplicate = errors.New("an instance for this due time exists already")
	// ErrRepeated: a request with this key was done already.
	ErrRepeated = errors.New("a request with this key was done already")
	// ErrRevised: the definition is not the one that the caller wants to replace.
	ErrRevised = errors.New("the definition was changed by somebody else")
	// ErrMoved: the row is no longer as the caller saw it; look again.
	ErrMoved = errors.New("changed by somebody else meanwhile")
	// ErrUnavailable: the database could not be reached or written for longer
	// than the writer was allowed to wait. The same change may be sent again.
	ErrUnavailable = errors.New("the database is unavailable")
	// ErrAway: what a run needs, such as its plugin, is not there, so that it has
	// not begun; it can begin later.
	ErrAway = errors.New("what it takes is not there")
	// ErrClosed: the store was closed before.
	ErrClosed = errors.New("the store is closed")
)
