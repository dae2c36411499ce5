package host

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/axsched/ax/host/internal/api"
	"github.com/axsched/ax/host/internal/ax"
	"github.com/axsched/ax/host/internal/holidays"
	"github.com/axsched/ax/pluginapi/calendar"
)

// calendarPeriod is how often it is said that lists of holidays end.
const calendarPeriod = 24 * time.Hour

// calendarWatch tells of calendars in use whose lists of holidays end: those who
// are notified once, the log every day.
type calendarWatch struct {
	log hclog.Logger
	// gaps returns what calendars do not know soon.
	gaps func(today calendar.Date) []holidays.Gap
	// tell notifies people of a gap unless they were told already.
	tell func(ctx context.Context, gap holidays.Gap, now time.Time) error
	quit <-chan struct{}
}

// run goes on until quit is closed. At first it leaves the log to those who
// have loaded the configuration.
func (w *calendarWatch) run() {
	tick := time.NewTicker(calendarPeriod)
	defer tick.Stop()
	w.notify(time.Now())
	for {
		select {
		case <-tick.C:
			now := time.Now()
			for _, gap := range w.gaps(calendar.DateOf(now)) {
				w.log.Warn(gap.String())
			}
			w.notify(now)
		case <-w.quit:
			return
		}
	}
}

// notify tells of all gaps; what fails is tried again on the next day.
func (w *calendarWatch) notify(now time.Time) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	for _, gap := range w.gaps(calendar.DateOf(now)) {
		if err := w.tell(ctx, gap, now); err != nil {
			w.log.Error("cannot notify of a calendar whose lists of holidays end", "calendar", gap.Calendar, "error", err)
		}
	}
}

// gapHealth returns how well a host is with gaps, and what to say of them.
// While there is time to add the lists nothing is broken.
func gapHealth(gaps []holidays.Gap) (status api.HealthStatus, reasons []string) {
	status = api.HealthOK
	for _, gap := range gaps {
		reasons = append(reasons, gap.String())
		if gap.Open() {
			status = api.HealthDegraded
		}
	}
	return status, reasons
}

func (h *Host) newCalendarWatch() *calendarWatch {
	return &calendarWatch{
		log:  h.log.Named("calendar"),
		gaps: func(today calendar.Date) []holidays.Gap { return h.live.Load().cfg.Gaps(today) },
		tell: h.tellGap, quit: h.quit,
	}
}

// tellGap sends one message about a gap to each notifier that a task with the
// calendar names. What was sent is in the database for as long as notifications
// are kept; after that the message comes again.
func (h *Host) tellGap(ctx context.Context, gap holidays.Gap, now time.Time) error {
	cfg := h.live.Load().cfg
	// Notifications are about tasks: this one is about a calendar in a task's
	// place. No task has a name like that.
	about := &ax.Task{
		ID: ax.NewTaskID(cfg.App, fmt.Sprintf("calendar %s %d", gap.Calendar, gap.Year)), App: cfg.App,
		Name: "calendar " + gap.Calendar, Notify: ax.Notify{On: []string{string(ax.CalendarEnds)}, After: 1},
	}
	sent, err := h.store.Alerts(ctx, ax.AlertFilter{App: cfg.App, TaskID: about.ID})
	if err != nil {
		return err
	}
	about.Notify.To, about.Schedule.Timezone = cfg.UsersOf(gap.Calendar)
	about.Notify.To = slices.DeleteFunc(about.Notify.To, func(notifier string) bool {
		return slices.ContainsFunc(sent, func(row ax.AlertRow) bool { return row.Notifier == notifier })
	})
	h.alerts.Observe(ax.Happening{What: ax.CalendarEnds, At: now, Task: about, Text: gap.String()})
	return nil
}
