package store

import (
	"context"
	"encoding/json"

	"github.com/axsched/ax/host/internal/ax"
)

// auditDetail is the detail of an audit row about a definition.
type auditDetail struct {
	Revision int64 `json:"revision"`
	// Before is the definition that was replaced. The one that replaced it, unless
	// After has it, is in the next such row, or in ax_task.
	Before json.RawMessage `json:"before,omitempty"`
	After  json.RawMessage `json:"after,omitempty"`
}

// detail is what the audit trail tells of a change; before or after is empty where
// there is nothing. Definitions from files stand there only as they were before:
// they may be very many, and the files have them.
func (a *applier) detail(revision int64, before, after string) auditDetail {
	d := auditDetail{Revision: revision}
	shown := a.params.Shown
	if before != "" && (shown != nil || after != "") {
		d.Before = json.RawMessage(before)
	}
	if shown == nil {
		return d
	}
	if before != "" {
		d.Before = shown(d.Before)
	}
	if after != "" {
		d.After = shown(json.RawMessage(after))
	}
	return d
}

func (a *applier) record(ctx context.Context, action, name string, d auditDetail) error {
	detail, err := plainJSON(d)
	if err != nil {
		return err
	}
	p := a.params
	row := ax.AuditRow{At: p.Now, App: p.App, Actor: p.Actor, Action: action, Object: name, Detail: detail}
	_, err = a.audit.ExecContext(ctx, auditArgs(row)...)
	return err
}
