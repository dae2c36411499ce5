// Package wheel is a two-level timing wheel: 60 slots of a second and 60 slots
// of a minute, with whole hours beyond. It orders entries exactly inside the
// second that has begun, so that firing is accurate to the clock and not to
// the tick. It never reads a clock.
//
// The structure follows Varghese and Lauck, "Hashed and Hierarchical Timing
// Wheels" (1987).
package wheel

import (
	"cmp"
	"slices"
	"sort"
	"time"
)

const (
	slots  = 60
	minute = 60
	hour   = 60 * minute
)

// Wheel holds entries until they are due. It has no removal: an owner that no
// longer wants an entry ignores it when it comes. Not safe for concurrent use.
type Wheel[K any] struct {
	sec     int64 // the second that has begun; seconds up to it are in ready
	ready   []entry[K]
	seconds [slots][]entry[K]
	minutes [slots][]entry[K]
	hours   map[int64][]entry[K]
	size    int
}

type entry[K any] struct {
	at  int64 // µs since 1970
	key K
}

// New returns an empty wheel that stands at now.
func New[K any](now time.Time) *Wheel[K] {
	return &Wheel[K]{sec: now.Unix(), hours: map[int64][]entry[K]{}}
}

// Len returns how many entries wait.
func (w *Wheel[K]) Len() int { return w.size }

// Add adds an entry that is due at the given time, to the microsecond. A time
// in the past is due at once.
func (w *Wheel[K]) Add(at time.Time, key K) {
	w.size++
	w.place(entry[K]{at.UnixMicro(), key})
}

func (w *Wheel[K]) place(e entry[K]) {
	sec := floorSecond(e.at)
	switch {
	case sec <= w.sec:
		w.insertReady(e)
	case sec < w.sec-mod(w.sec, minute)+minute:
		i := mod(sec, slots)
		w.seconds[i] = append(w.seconds[i], e)
	case sec < w.sec-mod(w.sec, hour)+hour:
		i := mod(sec/minute, slots)
		w.minutes[i] = append(w.minutes[i], e)
	default:
		h := floorDiv(sec, hour)
		w.hours[h] = append(w.hours[h], e)
	}
}

func (w *Wheel[K]) insertReady(e entry[K]) {
	i := sort.Search(len(w.ready), func(i int) bool { return w.ready[i].at > e.at })
	w.ready = slices.Insert(w.ready, i, e)
}

// Wake returns when Advance should be called next: exactly when the first entry
// of the begun second is due, or the start of a later second, minute or hour
// that holds entries. It is never later than the first entry, and ok is false
// if there is none.
func (w *Wheel[K]) Wake() (at time.Time, ok bool) {
	if w.size == 0 {
		return time.Time{}, false
	}
	if len(w.ready) > 0 {
		return time.UnixMicro(w.ready[0].at), true
	}
	for s := w.sec + 1; mod(s, minute) != 0; s++ {
		if len(w.seconds[mod(s, slots)]) > 0 {
			return time.Unix(s, 0), true
		}
	}
	for s := w.sec - mod(w.sec, minute) + minute; mod(s, hour) != 0; s += minute {
		if len(w.minutes[mod(s/minute, slots)]) > 0 {
			return time.Unix(s, 0), true
		}
	}
	return time.Unix(w.firstHour()*hour, 0), true
}

func (w *Wheel[K]) firstHour() int64 {
	first, any := int64(0), false
	for h := range w.hours {
		if !any || h < first {
			first, any = h, true
		}
	}
	return first
}

// Advance moves the wheel to now and calls due for each entry that is due by
// then, in the order of their times; entries of one time come in the order in
// which they were added. due may call Add. If now lies before an earlier now
// (the clock went back) entries still wait for their own time.
func (w *Wheel[K]) Advance(now time.Time, due func(at time.Time, key K)) {
	limit, target := now.UnixMicro(), now.Unix()
	for {
		for len(w.ready) > 0 && w.ready[0].at <= limit {
			e := w.ready[0]
			w.ready = w.ready[1:]
			w.size--
			due(time.UnixMicro(e.at), e.key)
		}
		if w.sec >= target {
			return
		}
		w.step(target)
	}
}

// step begins the next second that holds entries, or target if none comes
// before it. ready is empty then.
func (w *Wheel[K]) step(target int64) {
	from, next := w.sec, target
	if at, ok := w.Wake(); ok {
		next = min(target, at.Unix())
	}
	w.sec = next
	if h := floorDiv(next, hour); h != floorDiv(from, hour) {
		list := w.hours[h]
		delete(w.hours, h)
		w.placeAll(list)
	}
	if m := floorDiv(next, minute); m != floorDiv(from, minute) {
		w.placeAll(take(&w.minutes[mod(m, slots)]))
	}
	w.begin(take(&w.seconds[mod(next, slots)]))
}

func (w *Wheel[K]) placeAll(list []entry[K]) {
	for _, e := range list {
		w.place(e)
	}
}

// begin makes the entries of the second that begins ready.
func (w *Wheel[K]) begin(list []entry[K]) {
	if len(w.ready) > 0 { // demoted a moment ago from a minute or an hour
		w.placeAll(list)
		return
	}
	slices.SortStableFunc(list, func(a, b entry[K]) int { return cmp.Compare(a.at, b.at) })
	w.ready = list
}

// take empties a slot and gives its memory away, so that one crowded second
// does not hold memory for ever.
func take[K any](slot *[]entry[K]) []entry[K] {
	list := *slot
	*slot = nil
	return list
}

func floorSecond(us int64) int64 { return floorDiv(us, 1_000_000) }

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

// mod is never negative, unlike %.
func mod(a, b int64) int64 { return a - floorDiv(a, b)*b }
