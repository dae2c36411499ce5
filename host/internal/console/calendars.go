package console

import (
	"net/http"
	"time"

	"github.com/axsched/ax/host/internal/api"
	"github.com/axsched/ax/pluginapi/calendar"
)

func (s *console) calendarRoutes() {
	get(s, "/calendars", "calendars", func(r *http.Request, _ *page) ([]Calendar, error) { return s.backend.Calendars(r.Context()) })
	get(s, "/calendars/{name}", "calendar", s.calendar)
	s.mux.HandleFunc("POST /calendars/{name}/check", s.checkCalendar)
}

// Span says for which years a calendar has lists; nothing if it needs none.
func (c Calendar) Span() string {
	first, last, bounded := c.Coverage()
	if !bounded || first == 0 {
		return ""
	}
	return time.Date(first, 1, 1, 0, 0, 0, 0, time.UTC).Format("2006") + "–" + time.Date(last, 1, 1, 0, 0, 0, 0, time.UTC).Format("2006")
}

// calendarData is a year of a calendar.
type calendarData struct {
	Calendar   Calendar
	Files      []string // that it reads
	Year       int
	Prev, Next int
	Months     []calendarMonth
	// Open, Closed and MakeUp count days; MakeUp are open ones against the week.
	Open, Closed, MakeUp int
	// Known is false in a year for which a list is missing.
	Known bool
	// Special are days that a rule decides, in their order.
	Special []daySpan
}

// daySpan is a row of days that are open, or closed, for the same reason.
type daySpan struct {
	calendar.Day // the first of them
	Last         calendar.Date
}

type calendarMonth struct {
	Name  string
	Weeks [][]calendarDay
}

// calendarDay is a field of a month; one of another month has no number.
type calendarDay struct {
	Number int
	Class  string // open, closed, make-up or holiday; and d-unknown
	Today  bool
	Title  string
}

func (s *console) calendar(r *http.Request, p *page) (calendarData, error) {
	if err := r.ParseForm(); err != nil {
		return calendarData{}, badRequest("The form cannot be read.")
	}
	all, err := s.backend.Calendars(r.Context())
	if err != nil {
		return calendarData{}, err
	}
	for _, c := range all {
		if c.Name() == r.PathValue("name") {
			d := yearOf(c, p, r.Form.Get("year"))
			d.Files, err = s.filesOf(r, c.Name())
			return d, err
		}
	}
	return calendarData{}, &api.NotFound{What: "calendar", Name: r.PathValue("name")}
}

// yearOf shows the year that is asked for, or the present one.
func yearOf(c Calendar, p *page, asked string) calendarData {
	d := calendarData{Calendar: c, Year: p.Now.Year(), Known: true}
	if at, err := time.Parse("2006", asked); err == nil && at.Year() > 0 && at.Year() < 9999 {
		d.Year = at.Year()
	}
	d.Prev, d.Next = d.Year-1, d.Year+1
	today := calendar.DateOf(p.Now)
	for month := time.January; month <= time.December; month++ {
		first := time.Date(d.Year, month, 1, 0, 0, 0, 0, time.UTC)
		m := calendarMonth{Name: first.Format(monthLayout)}
		fields := make([]calendarDay, (int(first.Weekday())+6)%7, 42)
		for number := range calendar.DaysIn(d.Year, month) {
			date := calendar.Date{Year: d.Year, Month: month, Day: number + 1}
			fields = append(fields, d.add(c.Explain(date), date == today))
		}
		for len(fields)%7 != 0 {
			fields = append(fields, calendarDay{})
		}
		for i := 0; i < len(fields); i += 7 {
			m.Weeks = append(m.Weeks, fields[i:i+7])
		}
		d.Months = append(d.Months, m)
	}
	return d
}

// add counts a day and returns its field.
func (d *calendarData) add(day calendar.Day, today bool) calendarDay {
	field := calendarDay{Number: day.Date.Day, Class: "open", Today: today, Title: day.Date.String() + ": " + day.Reason}
	weekend := day.Date.Weekday() == time.Saturday || day.Date.Weekday() == time.Sunday
	switch {
	case day.Open && day.ByRule && weekend:
		field.Class = "make-up"
		d.MakeUp++
	case !day.Open && day.ByRule:
		field.Class = "holiday"
	case !day.Open:
		field.Class = "closed"
	}
	if day.Open {
		d.Open++
	} else {
		d.Closed++
	}
	if day.ByRule {
		d.special(day)
	}
	if !day.Known {
		d.Known = false
		field.Class += " d-unknown"
	}
	return field
}

// special adds a day that a rule decides, to the days before it if it is like
// them.
func (d *calendarData) special(day calendar.Day) {
	if n := len(d.Special); n > 0 {
		last := &d.Special[n-1]
		if last.Last.AddDays(1) == day.Date && last.Open == day.Open && last.Reason == day.Reason && last.Source == day.Source {
			last.Last = day.Date
			return
		}
	}
	d.Special = append(d.Special, daySpan{day, day.Date})
}
