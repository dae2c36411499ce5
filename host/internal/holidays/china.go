package holidays

import (
	"strconv"
	"time"

	"github.com/6tail/lunar-go/HolidayUtil"

	"github.com/axsched/ax/pluginapi/calendar"
)

// China is the name of the source of China's public holidays.
const China = "china"

// What a day of this source names as its source. In the years compared the days
// agree with calendars/cn-2024-2026.csv, which rests on several lists and on the
// State Council's notices; other years rest on the library alone.
const (
	chinaSource   = "6tail/lunar-go v1.4.7"
	chinaAlone    = chinaSource + " alone, no second list was compared"
	firstCompared = 2024
	lastCompared  = 2026
)

// The library has lists for some of these years and does not say for which.
const (
	chinaFrom = 2001
	chinaTo   = 2099
)

// china returns China's calendar: Monday to Friday without the public holidays,
// and the make-up workdays.
func china() (*calendar.Calendar, error) {
	spec := calendar.Spec{Name: China, Weekly: mondayToFriday()}
	for year := chinaFrom; year <= chinaTo; year++ {
		for e := HolidayUtil.GetHolidaysByYear(year).Front(); e != nil; e = e.Next() {
			entry := e.Value.(*HolidayUtil.Holiday)
			rule, err := chinaRule(entry, year)
			if err != nil {
				return nil, err
			}
			if entry.IsWork() {
				spec.Open = append(spec.Open, rule)
			} else {
				spec.Closed = append(spec.Closed, rule)
			}
		}
	}
	return calendar.New(spec)
}

func chinaRule(entry *HolidayUtil.Holiday, year int) (calendar.Rule, error) {
	day, err := calendar.ParseDate(entry.GetDay())
	if err != nil {
		return calendar.Rule{}, err
	}
	rule := calendar.OnDate(day)
	rule.Name, rule.Source = entry.GetName(), chinaAlone
	if year >= firstCompared && year <= lastCompared {
		rule.Source = chinaSource
	}
	// The head of the next New Year's holiday shows nothing of its own year.
	if target := entry.GetTarget(); len(target) >= 4 && target[:4] == strconv.Itoa(year) {
		rule.Covers = year
	}
	return rule, nil
}

func mondayToFriday() []time.Weekday {
	return []time.Weekday{time.Monday, time.Tuesday, time.Wednesday, time.Thursday, time.Friday}
}
