package store

import (
	"context"
	"errors"
	"time"
)

// Operation is a kind of work of the database.
type Operation string

// What Options.Observe is told of.
const (
	// OpWrite is a transaction of the group-commit writer, from BEGIN to COMMIT.
	OpWrite Operation = "write"
	// OpChange is another transaction that writes.
	OpChange Operation = "change"
	// OpRead is a query until its first row is there.
	OpRead Operation = "read"
)

// Fault says in a word why the database refused something; empty for no fault.
type Fault string

// Reasons of the database to refuse something.
const (
	FaultCollision   Fault = "collision"   // another transaction was in the way
	FaultUnavailable Fault = "unavailable" // busy, full or away
	FaultOther       Fault = "other"
)

// observe tells Options.Observe of a piece of work that began at a time.
func (s *Store) observe(op Operation, began time.Time, err error) {
	if s.options.Observe != nil {
		s.options.Observe(op, time.Since(began), s.faultOf(err))
	}
}

// faultOf tells what is a fault of the database from what is an answer: a condition
// that did not hold, a row that is there already.
func (s *Store) faultOf(err error) Fault {
	switch {
	case err == nil, errors.Is(err, context.Canceled), s.dialect.duplicate(err):
		return ""
	case s.dialect.collided(err):
		return FaultCollision
	case s.dialect.transient(err), errors.Is(err, context.DeadlineExceeded):
		return FaultUnavailable
	case number(err) != 0, code(err) != 0:
		return FaultOther
	}
	return ""
}
