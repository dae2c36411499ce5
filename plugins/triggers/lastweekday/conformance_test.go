package main

import (
	"testing"
	"time"

	"github.com/axsched/ax/pluginapi/plugintest"
)

// TestConformance checks the contract over the plugin protocol.
func TestConformance(t *testing.T) {
	t.Parallel()
	for _, zone := range []string{"Asia/Shanghai", "America/New_York", "Australia/Lord_Howe", "America/Sao_Paulo"} {
		t.Run(zone, func(t *testing.T) {
			t.Parallel()
			loc, err := time.LoadLocation(zone)
			if err != nil {
				t.Fatal(err)
			}
			settings := Settings{Weekday: "SUN", Nth: -1, Time: "02:30", Months: []int{2, 3, 10, 11, 12}}
			host := plugintest.New(t, component())
			over := host.Trigger("lastweekday", settings, plugintest.Zone(zone))
			direct, err := newLastWeekday(settings, loc)
			if err != nil {
				t.Fatal(err)
			}
			plugintest.CheckTrigger(t, over, loc, direct)
		})
	}
}
