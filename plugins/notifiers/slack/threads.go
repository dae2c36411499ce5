package main

import (
	"slices"
	"sync"
	"time"

	"github.com/axsched/ax/plugins/internal/notice"
)

// maxThreads bounds how many threads are remembered.
const maxThreads = 1000

// threadKey is what a thread is about, and where it is.
type threadKey struct{ token, channel, app, task string }

// thread is the first message about a task that has not recovered since.
type thread struct {
	channel string // id
	ts      string // how Slack names the message
	opened  time.Time
	first   notice.Notice
}

// threads remembers the open threads of all receivers, for hosts that keep no
// receipts: Slack itself would tell of them only to an app that may read the
// channel. The zero value is ready for use.
type threads struct {
	mu    sync.Mutex
	open  map[threadKey]thread
	order []threadKey // of the keys of open, oldest first
}

// find returns the thread of a key if it was opened after the given time.
func (t *threads) find(key threadKey, after time.Time) (thread, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	found, ok := t.open[key]
	if !ok || !found.opened.After(after) {
		return thread{}, false
	}
	return found, true
}

// add opens a thread in place of an older one.
func (t *threads) add(key threadKey, opened thread) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.drop(key)
	if t.open == nil {
		t.open = map[threadKey]thread{}
	}
	t.open[key] = opened
	if t.order = append(t.order, key); len(t.order) > maxThreads {
		t.drop(t.order[0])
	}
}

// forget closes a thread.
func (t *threads) forget(key threadKey) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.drop(key)
}

func (t *threads) drop(key threadKey) {
	if _, known := t.open[key]; known {
		delete(t.open, key)
		t.order = slices.DeleteFunc(t.order, func(other threadKey) bool { return other == key })
	}
}
