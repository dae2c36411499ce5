package cron_test

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"time"
)

// generator draws expressions that fire now and then around a reading of the
// clock.
type generator struct{ *rand.Rand }

var (
	monthWords   = strings.Fields("jan feb MAR apr May jun jul AUG sep oct nov Dec")
	weekdayWords = strings.Fields("sun MON tue Wed thu fri SAT")
)

// expression draws from both dialects.
func (g generator) expression(near time.Time) string {
	second := g.clockField(near.Second(), 59)
	if g.IntN(2) == 0 {
		second = "0"
	}
	fields := []string{second, g.clockField(near.Minute(), 59), g.clockField(near.Hour(), 23)}
	month := "*"
	if g.IntN(4) == 0 {
		month = g.list(int(near.Month()), 1, 12, monthWords)
	}
	if g.IntN(4) == 0 {
		return strings.Join(append(fields[1:], g.dates(near), month, g.weekdays(int(near.Weekday()), 0)), " ")
	}
	if g.IntN(2) == 0 {
		fields = append(fields, g.dates(near), month, "?")
	} else {
		fields = append(fields, "?", month, g.weekdays(int(near.Weekday())+1, 1))
	}
	if g.IntN(8) == 0 && near.Year() >= 1970 && near.Year() < 2199 {
		fields = append(fields, g.list(near.Year(), 1970, 2199, nil))
	}
	return strings.Join(fields, " ")
}

func (g generator) clockField(near, hi int) string {
	switch g.IntN(4) {
	case 0:
		return "*"
	case 1:
		return strconv.Itoa(near)
	}
	return g.list(near, 0, hi, nil)
}

// dates draws a day-of-month field.
func (g generator) dates(near time.Time) string {
	switch g.IntN(8) {
	case 0:
		return "L"
	case 1:
		return fmt.Sprintf("L-%d", g.IntN(31))
	case 2:
		return "LW"
	case 3:
		return fmt.Sprintf("%dW,%s", g.around(near.Day(), 1, 31), g.list(near.Day(), 1, 31, nil))
	case 4:
		return fmt.Sprintf("L-%dW,%dW", g.IntN(5), g.around(near.Day(), 1, 31))
	case 5:
		return g.list(near.Day(), 1, 31, nil)
	}
	return "*"
}

// weekdays draws a day-of-week field where Sunday is the number first.
func (g generator) weekdays(near, first int) string {
	word := strconv.Itoa(near)
	if g.IntN(2) == 0 {
		word = weekdayWords[near-first]
	}
	switch g.IntN(6) {
	case 0:
		return word + "L"
	case 1:
		return fmt.Sprintf("%s#%d", word, 1+g.IntN(5))
	case 2, 3:
		return g.list(near, first, first+6, weekdayWords)
	}
	return "*"
}

// list draws one to three items.
func (g generator) list(near, lo, hi int, names []string) string {
	items := make([]string, 1+g.IntN(3)*g.IntN(2))
	for i := range items {
		items[i] = g.item(near, lo, hi, names)
	}
	return strings.Join(items, ",")
}

func (g generator) item(near, lo, hi int, names []string) string {
	word := func(v int) string {
		if names != nil && g.IntN(2) == 0 {
			return names[v-lo]
		}
		return strconv.Itoa(v)
	}
	from := g.around(near, lo, hi)
	text := word(from)
	isRange := false
	switch g.IntN(4) {
	case 0:
		to := g.around(near, lo, hi)
		if hi > 1000 {
			to = max(from, to) // years do not wrap
		}
		text += "-" + word(to)
		isRange = true
	case 1:
		text = "*"
	}
	if text == "*" || g.IntN(3) == 0 && (isRange || hi < 1000) {
		text += fmt.Sprintf("/%d", 1+g.IntN(min(12, hi)))
	}
	return text
}

// around draws a value near to another, or any.
func (g generator) around(near, lo, hi int) int {
	if g.IntN(4) == 0 {
		return lo + g.IntN(hi-lo+1)
	}
	return min(hi, max(lo, near-2+g.IntN(5)))
}

// zone draws a zone file (RFC 9636, version 1) whose clock jumps some times
// after at, with more than a minute in between, and then no more.
func (g generator) zone(at time.Time) []byte {
	const types = 6
	jumps := 1 + g.IntN(8)
	data := append([]byte("TZif"), make([]byte, 16)...) // version 1
	for _, n := range []int{0, 0, 0, jumps, types, 4} { // UT, standard, leap seconds, jumps, types, name bytes
		data = binary.BigEndian.AppendUint32(data, uint32(n))
	}
	when := at.Unix() % (1 << 31)
	for range jumps {
		when = min(when+61+g.Int64N(1<<(8+g.IntN(9))), 1<<31-1)
		data = binary.BigEndian.AppendUint32(data, uint32(when))
	}
	for range jumps {
		data = append(data, byte(g.IntN(types)))
	}
	for range types {
		offset := int32(g.IntN(105)-52) * 900 // 13 hours to both sides
		if g.IntN(4) == 0 {
			offset += int32(g.IntN(900))
		}
		data = append(binary.BigEndian.AppendUint32(data, uint32(offset)), 0, 0) // no summer time, first name
	}
	return append(data, "INV\x00"...)
}
