package pluginhost

import (
	"testing"
	"time"
)

func testBreaker() *breaker {
	b := newBreaker(defaultLimits())
	b.jitterSource = func() float64 { return 0 }
	return &b
}

func TestBreakerDoublesTheBackoffAndThenQuarantines(t *testing.T) {
	t.Parallel()
	b, now := testBreaker(), time.Unix(1_700_000_000, 0)
	for i, want := range []time.Duration{time.Second, 2 * time.Second, 4 * time.Second, 8 * time.Second} {
		b.started(now)
		if b.crashed(now, "boom") {
			t.Fatalf("crash %d led to quarantine", i+1)
		}
		if got := b.wait(now); got != want {
			t.Errorf("back-off after crash %d = %v, want %v", i+1, got, want)
		}
		now = now.Add(b.wait(now))
		if b.wait(now) != 0 {
			t.Errorf("a wait is left after the back-off")
		}
	}
	if !b.crashed(now, "boom") || !b.quarantined {
		t.Error("5 crashes within 10 minutes did not lead to quarantine")
	}
	b.reset()
	if b.quarantined || b.wait(now) != 0 {
		t.Error("reset left the quarantine")
	}
}

func TestBreakerForgives(t *testing.T) {
	t.Parallel()
	b, now := testBreaker(), time.Unix(1_700_000_000, 0)
	for range 4 {
		b.crashed(now, "boom")
	}
	now = now.Add(time.Minute)
	b.started(now)
	now = now.Add(10 * time.Minute)
	if b.crashed(now, "boom") {
		t.Fatal("crashes of long ago led to quarantine")
	}
	if got := b.wait(now); got != time.Second {
		t.Errorf("back-off after 10 good minutes = %v, want 1 s", got)
	}
}

func TestBreakerRareCrashesReachTheLongestBackoff(t *testing.T) {
	t.Parallel()
	b, now := testBreaker(), time.Unix(1_700_000_000, 0)
	for range 20 {
		b.started(now)
		now = now.Add(4 * time.Minute)
		if b.crashed(now, "boom") {
			t.Fatal("3 crashes within 10 minutes led to quarantine")
		}
	}
	if got := b.wait(now); got != 5*time.Minute {
		t.Errorf("longest back-off = %v, want 5 min", got)
	}
}

func TestBreakerJitterIsBounded(t *testing.T) {
	t.Parallel()
	b, now := testBreaker(), time.Unix(1_700_000_000, 0)
	b.jitterSource = func() float64 { return 0.999999 }
	b.crashed(now, "boom")
	if got := b.wait(now); got <= time.Second || got > 1200*time.Millisecond {
		t.Errorf("back-off with most jitter = %v, want between 1 s and 1.2 s", got)
	}
}
