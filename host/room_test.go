package host

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
)

// TestRoom: those that wait look for a place one at a time, get in as places come
// free, and a full lane is in nobody else's way.
func TestRoom(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRoom()
		var mu sync.Mutex
		places, looks, in := 0, 0, 0
		ctx, cancel := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		for range 100 {
			wg.Go(func() {
				err := r.wait(ctx, "full", func() bool {
					mu.Lock()
					defer mu.Unlock()
					looks++
					if places == 0 {
						return false
					}
					places--
					in++
					return true
				})
				if err != nil && !errors.Is(err, context.Canceled) {
					t.Error(err)
				}
			})
		}
		free := func(n int) {
			synctest.Wait()
			mu.Lock()
			places += n
			mu.Unlock()
			r.Ring()
			synctest.Wait()
		}
		for range 10 {
			free(3)
		}
		if in != 30 || looks > 100 {
			t.Errorf("%d are in after %d looks", in, looks)
		}
		if err := r.wait(t.Context(), "another", func() bool { return true }); err != nil {
			t.Error(err)
		}
		cancel()
		wg.Wait()
		if in != 30 {
			t.Errorf("%d are in", in)
		}
	})
}
