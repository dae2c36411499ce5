package pluginhost

import (
	"context"
	"errors"
	"sync"
	"time"

	pb "github.com/axsched/ax/pluginapi/proto/ax/plugin/v1"
	"github.com/axsched/ax/pluginapi/wire"
)

// specTable knows which specs and calendars a process has. Specs are prepared
// when first used, once however many calls want them, and released when no
// call has used them for a while.
type specTable struct {
	mu        sync.Mutex
	specs     map[string]*specEntry // by id
	calendars map[string]bool       // by hash: the process has it
}

type specEntry struct {
	ready chan struct{} // closed once prepared or failed
	err   error         // set before ready is closed
	users int
	used  time.Time // last
}

func newSpecTable() *specTable {
	return &specTable{specs: make(map[string]*specEntry), calendars: make(map[string]bool)}
}

// errShortPrepare is the fault of a plugin that leaves specs without a result.
var errShortPrepare = errors.New("the plugin did not say what became of the spec")

// prepareFunc is the Prepare call of a process.
type prepareFunc func(context.Context, *pb.PrepareRequest) (*pb.PrepareReply, error)

// use makes sure that the process has the specs and keeps them from being
// released until done is called. The error at index i is that of list[i].
func (t *specTable) use(ctx context.Context, list []wanted, call prepareFunc) (errs []error, done func()) {
	entries := make([]*specEntry, len(list))
	var missing []wanted
	var fresh []*specEntry
	t.mu.Lock()
	for i, w := range list {
		entry := t.specs[w.id]
		if entry == nil {
			entry = &specEntry{ready: make(chan struct{})}
			t.specs[w.id] = entry
			missing, fresh = append(missing, w), append(fresh, entry)
		}
		entry.users++
		entries[i] = entry
	}
	t.mu.Unlock()
	if len(missing) > 0 {
		t.prepare(ctx, missing, fresh, call)
	}
	errs = make([]error, len(list))
	for i, entry := range entries {
		select {
		case <-entry.ready:
			errs[i] = entry.err
		case <-ctx.Done():
			errs[i] = context.Cause(ctx)
		}
	}
	return errs, func() { t.unuse(entries) }
}

func (t *specTable) unuse(entries []*specEntry) {
	now := time.Now()
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, entry := range entries {
		entry.users--
		entry.used = now
	}
}

// prepare makes one call for all missing specs and sends the calendars that
// the process lacks along.
func (t *specTable) prepare(ctx context.Context, missing []wanted, fresh []*specEntry, call prepareFunc) {
	request := &pb.PrepareRequest{}
	sent := make(map[string]bool)
	t.mu.Lock()
	for _, w := range missing {
		request.Specs = append(request.Specs, w.message())
		for _, c := range w.handle.spec.Calendars {
			if hash := c.Hash(); !t.calendars[hash] && !sent[hash] {
				sent[hash] = true
				request.Calendars = append(request.Calendars,
					&pb.CalendarData{Name: c.Name(), Hash: hash, Data: c.Marshal()})
			}
		}
	}
	t.mu.Unlock()
	reply, err := call(ctx, request)

	t.mu.Lock()
	defer t.mu.Unlock()
	for hash := range sent {
		t.calendars[hash] = t.calendars[hash] || err == nil
	}
	for i, entry := range fresh {
		switch {
		case err != nil:
			entry.err = err
		case i >= len(reply.GetResults()):
			entry.err = errShortPrepare
		default:
			entry.err = wire.DecodeProblem(reply.GetResults()[i].GetProblem())
		}
		if entry.err != nil && t.specs[missing[i].id] == entry {
			delete(t.specs, missing[i].id) // the next use tries again
		}
		close(entry.ready)
	}
}

// forget is called when the process says that it does not know the specs, or
// the calendars that they name.
func (t *specTable) forget(list []wanted) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, w := range list {
		if entry := t.specs[w.id]; entry != nil && isClosed(entry.ready) {
			delete(t.specs, w.id)
		}
		for _, c := range w.handle.spec.Calendars {
			delete(t.calendars, c.Hash())
		}
	}
}

// stale removes the specs that nobody used since before and returns their ids.
func (t *specTable) stale(before time.Time) []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	var ids []string
	for id, entry := range t.specs {
		if entry.users == 0 && entry.used.Before(before) {
			delete(t.specs, id)
			ids = append(ids, id)
		}
	}
	return ids
}
