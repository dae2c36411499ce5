package notice

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/axsched/ax/pluginapi"
)

const minute = time.Minute

// Thirty calls at once, each under way for a while: in no minute more than
// twenty arrive, wherever in its time a call arrives, and none is lost.
func TestPaceHoldsInEveryWindow(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := NewPace(20, minute)
		var mu sync.Mutex
		var arrived []time.Time
		var wg sync.WaitGroup
		for range 100 {
			wg.Go(func() {
				for {
					ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
					done, err := p.Wait(ctx)
					cancel()
					if busy, ok := errors.AsType[*BusyError](err); ok {
						time.Sleep(busy.RetryAfter)
						continue
					}
					if err != nil {
						t.Error(err)
						return
					}
					time.Sleep(time.Duration(rand.IntN(3000)) * time.Millisecond)
					mu.Lock()
					arrived = append(arrived, time.Now())
					mu.Unlock()
					time.Sleep(time.Duration(rand.IntN(3000)) * time.Millisecond)
					done()
					return
				}
			})
		}
		wg.Wait()
		if len(arrived) != 100 {
			t.Fatalf("%d calls arrived", len(arrived))
		}
		for i := 20; i < len(arrived); i++ {
			if gap := arrived[i].Sub(arrived[i-20]); gap < minute {
				t.Errorf("calls %d to %d arrived within %v", i-20, i, gap)
			}
		}
		if took := time.Since(arrived[0]); took > 7*minute {
			t.Errorf("100 calls took %v", took)
		}
	})
}

func TestPaceWaitsOnlyAsLongAsItHelps(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := NewPace(1, 10*time.Second)
		wait := func(limit time.Duration) (time.Duration, error) {
			ctx, cancel := context.WithTimeout(t.Context(), limit)
			defer cancel()
			start := time.Now()
			done, err := p.Wait(ctx)
			if err == nil {
				done()
			}
			return time.Since(start), err
		}
		if took, err := wait(time.Second); took != 0 || err != nil {
			t.Errorf("a free receiver: %v after %v", err, took)
		}
		took, err := wait(14 * time.Second)
		if busy, ok := errors.AsType[*BusyError](err); !ok || busy.RetryAfter != 10*time.Second || took != 0 || pluginapi.RetryWait(err) != busy.RetryAfter {
			t.Errorf("no time for the call: %v after %v", err, took)
		}
		if took, err := wait(15 * time.Second); took != 10*time.Second || err != nil {
			t.Errorf("time enough: %v after %v", err, took)
		}
		p.Close(time.Hour)
		p.Close(minute) // shorter: no news
		took, err = wait(30 * time.Second)
		if busy, ok := errors.AsType[*BusyError](err); !ok || busy.RetryAfter != time.Hour || took != 0 {
			t.Errorf("closed: %v after %v", err, took)
		}
		time.Sleep(time.Hour)
		if took, err := wait(time.Second); took != 0 || err != nil {
			t.Errorf("open again: %v after %v", err, took)
		}
	})
}

func TestPaceGivesBackTheSlotOfWhoeverLeaves(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := NewPace(1, minute)
		done, err := p.Wait(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := p.Wait(t.Context()); err == nil {
			t.Error("two calls hold one slot")
		}
		done()
		gone := errors.New("gone")
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(10*time.Second, func() { cancel(gone) })
		if _, err := p.Wait(ctx); !errors.Is(err, gone) {
			t.Errorf("error %v", err)
		}
		start := time.Now()
		if _, err := p.Wait(t.Context()); err != nil || time.Since(start) != 50*time.Second {
			t.Errorf("%v after %v", err, time.Since(start))
		}
	})
}

func TestPacesAreByReceiver(t *testing.T) {
	t.Parallel()
	p := NewPaces(1, minute)
	if p.Of("a") == p.Of("b") || p.Of("a") != p.Of("a") {
		t.Error("each receiver has one pace of its own")
	}
}
