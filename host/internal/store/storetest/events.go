package storetest

import (
	"time"

	"github.com/axsched/ax/host/internal/ax"
)

var eventTests = []test{
	{"round trip and order", eventRoundTrip},
	{"filter", eventFilter},
}

func eventRoundTrip(b *bed) {
	i := b.newInstance("t", 0)
	e := ax.Event{
		ID: b.id(), InstanceID: i.ID, TaskID: i.TaskID, At: noon.Add(time.Microsecond), Attempt: 3,
		Stage: ax.StageOutput, Level: "warn", Node: "host-9", Text: "第一行\nsecond \x00 \xff",
	}
	later := b.newEvent(i, "later")
	b.applied(ax.Change{Events: []ax.Event{later, e}})
	got, err := b.s.Events(b.Context(), ax.EventFilter{Instance: i.ID})
	b.must(err)
	e.Text = "第一行\nsecond \uFFFD \uFFFD" // what databases do not hold
	equal(b, "events", got, []ax.Event{e, later})
}

func eventFilter(b *bed) {
	i, other := b.newInstance("t", 0), b.newInstance("t", time.Hour)
	var c ax.Change
	for n := range 1200 {
		e := b.newEvent(i, "")
		if n%2 == 1 {
			e.Stage = ax.StageOutput
		}
		c.Events = append(c.Events, e, b.newEvent(other, "other"))
	}
	b.applied(c)
	ids := func(f ax.EventFilter) (int, int64) {
		f.Instance = i.ID
		got, err := b.s.Events(b.Context(), f)
		b.must(err)
		if len(got) == 0 {
			return 0, 0
		}
		return len(got), got[0].ID
	}
	for name, c := range map[string]struct {
		filter ax.EventFilter
		n      int
		first  int64
	}{
		"default limit": {ax.EventFilter{}, 1000, c.Events[0].ID},
		"limit":         {ax.EventFilter{Limit: 3}, 3, c.Events[0].ID},
		"after":         {ax.EventFilter{After: c.Events[2200].ID}, 99, c.Events[2202].ID},
		"stage":         {ax.EventFilter{Stages: []ax.Stage{ax.StageOutput, ax.StageCancel}}, 600, c.Events[2].ID},
		"none":          {ax.EventFilter{Stages: []ax.Stage{ax.StageCancel}}, 0, 0},
	} {
		n, first := ids(c.filter)
		equal(b, name+", number", n, c.n)
		equal(b, name+", first", first, c.first)
	}
}
