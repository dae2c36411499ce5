package main

import (
	"testing"
	"time"

	"github.com/axsched/ax/pluginapi"
	"github.com/axsched/ax/pluginapi/plugintest"
)

// TestConformance checks the contract over the plugin protocol.
func TestConformance(t *testing.T) {
	t.Parallel()
	tests := map[string]Settings{
		"day":     {Per: "day", From: "01:00", To: "05:00", Calendar: "weekend"},
		"night":   {Per: "day", From: "22:00", To: "03:00", Calendar: "weekend"},
		"week":    {Per: "week", From: "01:00", To: "03:00", Calendar: "weekend"},
		"month":   {Per: "month", From: "00:00", To: "23:59:59", Calendar: "weekend"},
		"instant": {Per: "day", From: "02:00", To: "02:00:01", Calendar: "weekend"},
	}
	days := calendars(t)
	for name, settings := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			const zone = "America/New_York" // which changes its clock at 02:00
			loc, err := time.LoadLocation(zone)
			if err != nil {
				t.Fatal(err)
			}
			host := plugintest.New(t, component())
			over := host.Trigger("random", settings, plugintest.Zone(zone), plugintest.Seed(9), plugintest.Calendars(days["weekend"]))
			direct, err := newRandom(settings, pluginapi.Env{Zone: loc, Seed: 9, Calendars: days})
			if err != nil {
				t.Fatal(err)
			}
			plugintest.CheckTrigger(t, over, loc, direct)
		})
	}
}
