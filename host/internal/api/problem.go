package api

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/axsched/ax/host/internal/ax"
)

// problem turns an error of the backend into what the client sees. What is not
// meant for clients goes to the log only.
func (s *server) problem(ctx context.Context, operation string, err error) error {
	if _, ok := errors.AsType[huma.StatusError](err); ok {
		return err
	}
	if e, ok := errors.AsType[*NotFound](err); ok {
		return huma.Error404NotFound(e.Error())
	}
	if e, ok := errors.AsType[*Conflict](err); ok {
		return huma.Error409Conflict(e.Error())
	}
	if e, ok := errors.AsType[*Forbidden](err); ok {
		return huma.Error403Forbidden(e.Error())
	}
	if e, ok := errors.AsType[*Stale](err); ok {
		return huma.NewError(http.StatusPreconditionFailed, e.Error(),
			&huma.ErrorDetail{Location: "header.If-Match", Message: "the version that the change was made for", Value: e.Asked},
			&huma.ErrorDetail{Location: "version", Message: "the version that is there", Value: e.Present})
	}
	if e, ok := errors.AsType[*Unavailable](err); ok {
		return huma.Error503ServiceUnavailable(e.Error())
	}
	if e, ok := errors.AsType[*Invalid](err); ok {
		details := convert(e.Faults, func(f Fault) error {
			return &huma.ErrorDetail{Location: f.Where, Message: f.Message}
		})
		return huma.Error422UnprocessableEntity(e.Error(), details...)
	}
	if errors.Is(err, ax.ErrNotFound) {
		return huma.Error404NotFound("there is no such thing")
	}
	if errors.Is(err, ax.ErrUnavailable) {
		return huma.Error503ServiceUnavailable("the database is away")
	}
	if ctx.Err() != nil {
		return huma.Error503ServiceUnavailable("the request was given up")
	}
	s.log.Error("request failed", "operation", operation, "error", err)
	return huma.Error500InternalServerError("internal error; the log of the host tells more")
}

// writeProblem writes a problem document where huma does not.
func writeProblem(w http.ResponseWriter, err error) {
	status := http.StatusInternalServerError
	if e, ok := errors.AsType[huma.StatusError](err); ok {
		status = e.GetStatus()
	}
	w.Header().Set("Content-Type", "application/problem+json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(err) // the client is gone if this fails
}
