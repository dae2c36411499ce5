package access

import (
	"context"
	"net/http"
	"reflect"
	"sync"

	"github.com/axsched/ax/host/internal/ax"
)

// recheck finds out again who asks, by other settings.
type recheck func(*state) (ax.Caller, bool)

// calls are those under way. Some last long, as live logs do: they end with what
// they rest on.
type calls struct {
	mu   sync.Mutex
	open map[*call]bool
}

type call struct {
	caller ax.Caller
	again  recheck
	cancel context.CancelFunc
}

func newCalls() *calls { return &calls{open: map[*call]bool{}} }

// begin takes note of a call. done is to be called at its end.
func (c *calls) begin(r *http.Request, caller ax.Caller, again recheck) (_ *http.Request, done func()) {
	ctx, cancel := context.WithCancel(r.Context())
	one := &call{caller: caller, again: again, cancel: cancel}
	c.mu.Lock()
	c.open[one] = true
	c.mu.Unlock()
	return r.WithContext(ctx), func() {
		cancel()
		c.mu.Lock()
		delete(c.open, one)
		c.mu.Unlock()
	}
}

// review ends the calls of those who may do something else now, or nothing.
func (c *calls) review(st *state) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for one := range c.open {
		if caller, ok := one.again(st); !ok || !reflect.DeepEqual(caller, one.caller) {
			one.cancel()
		}
	}
}
