package calendar_test

import (
	"fmt"
	"strings"
	"time"

	"github.com/axsched/ax/pluginapi/calendar"
	"github.com/axsched/ax/pluginapi/cron"
)

// A country's list with a make-up workday, and a company's day on top of it.
func Example() {
	list := "date,name,kind\n2026-02-14,春节,work\n2026-02-16,春节,off\n"
	closed, open, err := calendar.ParseCSV(strings.NewReader(list), "cn.csv")
	if err != nil {
		fmt.Println(err)
		return
	}
	week := []time.Weekday{time.Monday, time.Tuesday, time.Wednesday, time.Thursday, time.Friday}
	country, err := calendar.New(calendar.Spec{Name: "cn", Weekly: week, Closed: closed, Open: open})
	if err != nil {
		fmt.Println(err)
		return
	}
	outing := calendar.OnDate(calendar.Date{Year: 2026, Month: time.February, Day: 17})
	outing.Name = "outing"
	company, err := calendar.New(calendar.Spec{
		Name: "company", Closed: []calendar.Rule{outing}, Extends: []*calendar.Calendar{country},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	for day := 13; day <= 18; day++ {
		d := company.Explain(calendar.Date{Year: 2026, Month: time.February, Day: day})
		fmt.Println(d.Date, d.Open, d.Reason)
	}
	// Output:
	// 2026-02-13 true weekly pattern: Friday is open
	// 2026-02-14 true 春节
	// 2026-02-15 false weekly pattern: Sunday is closed
	// 2026-02-16 false 春节
	// 2026-02-17 false outing
	// 2026-02-18 true weekly pattern: Wednesday is open
}

// Mondays at nine, but not on the last day of a month.
func ExampleFilter() {
	days, err := calendar.New(calendar.Spec{Name: "not month end", Closed: []calendar.Rule{calendar.EveryMonth(-1)}})
	if err != nil {
		fmt.Println(err)
		return
	}
	mondays, err := cron.Parse("0 0 9 ? * MON", cron.Options{Location: time.UTC})
	if err != nil {
		fmt.Println(err)
		return
	}
	filter := calendar.Filter{
		Calendar: days, OnClosed: calendar.Skip, Zone: time.UTC,
		Times: func(after time.Time) (time.Time, error) { return mondays.Next(after), nil },
	}
	at := time.Date(2026, time.August, 17, 12, 0, 0, 0, time.UTC)
	for range 3 {
		if at, err = filter.Next(at); err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(at.Format("Mon 2006-01-02 15:04"))
	}
	// Output:
	// Mon 2026-08-24 09:00
	// Mon 2026-09-07 09:00
	// Mon 2026-09-14 09:00
}
