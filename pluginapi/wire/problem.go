package wire

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/axsched/ax/pluginapi"
	pb "github.com/axsched/ax/pluginapi/proto/ax/plugin/v1"
)

// ProblemError is a problem that a plugin reported, as the host sees it.
// [pluginapi.IsPermanent] is true for one that trying again cannot solve.
type ProblemError struct {
	Kind    pb.Problem_Kind
	Message string
	// Stack is where a plugin panicked, or empty.
	Stack string
}

// Error returns the plugin's words.
func (e *ProblemError) Error() string { return e.Message }

// problemf makes an error that [EncodeProblem] sends with the given kind.
func problem(kind pb.Problem_Kind, message string) error {
	return &ProblemError{Kind: kind, Message: message}
}

// EncodeProblem returns err for the wire, nil for nil. An error that is none
// of ours is RETRYABLE, or PERMANENT if it was wrapped with
// [pluginapi.Permanent].
func EncodeProblem(err error) *pb.Problem {
	if err == nil {
		return nil
	}
	out := &pb.Problem{Kind: pb.Problem_RETRYABLE, Message: problemText(err.Error())}
	if p, ok := errors.AsType[*ProblemError](err); ok {
		out.Kind, out.Stack = p.Kind, problemText(p.Stack)
	} else if pluginapi.IsPermanent(err) {
		out.Kind = pb.Problem_PERMANENT
	}
	out.RetryAfter = pluginapi.RetryWait(err).Microseconds()
	return out
}

// maxProblem bounds the words of a problem, so that the message with them in it is
// far from MaxMessage: an error that cannot be sent would be none.
const maxProblem = 256 << 10

func problemText(s string) string {
	if len(s) > maxProblem {
		s = fmt.Sprintf("%s… [%d bytes cut]", s[:maxProblem], len(s)-maxProblem)
	}
	return validText(s)
}

// maxRetryAfter is the longest wait that is believed.
const maxRetryAfter = 365 * 24 * time.Hour

// DecodeProblem returns an error that holds a *[ProblemError], nil for nil.
// [pluginapi.RetryWait] returns the wait that a receiver asked for.
func DecodeProblem(in *pb.Problem) error {
	if in == nil {
		return nil
	}
	err := &ProblemError{Kind: in.GetKind(), Message: in.GetMessage(), Stack: in.GetStack()}
	if err.Message == "" {
		err.Message = "the plugin reported a problem without a message"
	}
	switch err.Kind {
	case pb.Problem_INVALID, pb.Problem_PERMANENT:
		return pluginapi.Permanent(err)
	}
	micros := min(in.GetRetryAfter(), maxRetryAfter.Microseconds())
	return pluginapi.RetryAfter(err, time.Duration(micros)*time.Microsecond)
}

// IsUnknownSpec reports whether a plugin must be prepared (again) first.
func IsUnknownSpec(err error) bool {
	p, ok := errors.AsType[*ProblemError](err)
	return ok && p.Kind == pb.Problem_UNKNOWN_SPEC
}

// Reasons of a soft cancel, as Job.Cancel carries them.
const (
	ReasonTimeout  = "timeout"
	ReasonCanceled = "canceled"
	ReasonReplaced = "replaced"
	ReasonDrain    = "drain"
)

// EncodeReason names the cause with which a run's context ends, "" for none of
// the causes of package pluginapi.
func EncodeReason(cause error) string {
	switch {
	case errors.Is(cause, pluginapi.ErrTimeout):
		return ReasonTimeout
	case errors.Is(cause, pluginapi.ErrCanceled):
		return ReasonCanceled
	case errors.Is(cause, pluginapi.ErrReplaced):
		return ReasonReplaced
	case errors.Is(cause, pluginapi.ErrDrain):
		return ReasonDrain
	}
	return ""
}

// DecodeReason is the opposite of [EncodeReason]; an unknown reason, of a newer
// host, counts as a cancel.
func DecodeReason(reason string) error {
	switch reason {
	case ReasonTimeout:
		return pluginapi.ErrTimeout
	case ReasonReplaced:
		return pluginapi.ErrReplaced
	case ReasonDrain:
		return pluginapi.ErrDrain
	}
	return pluginapi.ErrCanceled
}

// isContextEnd reports whether err only says that a context ended.
func isContextEnd(err error) bool {
	return errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}

// validText makes a string fit for protobuf, which refuses broken UTF-8.
func validText(s string) string { return strings.ToValidUTF8(s, "\uFFFD") }
