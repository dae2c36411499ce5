package config

import (
	"fmt"
	"strings"
	"time"

	"github.com/axsched/ax/pluginapi/calendar"
)

// ParseInstant reads a time as the keys at, anchor, from and until have it:
// RFC 3339 with an offset, or a date with or without a time of day, which are
// those of the zone. A local time that the zone's clock skips is the first
// instant after the gap, one that it shows twice the first of the two.
func ParseInstant(text string, zone *time.Location) (time.Time, error) {
	if t, err := time.Parse(time.RFC3339, strings.Replace(text, " ", "T", 1)); err == nil {
		return t.UTC(), nil
	}
	day, clock, hasClock := strings.Cut(strings.Replace(text, " ", "T", 1), "T")
	date, err := calendar.ParseDate(day)
	if err == nil && !hasClock {
		return date.In(zone, 0, 0, 0).UTC(), nil
	}
	if err == nil {
		var tod calendar.TimeOfDay
		if tod, err = calendar.ParseTimeOfDay(clock); err == nil {
			return date.At(tod, zone).UTC(), nil
		}
	}
	return time.Time{}, fmt.Errorf("expected a time such as 2026-12-01T10:00:00+08:00, or without the offset in the task's time zone, got %q", text)
}
