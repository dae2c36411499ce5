package spool

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/axsched/ax/host/internal/ax"
)

// Result is the end of an attempt, as it was to be written.
type Result struct {
	Move   ax.Move
	Events []ax.Event
	Alerts []ax.AlertEvent `json:",omitempty"`
	// Outcome and WillRetry are what is told of the end once it is written.
	Outcome   ax.Outcome
	WillRetry bool
}

// change returns what is submitted to the database.
func (r Result) change() ax.Change {
	return ax.Change{Move: &r.Move, Events: r.Events, Alerts: r.Alerts}
}

// encode makes the text that is kept in the file. A newer program must be able
// to read it: fields may come, and none may change its meaning.
func encode(r Result) ([]byte, error) {
	text, err := json.Marshal(r)
	if err != nil {
		return nil, fmt.Errorf("encode it: %w", err)
	}
	return text, nil
}

func decode(text []byte) (Result, error) {
	var r Result
	if err := json.Unmarshal(text, &r); err != nil {
		return r, fmt.Errorf("decode it: %w", err)
	}
	if r.Move.New.ID == 0 || !ax.CanMove(r.Move.From, r.Move.New.Status) {
		return r, errors.New("decode it: it is no result")
	}
	return r, nil
}
