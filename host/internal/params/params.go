// Package params renders a task's parameters for one due time: strings in them
// may be Go templates over the due time, such as
//
//	date: '{{ date "2006-01-02" (addDays -1 .ScheduledAt) }}'
package params

import (
	"encoding/json"
	"fmt"
	"maps"
	"time"
)

// Values is what a template sees as its dot.
type Values struct {
	App        string
	Task       string
	InstanceID string
	Kind       string
	Node       string
	TraceID    string
	// ScheduledAt is the due time in the task's zone.
	ScheduledAt time.Time
	// Shard counts from 0 to Shards-1; Shards is 0 for a run that is no shard.
	Shard, Shards int
}

// Template is a compiled parameter object. The zero value renders to nil.
// Safe for concurrent use.
type Template struct {
	raw  json.RawMessage
	root node
}

// Render returns the JSON object for one due time.
func (t *Template) Render(v Values) (json.RawMessage, error) {
	if t.root == nil {
		return t.raw, nil
	}
	doc, err := t.root(v)
	if err != nil {
		return nil, err
	}
	out, err := json.Marshal(doc)
	if err != nil {
		return nil, fmt.Errorf("encode params: %w", err)
	}
	return out, nil
}

// Merge lays the members of over upon those of base; both are JSON objects or
// empty.
func Merge(base, over json.RawMessage) (json.RawMessage, error) {
	if len(over) == 0 {
		return base, nil
	}
	if len(base) == 0 {
		return over, nil
	}
	var a, b map[string]json.RawMessage
	if err := json.Unmarshal(base, &a); err != nil {
		return nil, fmt.Errorf("decode params: %w", err)
	}
	if err := json.Unmarshal(over, &b); err != nil {
		return nil, fmt.Errorf("decode params: %w", err)
	}
	maps.Copy(a, b)
	return json.Marshal(a)
}
