package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/axsched/ax/host/internal/ax"
	"github.com/axsched/ax/host/internal/config"
	"github.com/axsched/ax/host/internal/trigger"
	"github.com/axsched/ax/pluginapi"
)

const (
	// defaultTimes is how many due times "ax next" computes, maxTimes the most
	// that may be asked for.
	defaultTimes = 5
	maxTimes     = 10_000
)

// question asks for due times, in the words that the configuration has for
// schedules. It is a line of "ax next --stdin".
type question struct {
	ID          json.RawMessage `json:"id"`
	Cron        string          `json:"cron"`
	Every       string          `json:"every"`
	Delay       string          `json:"delay"`
	At          string          `json:"at"`
	Trigger     *triggerWords   `json:"trigger"`
	Timezone    string          `json:"timezone"`
	Calendar    string          `json:"calendar"`
	OnClosed    ax.OnClosed     `json:"on_closed"`
	Jitter      string          `json:"jitter"`
	Blackout    []blackoutWords `json:"blackout"`
	OnBlackout  ax.OnBlackout   `json:"on_blackout"`
	Anchor      string          `json:"anchor"`
	RepeatCount *int            `json:"repeat_count"`
	From        string          `json:"from"`
	Until       string          `json:"until"`
	After       string          `json:"after"`
	N           *int            `json:"n"`
	Why         bool            `json:"why"`
	Words       bool            `json:"words"`
}

type triggerWords struct {
	Use       string          `json:"use"`
	With      json.RawMessage `json:"with"`
	Calendars []string        `json:"calendars"`
}

// blackoutWords is a blackout: "22:00-06:00", or an object.
type blackoutWords struct {
	Time     string   `json:"time"`
	Weekdays wordList `json:"weekdays"`
	Calendar string   `json:"calendar"`
}

// UnmarshalJSON implements json.Unmarshaler.
func (b *blackoutWords) UnmarshalJSON(text []byte) error {
	if json.Unmarshal(text, &b.Time) == nil {
		return nil
	}
	type plain blackoutWords
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	return decoder.Decode((*plain)(b))
}

// wordList is a list of texts, or one.
type wordList []string

// UnmarshalJSON implements json.Unmarshaler.
func (w *wordList) UnmarshalJSON(text []byte) error {
	var one string
	if json.Unmarshal(text, &one) == nil {
		*w = wordList{one}
		return nil
	}
	return json.Unmarshal(text, (*[]string)(w))
}

// schedule reads the words.
func (q question) schedule() (ax.Schedule, error) {
	s := ax.Schedule{
		Cron: q.Cron, Timezone: q.Timezone, Calendar: q.Calendar,
		OnClosed: q.OnClosed, RepeatCount: q.RepeatCount, OnBlackout: q.OnBlackout,
	}
	if s.Timezone == "" {
		s.Timezone = "UTC"
	}
	zone, err := trigger.Zone(s.Timezone)
	if err != nil {
		return s, fmt.Errorf("timezone: %w", err)
	}
	if s.Every, err = interval("every", q.Every); err != nil {
		return s, err
	}
	if s.Delay, err = interval("delay", q.Delay); err != nil {
		return s, err
	}
	if s.Jitter, err = durationOf("jitter", q.Jitter); err != nil {
		return s, err
	}
	for _, words := range q.Blackout {
		b, err := config.ParseBlackout(words.Time, words.Weekdays)
		if err != nil {
			return s, fmt.Errorf("blackout: %w", err)
		}
		b.Calendar = words.Calendar
		s.Blackouts = append(s.Blackouts, b)
	}
	if q.Trigger != nil {
		if q.Trigger.Use == "" {
			return s, errors.New("trigger: use is missing")
		}
		s.Trigger, s.Calendars = &ax.Use{Name: q.Trigger.Use, With: q.Trigger.With}, q.Trigger.Calendars
	}
	for _, t := range []struct {
		key, text string
		to        *time.Time
	}{{"at", q.At, &s.At}, {"anchor", q.Anchor, &s.Anchor}, {"from", q.From, &s.From}, {"until", q.Until, &s.Until}} {
		if t.text == "" {
			continue
		}
		if *t.to, err = config.ParseInstant(t.text, zone); err != nil {
			return s, fmt.Errorf("%s: %w", t.key, err)
		}
	}
	return s, nil
}

// interval reads an interval. Zero is refused here, since in ax.Schedule it means
// that there is no interval.
func interval(key, text string) (time.Duration, error) {
	d, err := durationOf(key, text)
	if err == nil && d == 0 && text != "" {
		err = fmt.Errorf("%s: %s is no interval to repeat a task in", key, text)
	}
	return d, err
}

// durationOf reads the duration of a key; an empty one is 0.
func durationOf(key, text string) (time.Duration, error) {
	if text == "" {
		return 0, nil
	}
	d, err := pluginapi.ParseDuration(text)
	if err != nil {
		return 0, fmt.Errorf("%s: %w", key, err)
	}
	return d.Std(), nil
}

// span reads after and n. Without after it is now.
func (q question) span(now time.Time, zone *time.Location) (after time.Time, n int, err error) {
	after, n = now, defaultTimes
	if q.After != "" {
		if after, err = config.ParseInstant(q.After, zone); err != nil {
			return after, n, fmt.Errorf("after: %w", err)
		}
	}
	if q.N != nil {
		n = *q.N
	}
	if n < 1 || n > maxTimes {
		return after, n, fmt.Errorf("n: expected a number from 1 to %d, got %d", maxTimes, n)
	}
	return after, n, nil
}

// find returns the task with this name.
func (s *NextSource) find(name string) (ax.Task, error) {
	i := slices.IndexFunc(s.Tasks, func(t ax.Task) bool { return t.Name == name })
	if i < 0 {
		return ax.Task{}, &exitError{ExitNotFound, fmt.Errorf("there is no task %q in the configuration", name)}
	}
	return s.Tasks[i], nil
}
