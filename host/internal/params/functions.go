package params

import (
	"strings"
	"text/template"
	"time"
)

// functions are what templates may call besides the ones that Go's templates
// have. All take the time last, so that they can be chained with |.
func functions() template.FuncMap {
	return template.FuncMap{
		// date formats a time by a Go layout, such as "2006-01-02".
		"date": func(layout string, t time.Time) string { return t.Format(layout) },
		// addDays and addMonths go by the calendar, add by elapsed time ("-90m").
		"addDays":   func(n int, t time.Time) time.Time { return t.AddDate(0, 0, n) },
		"addMonths": addMonths,
		"add": func(d string, t time.Time) (time.Time, error) {
			span, err := time.ParseDuration(d)
			return t.Add(span), err
		},
		"startOfDay":   startOfDay,
		"startOfMonth": func(t time.Time) time.Time { return startOfDay(t.AddDate(0, 0, 1-t.Day())) },
		"endOfMonth": func(t time.Time) time.Time {
			return startOfDay(time.Date(t.Year(), t.Month()+1, 0, 12, 0, 0, 0, t.Location()))
		},
		"in": func(zone string, t time.Time) (time.Time, error) {
			loc, err := time.LoadLocation(zone)
			if err != nil {
				return t, err
			}
			return t.In(loc), nil
		},
		"unix":   func(t time.Time) int64 { return t.Unix() },
		"unixMS": func(t time.Time) int64 { return t.UnixMilli() },
		"upper":  strings.ToUpper,
		"lower":  strings.ToLower,
	}
}

func startOfDay(t time.Time) time.Time {
	return time.Date(t.Year(), t.Month(), t.Day(), 0, 0, 0, 0, t.Location())
}

// addMonths keeps the day of the month, or takes the month's last day where it
// has no such day: a month before 31 March is the end of February.
func addMonths(n int, t time.Time) time.Time {
	last := time.Date(t.Year(), t.Month()+time.Month(n)+1, 0, 12, 0, 0, 0, t.Location())
	day := min(t.Day(), last.Day())
	return time.Date(last.Year(), last.Month(), day, t.Hour(), t.Minute(), t.Second(), t.Nanosecond(), t.Location())
}
