package main

import (
	"log/slog"
	"testing"
	"time"

	"github.com/axsched/ax/pluginapi"
	"github.com/axsched/ax/pluginapi/calendar"
	"github.com/axsched/ax/pluginapi/plugintest"
)

// TestConformance checks the contract over the plugin protocol, where the
// calendar goes through its wire form.
func TestConformance(t *testing.T) {
	t.Parallel()
	tests := map[string]Settings{
		"every":    {Mode: modeEvery, Time: "02:30"},
		"nth":      {Mode: modeNth, N: -1, Time: "01:30"},
		"next":     {Mode: modeNext, Day: -1},
		"previous": {Mode: modePrevious, Day: 1, Time: "02:15"},
		"before":   {Mode: modeBefore, Time: "23:59:59"},
		"after":    {Mode: modeAfter},
		"skip":     {Mode: modeCron, Cron: "0 */20 1-3 * * ?"},
		"moved":    {Mode: modeCron, Cron: "0 30 1,2 * * ?", OnClosed: "next"},
		"back":     {Mode: modeCron, Cron: "0 H 2 L * ?", OnClosed: "previous"},
	}
	days := calendars(t)["cn"]
	for name, settings := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			const zone = "America/New_York" // which changes its clock at 02:00
			loc, err := time.LoadLocation(zone)
			if err != nil {
				t.Fatal(err)
			}
			settings.Calendar = "cn"
			host := plugintest.New(t, component())
			over := host.Trigger("workday", settings.given(), plugintest.Zone(zone), plugintest.Seed(9), plugintest.Calendars(days))
			direct, err := newWorkday(settings, pluginapi.Env{
				Zone: loc, Seed: 9, Calendars: map[string]*calendar.Calendar{"cn": days}, Log: slog.New(slog.DiscardHandler),
			})
			if err != nil {
				t.Fatal(err)
			}
			plugintest.CheckTrigger(t, over, loc, direct)
		})
	}
}

// given returns the settings as a task would state them: without the keys
// that it leaves out.
func (s Settings) given() map[string]any {
	given := map[string]any{"calendar": s.Calendar, "mode": s.Mode}
	for key, value := range map[string]string{"time": s.Time, "cron": s.Cron, "on_closed": s.OnClosed} {
		if value != "" {
			given[key] = value
		}
	}
	for key, value := range map[string]int{"n": s.N, "day": s.Day} {
		if value != 0 {
			given[key] = value
		}
	}
	return given
}
