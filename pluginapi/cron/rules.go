package cron

import "math/bits"

const (
	never      = 1 << 62   // a reading after all others
	allMonths  = 1<<13 - 2 // bits 1 to 12
	allMinutes = 1<<60 - 1 // also seconds
	allHours   = 1<<24 - 1
)

// rules is the set of local clock readings that an expression names: a
// matter of clock and calendar, which knows no zone.
type rules struct {
	seconds, minutes uint64
	hours            uint32
	months           uint32 // bits 1 to 12
	days             dayRules
	years            yearSet
	anyYear          bool // no year is named: firstYear to lastOpenYear
	anyDay           bool // every day of every month matches, and of any year
	firstClock       int  // first second of a matching day
	lastClock        int
}

// seal fills in what follows from the fields.
func (r *rules) seal() {
	d := &r.days
	d.isCounted = d.last != 0 || d.nth != [5]uint8{}
	r.anyDay = r.anyYear && r.months == allMonths && d.every()
	r.firstClock = clock(bits.TrailingZeros32(r.hours), bits.TrailingZeros64(r.minutes), bits.TrailingZeros64(r.seconds))
	r.lastClock = clock(bits.Len32(r.hours)-1, bits.Len64(r.minutes)-1, bits.Len64(r.seconds)-1)
}
