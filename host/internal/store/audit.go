package store

import (
	"context"

	"github.com/axsched/ax/host/internal/ax"
)

const insertAudit = "INSERT INTO ax_audit (at, app, actor, action, object, detail) VALUES (?, ?, ?, ?, ?, ?)"

func auditArgs(r ax.AuditRow) []any {
	return []any{micros(r.At), r.App, r.Actor, r.Action, Cut(r.Object, MaxMessage), jsonText(cutJSON(r.Detail, MaxData))}
}

// Audit adds a row to the audit trail. The ID of row is not looked at.
func (s *Store) Audit(ctx context.Context, row ax.AuditRow) error {
	_, err := s.exec(ctx, "write the audit trail", insertAudit, auditArgs(row)...)
	return err
}

// AuditTrail returns the rows that the filter selects, newest first.
func (s *Store) AuditTrail(ctx context.Context, f ax.AuditFilter) ([]ax.AuditRow, error) {
	const what = "read the audit trail"
	w := where{}
	w.add("app = ?", f.App)
	if f.Object != "" {
		w.add("object = ?", f.Object)
	}
	in(&w, "action", f.Actions)
	if f.Before != 0 {
		w.add("id < ?", f.Before)
	}
	w.args = append(w.args, limit(f.Limit, 100))
	rows, err := s.query(ctx, "SELECT id, at, app, actor, action, object, detail FROM ax_audit"+w.text+" ORDER BY id DESC LIMIT ?", w.args...)
	if err != nil {
		return nil, s.wrap(what, err)
	}
	defer rows.Close()
	var all []ax.AuditRow
	for rows.Next() {
		var r ax.AuditRow
		if err := rows.Scan(&r.ID, timeColumn{&r.At}, &r.App, &r.Actor, &r.Action, &r.Object, jsonColumn{&r.Detail}); err != nil {
			return nil, s.wrap(what, err)
		}
		all = append(all, r)
	}
	return all, s.wrap(what, rows.Err())
}
