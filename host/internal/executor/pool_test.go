package executor

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/axsched/ax/host/internal/ax"
)

func TestPoolBounds(t *testing.T) {
	t.Parallel()
	freed := 0
	p := newPool(2, 3, func() { freed++ }, time.Now)
	for _, lane := range []string{"a", "b", "c"} {
		p.took(lane, time.Hour) // nothing is claimed ahead
	}
	enqueue := func(lane string, start func()) {
		p.enqueue(&ticket{lane: lane, room: ax.RoomQueue, start: start})
	}
	want := func(lane string, room ax.Room) {
		t.Helper()
		if got := p.reserve(lane, false); got != room {
			t.Fatalf("lane %s: room %d, want %d", lane, got, room)
		}
	}
	want("a", ax.RoomNow)
	want("a", ax.RoomNow)
	want("a", ax.RoomQueue)
	want("b", ax.RoomNow) // full, but nothing of b runs
	want("b", ax.RoomQueue)
	want("a", ax.RoomQueue)
	want("a", ax.RoomNone)
	want("c", ax.RoomNow)
	want("c", ax.RoomQueue) // full, but nothing of c waits
	want("c", ax.RoomNone)

	var started []string
	enqueue("a", func() { started = append(started, "a1") })
	enqueue("b", func() { started = append(started, "b1") })
	enqueue("a", func() { started = append(started, "a2") })
	if len(started) > 0 {
		t.Fatalf("%v started in a full pool", started)
	}
	p.release("b", ax.RoomNow) // 3 of 2 run: only b may go on
	if len(started) != 1 || started[0] != "b1" {
		t.Fatalf("started %v, want b1", started)
	}
	p.release("c", ax.RoomNow)
	p.release("b", ax.RoomNow) // 2 of 2
	p.release("a", ax.RoomNow)
	p.release("a", ax.RoomNow)
	if len(started) != 3 || started[1] != "a1" || started[2] != "a2" {
		t.Errorf("started %v, want b1 a1 a2", started)
	}
	if freed == 0 {
		t.Error("nobody was told of the free place in the queue")
	}
}

// TestPoolNeverOverfills compares random use with the two rules.
func TestPoolNeverOverfills(t *testing.T) {
	t.Parallel()
	for seed := range uint64(100) {
		r := rand.New(rand.NewPCG(seed, 7))
		p := newPool(3, 5, func() {}, time.Now)
		lanes := []string{"a", "b", "c"}
		running := map[string]int{}
		total := 0
		start := func(lane string) func() {
			return func() {
				if total >= 3 && running[lane] > 0 {
					t.Fatalf("seed %d: lane %s got a worker too many", seed, lane)
				}
				running[lane]++
				total++
			}
		}
		waiting := 0
		var claims []func() // under way
		for range 2000 {
			lane := lanes[r.IntN(3)]
			if len(claims) > 0 && r.IntN(2) == 0 {
				claim := claims[0]
				claims = claims[1:]
				claim()
			}
			if r.IntN(2) == 0 {
				switch room := p.reserve(lane, false); room {
				case ax.RoomNow:
					start(lane)()
				case ax.RoomQueue, ax.RoomSoon:
					waiting++
					t := &ticket{lane: lane, room: room, start: func() { waiting--; start(lane)() }}
					if room == ax.RoomQueue {
						t.claim = func() {
							claims = append(claims, func() {
								if r.IntN(4) == 0 { // somebody was faster
									waiting--
									p.release(lane, ax.RoomSoon)
									return
								}
								p.enqueue(&ticket{lane: lane, room: ax.RoomSoon, turn: t.turn, start: t.start})
							})
						}
					}
					p.enqueue(t)
				case ax.RoomNone:
				}
			} else if running[lane] > 0 {
				running[lane]--
				total--
				p.took(lane, time.Duration(r.IntN(100))*time.Millisecond)
				p.release(lane, ax.RoomNow)
			}
			if got, queued := p.counts(); got != total || queued != waiting || queued > 5+2 {
				t.Fatalf("seed %d: pool counts %d running and %d waiting, want %d and %d", seed, got, queued, total, waiting)
			}
			if total < 3 && waiting > len(claims) {
				t.Fatalf("seed %d: %d wait although a worker is free", seed, waiting)
			}
		}
	}
}

// TestClaimsAheadByUsualDurations: short jobs are claimed while they wait, long
// ones are not.
func TestClaimsAheadByUsualDurations(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		usual time.Duration
		want  int // of 100 places
	}{
		{500 * time.Microsecond, 100},
		{10 * time.Millisecond, 10},
		{49 * time.Millisecond, 2},
		{time.Minute, 0},
	} {
		p := newPool(2, 100, func() {}, time.Now)
		for range 100 {
			p.took("a", tt.usual)
		}
		rooms := map[ax.Room]int{}
		for range 103 {
			rooms[p.reserve("a", false)]++
		}
		if rooms[ax.RoomNow] != 2 || rooms[ax.RoomNone] != 1 || rooms[ax.RoomSoon] != tt.want || rooms[ax.RoomQueue] != 100-tt.want {
			t.Errorf("jobs of %s: %v, want %d claimed ahead", tt.usual, rooms, tt.want)
		}
	}
}

// TestWaitingOnesAreClaimedInTime: while the only worker is busy as many are
// claimed as it does soon, the oldest first, and they keep their turns.
func TestWaitingOnesAreClaimedInTime(t *testing.T) {
	t.Parallel()
	p := newPool(1, 100, func() {}, time.Now)
	p.reserve("a", false)
	for range 100 {
		p.took("a", 10*time.Millisecond)
	}
	var claimed, started []int
	tickets := map[int]*ticket{}
	for i := range 12 {
		p.place("a")
		tickets[i] = &ticket{
			lane: "a", room: ax.RoomQueue, start: func() { started = append(started, i) }, claim: func() { claimed = append(claimed, i) },
		}
		p.enqueue(tickets[i])
	}
	want := func(what string, got []int, want ...int) {
		t.Helper()
		if !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", what, got, want)
		}
	}
	want("claimed, half of what is done soon being claimed", claimed, 0, 1, 2)
	for _, i := range slices.Backward(claimed) {
		p.enqueue(&ticket{lane: "a", room: ax.RoomSoon, turn: tickets[i].turn, start: tickets[i].start})
	}
	for range 2 {
		p.release("a", ax.RoomNow)
	}
	want("started", started, 0, 1)
	want("claimed, as many as are done soon", claimed, 0, 1, 2, 3, 4, 5)
	p.release("a", ax.RoomNow)
	want("started", started, 0, 1, 2)
	p.release("a", ax.RoomNow) // the claims of 3, 4 and 5 are under way
	want("started, since no worker waits for the claims of others", started, 0, 1, 2, 6)
}

func TestCloseTurnsAwayWhatWaits(t *testing.T) {
	t.Parallel()
	p := newPool(1, 10, func() {}, time.Now)
	p.reserve("a", false)
	back := 0
	wait := func() {
		p.enqueue(&ticket{lane: "a", room: p.reserve("a", false), start: func() { t.Error("started") }, back: func() { back++ }})
	}
	wait()
	p.close()
	wait()
	p.release("a", ax.RoomNow)
	if back != 2 {
		t.Errorf("%d turned away, want 2", back)
	}
}
