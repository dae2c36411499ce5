package main

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math/bits"

	"github.com/axsched/ax/pluginapi/calendar"
)

// draw makes the random numbers of one trigger. They depend on nothing but
// its fields and the day, so they are the same on every host, in every
// process and in every release.
//
// The number of a day for a purpose ("day" or "time") is the first 8 bytes,
// big-endian, of the SHA-256 of the text
//
//	ax random 1|SEED|PER|FROM|TO|ZONE|DATE|PURPOSE
//
// with SEED as 16 hexadecimal digits, FROM and TO as 15:04:05, ZONE as its
// name and DATE as 2006-01-02.
type draw struct {
	seed     uint64
	per      string
	from, to calendar.TimeOfDay
	zone     string
}

func (d draw) number(day calendar.Date, purpose string) uint64 {
	text := fmt.Sprintf("ax random 1|%016x|%s|%s|%s|%s|%s|%s", d.seed, d.per, d.from, d.to, d.zone, day, purpose)
	sum := sha256.Sum256([]byte(text))
	return binary.BigEndian.Uint64(sum[:8])
}

// ticket decides which day of a period is drawn: the one with the lowest.
func (d draw) ticket(day calendar.Date) uint64 {
	return d.number(day, "day")
}

// below draws from 0 to n-1 for a day, or 0 if n is 0. It scales the number
// to n by taking the upper half of their product.
func (d draw) below(day calendar.Date, n uint64) uint64 {
	scaled, _ := bits.Mul64(d.number(day, "time"), n)
	return scaled
}
