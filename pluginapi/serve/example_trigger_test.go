package serve_test

import (
	"context"
	"time"

	"github.com/axsched/ax/pluginapi"
	"github.com/axsched/ax/pluginapi/serve"
)

// MonthDay is due once a month. Its tagged fields are its settings, as they
// stand under "with" in the configuration.
type MonthDay struct {
	Day  int `json:"day" ax:"required,min=1,max=28" doc:"Day of the month."`
	Hour int `json:"hour" ax:"default=9,min=0,max=23" doc:"Hour of the day."`
	zone *time.Location
}

// NewMonthDay makes the trigger of one task.
func NewMonthDay(m MonthDay, env pluginapi.Env) (pluginapi.Trigger, error) {
	m.zone = env.Zone
	return m, nil
}

// Next returns the first due time after an instant.
func (m MonthDay) Next(_ context.Context, after time.Time) (time.Time, error) {
	for year, month, _ := after.In(m.zone).Date(); ; month++ {
		if t := time.Date(year, month, m.Day, m.Hour, 0, 0, 0, m.zone); t.After(after) {
			return t, nil
		}
	}
}

// A complete plugin with one trigger; Example stands for main.
func Example() {
	serve.Main(pluginapi.Info{Name: "month-day", Version: "1.0.0", Description: "Monthly due times."},
		pluginapi.TriggerOf("month-day", "Due on one day of each month.", NewMonthDay))
}
