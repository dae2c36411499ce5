package ax

import (
	"fmt"
	"strings"
	"time"
)

// Blackout is a stretch of the day, on some days or on all of them, by the
// clock of the task's zone.
type Blackout struct {
	// From and To are times since midnight, whole seconds: From <= clock < To.
	// With To <= From it goes on over midnight and belongs to the day on which
	// it begins. A whole day is from 0 to 24h.
	From time.Duration `json:"from"`
	To   time.Duration `json:"to"`
	// Weekdays are the days on which it begins; none = every day.
	Weekdays []time.Weekday `json:"weekdays,omitempty"`
	// Calendar, if not empty, keeps it to the closed days of this calendar.
	Calendar string `json:"calendar,omitempty"`
}

// OnBlackout is what becomes of a due time within a blackout.
type OnBlackout string

// Policies for blackouts. After moves it to the end of the blackout, and on to
// the next open day if that is closed; due times that fall together are one.
const (
	BlackoutSkip  OnBlackout = "skip"
	BlackoutAfter OnBlackout = "after"
)

// String says what the blackout is, such as "22:00-06:00 Mon,Fri" or "closed
// days of china".
func (b Blackout) String() string {
	var words []string
	if b.From != 0 || b.To != wholeDay {
		words = append(words, timeOfDay(b.From)+"-"+timeOfDay(b.To))
	}
	var days []string
	for _, day := range b.Weekdays {
		days = append(days, day.String()[:3])
	}
	if len(days) > 0 {
		words = append(words, strings.Join(days, ","))
	}
	if b.Calendar != "" {
		words = append(words, "closed days of "+b.Calendar)
	}
	if len(words) == 0 {
		return "every day"
	}
	return strings.Join(words, " ")
}

const wholeDay = 24 * time.Hour

func timeOfDay(d time.Duration) string {
	text := fmt.Sprintf("%02d:%02d", d/time.Hour, d/time.Minute%60)
	if seconds := d / time.Second % 60; seconds != 0 {
		text += fmt.Sprintf(":%02d", seconds)
	}
	return text
}
