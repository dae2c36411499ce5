package main

import (
	"encoding/json"
	"slices"
)

// receipt is who still waits for a message, as the host keeps it, so that it
// outlives the process and is known on all hosts.
type receipt struct {
	Message string   `json:"message"`
	Waiting []string `json:"waiting"`
}

// receiptOf writes who waits for the host, nothing if nobody does.
func receiptOf(id string, waiting []string) string {
	if len(waiting) == 0 {
		return ""
	}
	raw, err := json.Marshal(receipt{id, waiting})
	if err != nil { // texts always can be written
		return ""
	}
	return string(raw)
}

// kept returns who waits for a message by what receiptOf wrote, without those
// whom the settings no longer name; ok is false if the receipt is about another
// message.
func kept(text, id string, everybody []string) (waiting []string, ok bool) {
	var r receipt
	if json.Unmarshal([]byte(text), &r) != nil || r.Message != id {
		return nil, false
	}
	return slices.DeleteFunc(r.Waiting, func(one string) bool { return !slices.Contains(everybody, one) }), true
}
