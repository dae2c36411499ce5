package main

import (
	"slices"
	"sync"
)

// maxPartial bounds how many messages are remembered; an older one would be
// sent to everybody again.
const maxPartial = 1000

// partial remembers of messages that only some recipients have who still waits.
// It does not outlive the process: then those who have it get it again, with
// the same Message-ID. The zero value is ready for use.
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
