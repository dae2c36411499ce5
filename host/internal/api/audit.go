package api

import (
	"context"
	"net/http"
	"strconv"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/axsched/ax/host/internal/ax"
)

// AuditView is a change that somebody made.
type AuditView struct {
	ID     string    `json:"id"`
	At     time.Time `json:"at"`
	Actor  string    `json:"actor" doc:"Who made it; config for the files"`
	Action string    `json:"action"`
	Object string    `json:"object" doc:"What was changed, by name"`
	Detail any       `json:"detail,omitempty" doc:"Of a definition what it was before, and after if people made it"`
}

// AuditList is a page of changes, newest first.
type AuditList struct {
	Changes []AuditView `json:"changes" nullable:"false"`
	Next    string      `json:"next,omitempty" doc:"Value of before for the next page; absent on the last one"`
}

func (s *server) auditRoutes() {
	register(s, huma.Operation{
		OperationID: "list-audit", Method: http.MethodGet, Path: Base + "/audit",
		Summary: "List who changed what, newest first", Tags: []string{"host"},
	}, s.listAudit)
}

type auditQuery struct {
	Object string `query:"object" maxLength:"1024" doc:"Of this task, or other thing"`
	Before int64  `query:"before" minimum:"0" doc:"Value of next of the page before"`
	Limit  int    `query:"limit" minimum:"1" maximum:"1000" default:"100"`
}

func (s *server) listAudit(ctx context.Context, in *auditQuery) (*reply[AuditList], error) {
	rows, err := s.backend.AuditTrail(ctx, ax.AuditFilter{Object: in.Object, Before: in.Before, Limit: in.Limit})
	if err != nil {
		return nil, err
	}
	list := AuditList{Changes: convert(rows, func(r ax.AuditRow) AuditView {
		return AuditView{
			ID: strconv.FormatInt(r.ID, 10), At: r.At, Actor: r.Actor, Action: r.Action, Object: r.Object, Detail: rawOrNil(r.Detail),
		}
	})}
	if len(rows) >= in.Limit {
		list.Next = list.Changes[len(rows)-1].ID
	}
	return &reply[AuditList]{list}, nil
}
