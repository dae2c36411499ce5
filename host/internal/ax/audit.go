package ax

import (
	"encoding/json"
	"time"
)

// AuditRow is a row of ax_audit: who changed what.
type AuditRow struct {
	ID    int64 // set by the database
	At    time.Time
	App   string
	Actor string // a user, or "config" for the configuration file
	// Action is "task.create", "task.update", "task.delete", "task.pause" …
	Action string
	// Object is what was changed, by name.
	Object string
	// Detail is a JSON object, nil for none.
	Detail json.RawMessage
}

// AuditFilter selects rows of ax_audit, newest first.
type AuditFilter struct {
	App    string
	Object string // empty = all
	// Actions to look for, empty = all.
	Actions []string
	// Before pages: only rows with a smaller ID. 0 = from the newest.
	Before int64
	Limit  int // 0 = 100
}
