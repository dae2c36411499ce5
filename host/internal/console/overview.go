package console

import (
	"net/http"
	"time"

	"github.com/axsched/ax/host/internal/api"
	"github.com/axsched/ax/host/internal/ax"
)

// routes registers all pages.
func (s *console) routes() {
	get(s, "/{$}", "overview", s.overview)
	s.taskRoutes()
	s.runRoutes()
	s.alertRoutes()
	s.calendarRoutes()
	s.hostRoutes()
	s.loginRoutes()
	s.defineRoutes()
}

// overviewData is what the first page shows.
type overviewData struct {
	Overview
	Strips []strip
	Axis   []string // clock times below the strips, evenly spread
	Counts []moodCount
}

type moodCount struct {
	Mood  api.TaskMood
	Count int
}

func (s *console) overview(r *http.Request, p *page) (overviewData, error) {
	o, err := s.backend.Overview(r.Context())
	if err != nil {
		return overviewData{}, err
	}
	d := overviewData{Overview: o, Strips: strips(o.Hours, p)}
	for i := 0; i < len(o.Hours); i += 6 {
		d.Axis = append(d.Axis, o.Hours[i].From.In(p.Zone).Format("15:04"))
	}
	for _, mood := range moods() {
		if o.Moods[mood] > 0 {
			d.Counts = append(d.Counts, moodCount{mood, o.Moods[mood]})
		}
	}
	return d, nil
}

func moods() []api.TaskMood {
	return []api.TaskMood{api.TaskOn, api.TaskPaused, api.TaskParked, api.TaskOff, api.TaskDone}
}

// outcomes are the states that strips and calendars show, those first that want
// to be looked at last.
func outcomes() []ax.Status {
	return []ax.Status{
		ax.StatusSuccess, ax.StatusFailed, ax.StatusTimeout, ax.StatusLost,
		ax.StatusMissed, ax.StatusSkipped, ax.StatusCanceled,
	}
}

// strip is one outcome over the hours.
type strip struct {
	Status ax.Status
	Total  int64
	Bars   []bar
}

// bar is one hour of a strip, in the units of its drawing.
type bar struct {
	X, Y, Width, Height float64
	Title               string
}

// Size of a strip's drawing.
const (
	stripHeight = 28.0
	stripStep   = 10.0
	stripGap    = 2.0
	// stripLeast is the height of the smallest bar: one failure among thousands
	// of successes must be seen.
	stripLeast = 4.0
)

// strips draws each outcome by itself, scaled to its own largest hour.
func strips(hours []Hour, p *page) []strip {
	all := []strip{}
	for _, status := range outcomes() {
		st, most := strip{Status: status}, int64(0)
		for _, h := range hours {
			st.Total += h.Counts[status]
			most = max(most, h.Counts[status])
		}
		for i, h := range hours {
			n := h.Counts[status]
			if n == 0 {
				continue
			}
			height := max(stripLeast, stripHeight*float64(n)/float64(most))
			from := h.From.In(p.Zone)
			st.Bars = append(st.Bars, bar{
				X: float64(i) * stripStep, Y: stripHeight - height, Width: stripStep - stripGap, Height: height,
				Title: from.Format("15:04") + "–" + from.Add(time.Hour).Format("15:04") + ": " + grouped(n),
			})
		}
		all = append(all, st)
	}
	return all
}
