package host

import (
	"sync/atomic"
	"testing"
)

// TestMessagesAtStop: what is on its way to other hosts when the host stops is
// sent all the same.
func TestMessagesAtStop(t *testing.T) {
	t.Parallel()
	f := &fleet{sends: make(chan func(), 100), quit: make(chan struct{})}
	var sent atomic.Int32
	for range cap(f.sends) {
		f.sends <- func() { sent.Add(1) }
	}
	close(f.quit)
	for range 2 {
		f.sending.Go(f.send)
	}
	f.sending.Wait()
	if n := sent.Load(); n != 100 {
		t.Errorf("%d of 100 messages were sent", n)
	}
}
