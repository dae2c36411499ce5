package storetest

import (
	"time"

	"github.com/axsched/ax/host/internal/ax"
)

var purgeTests = []test{
	{"old finished instances with their events", purgeInstances},
	{"in small steps", purgeSteps},
	{"tasks with a time of their own", purgeTasks},
	{"alerts and audit", purgeRest},
}

func purgeInstances(b *bed) {
	day := 24 * time.Hour
	all := b.insertNumbered(6, func(n int, i *ax.Instance) {
		i.CreatedAt = noon.Add(time.Duration(n-6) * day)
		switch n {
		case 0, 3, 5:
			i.Status = ax.StatusSkipped
		case 1:
			i.App, i.Status = "other", ax.StatusSkipped
		}
	})
	for _, i := range all {
		b.applied(ax.Change{Events: []ax.Event{b.newEvent(i, "x"), b.newEvent(i, "y")}})
	}
	b.applied(ax.Change{Move: move(all[4], ax.StatusFailed)})
	n, err := b.s.Purge(ax.Kept{App: app, Since: all[5].CreatedAt})(b.Context(), 100)
	b.must(err)
	equal(b, "deleted", n, 3) // 0, 3 and 4; 2 still runs, 1 is another's, 5 is young
	left, err := b.s.Instances(b.Context(), ax.InstanceFilter{})
	b.must(err)
	equal(b, "left", numbers(left), []int{5, 2, 1})
	for k, want := range []int{0, 2, 2, 0, 0, 2} {
		equal(b, "events", len(b.eventTexts(all[k].ID)), want)
	}
	n, err = b.s.Purge(ax.Kept{App: app, Since: all[5].CreatedAt})(b.Context(), 100)
	b.must(err)
	equal(b, "deleted again", n, 0)
}

// purgeTasks: of task 7 more is kept than of the rest, of task 8 less.
func purgeTasks(b *bed) {
	day := 24 * time.Hour
	b.insertNumbered(9, func(n int, i *ax.Instance) {
		i.CreatedAt = noon.Add(time.Duration(n/3-3) * day) // three days ago, two, yesterday
		i.ID = ax.InstanceID(ax.FirstID(i.CreatedAt) + int64(n))
		i.TaskID = ax.TaskID(7 + n%3)
		i.Status = ax.StatusSkipped
		if n == 1 {
			i.Status = ax.StatusTriggered
		}
	})
	long, short := ax.KeptTasks{Since: noon.Add(-60 * time.Hour), IDs: []ax.TaskID{7}}, ax.KeptTasks{Since: noon, IDs: []ax.TaskID{8, 99}}
	purge := b.s.Purge(ax.Kept{App: app, Since: noon.Add(-36 * time.Hour), Tasks: []ax.KeptTasks{long, short}})
	for _, want := range []int{1, 1, 1, 0} { // 2, 4, 5
		n, err := purge(b.Context(), 1)
		b.must(err)
		equal(b, "deleted", n, want)
	}
	for _, c := range []struct {
		kept ax.KeptTasks
		want int
	}{{long, 1}, {short, 1}, {long, 0}} { // 0; 7, while 1 waits
		n, err := b.s.PurgeTasks(b.Context(), c.kept, 100)
		b.must(err)
		equal(b, "deleted of tasks", n, c.want)
	}
	left, err := b.s.Instances(b.Context(), ax.InstanceFilter{})
	b.must(err)
	equal(b, "left", numbers(left), []int{8, 6, 3, 1})
}

func purgeSteps(b *bed) {
	b.insertNumbered(450, func(n int, i *ax.Instance) {
		i.Status = ax.StatusSkipped
		if n%2 == 0 {
			i.Status = ax.StatusMissed
		}
	})
	var steps []int
	purge := b.s.Purge(ax.Kept{App: app, Since: noon.Add(time.Hour)})
	for {
		n, err := purge(b.Context(), 150)
		b.must(err)
		if n == 0 {
			break
		}
		steps = append(steps, n)
	}
	equal(b, "steps", steps, []int{150, 150, 150})
}

func purgeRest(b *bed) {
	for n := range 4 {
		row := b.newAlert()
		row.WindowEnd = noon.Add(time.Duration(n) * time.Hour)
		if n != 1 {
			row.State = ax.AlertSent
		}
		b.writeAlerts(row)
		b.must(b.s.Audit(b.Context(), ax.AuditRow{At: noon.Add(time.Duration(n) * time.Hour), App: app}))
	}
	before := noon.Add(3 * time.Hour)
	for _, want := range []int{1, 1, 0} { // 0 and 2; 1 was not sent, 3 is young
		n, err := b.s.PurgeAlerts(b.Context(), app, before, 1)
		b.must(err)
		equal(b, "alerts deleted", n, want)
	}
	for _, want := range []int{2, 1, 0} {
		n, err := b.s.PurgeAudit(b.Context(), app, before, 2)
		b.must(err)
		equal(b, "audit rows deleted", n, want)
	}
	equal(b, "alerts left", len(b.alerts(ax.AlertFilter{})), 2)
}
