package main

import (
	"errors"
	"fmt"
	"net/textproto"
)

// replyError is a server's refusal in its own words.
type replyError struct {
	code int
	text string
}

// Error writes it as servers do, which [textproto.Error] does not.
func (e *replyError) Error() string { return fmt.Sprintf("%d %s", e.code, e.text) }

// at tells at which step of a dialogue something failed.
func at(step string, err error) error {
	if reply, ok := errors.AsType[*textproto.Error](err); ok {
		err = &replyError{reply.Code, reply.Msg}
	}
	return fmt.Errorf("%s: %w", step, err)
}

// isPermanent reports whether trying again is useless: the server says so by a
// code of 5xx, or it lacks what the settings demand.
func isPermanent(err error) bool {
	if reply, ok := errors.AsType[*replyError](err); ok {
		return reply.code >= 500
	}
	return errors.Is(err, errNoSTARTTLS) || errors.Is(err, errNoAuth)
}
