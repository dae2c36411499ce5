package pluginapi

import (
	"errors"
	"time"
)

// RetryAfter wraps err of a [Notifier] whose receiver takes nothing for a while,
// or asks for a pause: the host tries again no sooner than after wait, counted
// from the return of Notify, and perhaps later. A wait of 0 or less says nothing.
// It goes without saying that such an error is not permanent; [Permanent] wins.
func RetryAfter(err error, wait time.Duration) error {
	if err == nil || wait <= 0 {
		return err
	}
	return &retryAfterError{err, wait}
}

// RetryWait returns the wait with which err was wrapped by [RetryAfter], 0 if it
// was not.
func RetryWait(err error) time.Duration {
	if e, ok := errors.AsType[*retryAfterError](err); ok {
		return e.wait
	}
	return 0
}

type retryAfterError struct {
	err  error
	wait time.Duration
}

func (e *retryAfterError) Error() string { return e.err.Error() }
func (e *retryAfterError) Unwrap() error { return e.err }
