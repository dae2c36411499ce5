package access

import (
	"context"
	"encoding/json"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/axsched/ax/host/internal/ax"
)

// A host writes at most refusalRows rows about refusals in refusalSpan, and one
// about the same from the same address: whoever is refused could else fill the
// table. What is left out is counted in the next row.
const (
	refusalRows = 60
	refusalSpan = 10 * time.Minute
)

// trail writes to the audit trail.
type trail struct {
	write Trail
	log   hclog.Logger

	mu    sync.Mutex
	from  time.Time // of the present span
	seen  map[refused]bool
	left  int // rows that the span has left
	count int // refusals without a row
}

// refused is what one row of a span is about.
type refused struct{ actor, action, object, address string }

func newTrail(write Trail, log hclog.Logger) *trail { return &trail{write: write, log: log} }

// detail is what rows of the trail tell beside who did what.
type detail struct {
	Address  string `json:"address,omitempty"`
	Unlisted int    `json:"unlisted,omitempty"` // refusals before it that have no row
}

// refused writes a row about something that was refused, if there is room.
func (t *trail) refused(ctx context.Context, now time.Time, row ax.AuditRow, address string) {
	unlisted, ok := t.room(now, refused{row.Actor, row.Action, row.Object, address})
	if ok {
		t.put(ctx, now, row, detail{Address: address, Unlisted: unlisted})
	}
}

// room takes a place for a row, and returns how many refusals had none before.
func (t *trail) room(now time.Time, what refused) (unlisted int, ok bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if now.Sub(t.from) >= refusalSpan || now.Before(t.from) {
		t.from, t.seen, t.left = now, map[refused]bool{}, refusalRows
	}
	if t.seen[what] || t.left == 0 {
		t.count++
		return 0, false
	}
	t.seen[what] = true
	t.left--
	unlisted, t.count = t.count, 0
	return unlisted, true
}

// add writes a row about something that was done.
func (t *trail) add(ctx context.Context, now time.Time, row ax.AuditRow, address string) {
	t.put(ctx, now, row, detail{Address: address})
}

func (t *trail) put(ctx context.Context, now time.Time, row ax.AuditRow, d detail) {
	row.At = now
	row.Detail, _ = json.Marshal(d) // a text and a number
	ctx, cancel := within(ctx)
	defer cancel()
	if err := t.write(ctx, row); err != nil {
		t.log.Error("cannot write the audit trail", "action", row.Action, "actor", row.Actor, "error", err)
	}
}
