package main

import "time"

// kind is a kind of expression that is measured.
type kind struct {
	name string
	expr string // in the dialect of Quartz
	zone string
	// want are the first times after the start of 2026 in the zone, as facts;
	// the times after them are compared with those of ax.
	want [5]string
}

const layout = "2006-01-02 15:04:05"

// lastYear is the end of the times that are compared and measured. Some
// libraries know no years beyond 2099.
const lastYear = 2089

func kinds() []kind {
	return []kind{
		{"every five seconds", "*/5 * * * * ?", "UTC", [5]string{
			"2026-01-01 00:00:05", "2026-01-01 00:00:10", "2026-01-01 00:00:15", "2026-01-01 00:00:20", "2026-01-01 00:00:25",
		}},
		{"weekdays 02:00", "0 0 2 ? * MON-FRI", "UTC", [5]string{
			"2026-01-01 02:00:00", "2026-01-02 02:00:00", "2026-01-05 02:00:00", "2026-01-06 02:00:00", "2026-01-07 02:00:00",
		}},
		{"1st and 15th of the month", "0 0 2 1,15 * ?", "UTC", [5]string{
			"2026-01-01 02:00:00", "2026-01-15 02:00:00", "2026-02-01 02:00:00", "2026-02-15 02:00:00", "2026-03-01 02:00:00",
		}},
		{"last Friday", "0 0 2 ? * 6L", "UTC", [5]string{
			"2026-01-30 02:00:00", "2026-02-27 02:00:00", "2026-03-27 02:00:00", "2026-04-24 02:00:00", "2026-05-29 02:00:00",
		}},
		{"third Monday", "0 0 2 ? * 2#3", "UTC", [5]string{
			"2026-01-19 02:00:00", "2026-02-16 02:00:00", "2026-03-16 02:00:00", "2026-04-20 02:00:00", "2026-05-18 02:00:00",
		}},
		{"last day of the month", "0 0 2 L * ?", "UTC", [5]string{
			"2026-01-31 02:00:00", "2026-02-28 02:00:00", "2026-03-31 02:00:00", "2026-04-30 02:00:00", "2026-05-31 02:00:00",
		}},
		{"29 February", "0 0 0 29 2 ?", "UTC", [5]string{
			"2028-02-29 00:00:00", "2032-02-29 00:00:00", "2036-02-29 00:00:00", "2040-02-29 00:00:00", "2044-02-29 00:00:00",
		}},
		{"yearly, with a field for years", "0 0 9 1 5 ? 2020-2089", "UTC", [5]string{
			"2026-05-01 09:00:00", "2027-05-01 09:00:00", "2028-05-01 09:00:00", "2029-05-01 09:00:00", "2030-05-01 09:00:00",
		}},
		{"daily 12:00, New York", "0 0 12 * * ?", "America/New_York", [5]string{
			"2026-01-01 12:00:00", "2026-01-02 12:00:00", "2026-01-03 12:00:00", "2026-01-04 12:00:00", "2026-01-05 12:00:00",
		}},
		{"daily 02:30, New York", "0 30 2 * * ?", "America/New_York", [5]string{
			"2026-01-01 02:30:00", "2026-01-02 02:30:00", "2026-01-03 02:30:00", "2026-01-04 02:30:00", "2026-01-05 02:30:00",
		}},
	}
}

// span returns where the times of a kind begin and end.
func (k kind) span(zone *time.Location) (start, end time.Time) {
	return time.Date(2026, 1, 1, 0, 0, 0, 0, zone), time.Date(lastYear+1, 1, 1, 0, 0, 0, 0, zone)
}
