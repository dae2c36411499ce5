package main

import (
	"encoding/json"
	"slices"
	"sync"
)

// maxPartial bounds how many messages are remembered; an older one would be
// sent to everybody again.
const maxPartial = 1000

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

// partial remembers the same for hosts that keep no receipts. The zero value is
// ready for use.
type partial struct {
	mu      sync.Mutex
	waiting map[string][]string
	order   []string // of the keys of waiting, oldest first
}

// rest returns who still waits for a message, everybody if it is new.
func (p *partial) rest(id string, everybody []string) []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	if waiting := p.waiting[id]; len(waiting) > 0 {
		return waiting
	}
	return everybody
}

// keep notes who still waits for a message after some have got it.
func (p *partial) keep(id string, waiting []string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	_, known := p.waiting[id]
	switch {
	case len(waiting) == 0 && !known:
		return
	case len(waiting) == 0:
		delete(p.waiting, id)
		p.order = slices.DeleteFunc(p.order, func(other string) bool { return other == id })
		return
	case p.waiting == nil:
		p.waiting = map[string][]string{}
	}
	if !known {
		p.order = append(p.order, id)
	}
	p.waiting[id] = waiting
	if len(p.order) > maxPartial {
		delete(p.waiting, p.order[0])
		p.order = p.order[1:]
	}
}
