package cron

import (
	"fmt"
	"hash/fnv"
	"io"
	"strings"
)

// lastHashedDate keeps H in the day of month to days that all months have.
const lastHashedDate = 28

// hashed parses H, H(a-b), H/n and H(a-b)/n: a value, or the start of a row
// of values, that the seed picks.
func (p *parser) hashed(f field, item, base string, stepped bool, step int) (span, error) {
	if f == year {
		return span{}, p.fail(f, item, "H picks no years", "write the years")
	}
	s := specOf(f, p.classic)
	within := span{lo: s.lo, hi: s.hi, step: 1}
	if f == dayOfMonth {
		within.hi = lastHashedDate
	}
	if base != "H" {
		inner, closed := strings.CutSuffix(base[len("H("):], ")")
		from, to, ranged := strings.Cut(inner, "-")
		if !closed || !ranged {
			return span{}, p.fail(f, item, "is not understood", fmt.Sprintf("write H or H(%d-%d)", within.lo, within.hi))
		}
		var err error
		if within, err = p.valueRange(f, item, from, to, 1); err != nil {
			return span{}, err
		}
	}
	n := within.hi - within.lo + 1
	if !stepped {
		lo := within.lo + p.pick(s.name, n)
		return span{lo: lo, hi: lo, step: 1}, nil
	}
	return span{lo: within.lo + p.pick(s.name, min(n, step)), hi: within.hi, step: step}, nil
}

// pick returns a number below n that depends on the seed and the field:
// FNV-1a (RFC 9923) with the last mixing step of MurmurHash3, as the low
// bits of FNV alone are uneven. Running schedules rest on it: it must not
// change.
func (p *parser) pick(fieldName string, n int) int {
	h := fnv.New64a()
	_, _ = io.WriteString(h, p.seed+"\x00"+fieldName) // a hash takes everything
	x := h.Sum64()
	x ^= x >> 33
	x *= 0xff51afd7ed558ccd
	x ^= x >> 33
	x *= 0xc4ceb9fe1a85ec53
	x ^= x >> 33
	return int(x % uint64(n))
}
