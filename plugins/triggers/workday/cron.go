package main

import (
	"cmp"
	"errors"
	"fmt"
	"time"

	"github.com/axsched/ax/pluginapi/calendar"
	"github.com/axsched/ax/pluginapi/cron"
)

// cronSource keeps the times of the expression to open days.
func (s Settings) cronSource(c *calendar.Calendar, zone *time.Location, seed uint64) (calendar.Source, error) {
	hash := fmt.Sprintf("%016x", seed)
	times, err := cron.Parse(s.Cron, cron.Options{Location: zone, Hash: hash})
	if err != nil {
		return nil, fmt.Errorf("cron: %w", err)
	}
	if times.Location() != zone {
		return nil, errors.New("cron: the zone is that of the task, it cannot be set in the expression")
	}
	wall, err := cron.Parse(s.Cron, cron.Options{Location: time.UTC, Hash: hash})
	if err != nil {
		return nil, fmt.Errorf("cron: %w", err)
	}
	return calendar.Filter{
		Calendar: c,
		OnClosed: cmp.Or(calendar.OnClosed(s.OnClosed), calendar.Skip),
		Zone:     zone,
		Times:    scheduled(times),
		Wall:     scheduled(wall),
	}.Next, nil
}

func scheduled(s *cron.Schedule) calendar.Source {
	return func(after time.Time) (time.Time, error) { return s.Next(after), nil }
}
