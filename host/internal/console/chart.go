package console

import (
	"math"
	"slices"
	"time"

	"github.com/axsched/ax/host/internal/ax"
)

// Size of the chart of durations, in the units of its drawing.
const (
	chartWidth  = 640.0
	chartHeight = 150.0
	chartLeft   = 84.0 // room for the scale
	chartTop    = 8.0
	chartDot    = 3.0
)

// chart shows how long the last runs of a task took, oldest first.
type chart struct {
	Width, Height, Left float64
	Dots                []dot
	Lines               []level // of the scale
	P50, P95            level
	Runs                int
}

// dot is a run.
type dot struct {
	X, Y, R float64
	ID      string
	Status  ax.Status
	Title   string
}

// level is a height of the chart with its name.
type level struct {
	Y    float64
	Text string
}

// newChart draws those of some runs, newest first, whose length is known.
func newChart(runs []ax.Instance, p *page) chart {
	c := chart{Width: chartWidth, Height: chartHeight, Left: chartLeft}
	var timed []ax.Instance
	var lengths []time.Duration
	for _, run := range slices.Backward(runs) {
		if run.Status.Final() && run.Status != ax.StatusLost && !run.StartedAt.IsZero() && !run.EndedAt.Before(run.StartedAt) {
			timed = append(timed, run)
			lengths = append(lengths, run.EndedAt.Sub(run.StartedAt))
		}
	}
	if c.Runs = len(timed); c.Runs < 2 {
		return c
	}
	top := ceiling(slices.Max(lengths))
	y := func(d time.Duration) float64 {
		return math.Round(10*(chartTop+(chartHeight-2*chartTop)*(1-float64(d)/float64(top)))) / 10
	}
	step := (chartWidth - chartLeft - 2*chartDot) / float64(max(c.Runs-1, 1))
	for i, run := range timed {
		c.Dots = append(c.Dots, dot{
			X: math.Round(10*(chartLeft+chartDot+float64(i)*step)) / 10, Y: y(lengths[i]), R: chartDot,
			ID: run.ID.String(), Status: run.Status,
			Title: run.ScheduledAt.In(p.Zone).Format(timeLayout) + ": " + p.words.word(run.Status) + ", " + exact(lengths[i]),
		})
	}
	for _, part := range []time.Duration{0, top / 2, top} {
		c.Lines = append(c.Lines, level{y(part), exact(part)})
	}
	c.Lines[0].Text = "0"
	c.P50, c.P95 = level{y(quantile(lengths, 0.5)), exact(quantile(lengths, 0.5))}, level{y(quantile(lengths, 0.95)), exact(quantile(lengths, 0.95))}
	return c
}

// quantile returns the smallest length that is not below the given share of all
// (nearest rank).
func quantile(lengths []time.Duration, q float64) time.Duration {
	sorted := slices.Sorted(slices.Values(lengths))
	return sorted[max(int(math.Ceil(q*float64(len(sorted))))-1, 0)]
}

// ceiling rounds a length up to one that reads well.
func ceiling(d time.Duration) time.Duration {
	for _, unit := range []time.Duration{time.Millisecond, time.Second, time.Minute, time.Hour} {
		for _, n := range []time.Duration{1, 2, 4, 6, 10, 20, 30, 40, 60, 100, 200, 500} {
			if top := n * unit; top >= d && (unit == time.Millisecond || unit == time.Hour || n <= 60) {
				return top
			}
		}
	}
	return d.Truncate(time.Hour) + time.Hour
}
