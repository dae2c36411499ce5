package trigger

import "time"

// jitterGrain is what delays are whole multiples of.
const jitterGrain = time.Millisecond

// jitter puts due times off. A delay is shorter than limit and than the time to
// the following due time, so that due times neither meet nor overtake one
// another. One that would carry a due time into a blackout or a closed day is
// left out.
type jitter struct {
	limit time.Duration // 0: no jitter
	seed  uint64
	// step is how far the search for an earlier time first steps back.
	step time.Duration
}

func (j jitter) around(src source, s *shape) source {
	if j.limit == 0 {
		return src
	}
	return &jittered{jitter: j, src: src, shape: s}
}

type jittered struct {
	jitter
	src   source
	shape *shape
}

// next looks at the last due time of src up to after, whose delay may reach
// beyond it, and at the following one.
func (j *jittered) next(after time.Time) (time.Time, error) {
	slot, following, err := j.lastUpTo(after)
	if err != nil {
		return time.Time{}, err
	}
	if !slot.IsZero() {
		if due := j.delay(slot, following); due.After(after) {
			return due, nil
		}
	}
	return j.due(following)
}

// due returns the due time that a time of src becomes.
func (j *jittered) due(slot time.Time) (time.Time, error) {
	if slot.IsZero() {
		return slot, nil
	}
	following, err := j.src.next(slot)
	if err != nil {
		return time.Time{}, err
	}
	return j.delay(slot, following), nil
}

// lastUpTo returns the last time of src in (after - limit, after], if there is
// one, and the first one behind. It steps back further and further, since most
// often the last one is near.
func (j *jittered) lastUpTo(after time.Time) (slot, following time.Time, err error) {
	for back := j.step; ; back = min(8*back, j.limit) {
		first, err := j.src.next(after.Add(-back))
		if err != nil {
			return slot, following, err
		}
		if !first.IsZero() && !first.After(after) {
			slot, following = first, first
			break
		}
		if back == j.limit {
			return time.Time{}, first, nil
		}
	}
	for !following.IsZero() && !following.After(after) {
		slot = following
		if following, err = j.src.next(slot); err != nil {
			return slot, following, err
		}
	}
	return slot, following, nil
}

// delay puts slot off; following is the due time after it, zero if there is
// none.
func (j *jittered) delay(slot, following time.Time) time.Time {
	span := j.limit
	if !following.IsZero() {
		span = min(span, following.Sub(slot))
	}
	grains := uint64(span / jitterGrain)
	if grains == 0 {
		return slot
	}
	due := slot.Add(time.Duration(mix(j.seed^uint64(slot.UnixMicro()))%grains) * jitterGrain)
	if j.shape.forbids(due) {
		return slot
	}
	return due
}

// mix spreads the bits of a number: the finalizer of SplitMix64 (Steele, Lea,
// Flood: Fast Splittable Pseudorandom Number Generators, 2014).
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
