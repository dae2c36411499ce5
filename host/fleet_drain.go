package host

import (
	"errors"

	"github.com/axsched/ax/host/internal/cluster"
)

// Refusals of a drain.
var (
	errAlone     = errors.New("no other host would run the tasks; to stop all of them nevertheless use --force (in the API: \"force\": true)")
	errSole      = errors.New("with SQLite there is no other host that could take over; pause the tasks, or stop the host")
	errNotDrains = errors.New("the host is not drained")
	errStops     = errors.New("the host is stopping")
	errShows     = errors.New("the host only shows the console: with console_only it never schedules")
)

// Drain lets this host leave scheduling, as another one was asked for.
func (f *fleet) Drain(undo bool, by string) error { return f.setDrained(undo, true, by) }

// setDrained lets this host leave scheduling, or take part again. What runs here
// goes on, and so does what waits in the queue already. force also lets the last
// host go.
func (f *fleet) setDrained(undo, force bool, by string) error {
	switch {
	case f.sole:
		return errSole
	case f.h.draining.Load():
		return errStops
	case f.h.onlyShows():
		return errShows
	case undo:
		if !f.drained.CompareAndSwap(true, false) {
			return errNotDrains
		}
		f.log.Info("host takes part in scheduling again", "by", by)
		f.view.Undrain()
		return nil
	case !force && !othersSchedule(f.view.Snapshot(), f.h.incarnation):
		return errAlone
	}
	if !f.drained.CompareAndSwap(false, true) {
		return nil // it is, already
	}
	f.log.Info("host leaves scheduling and takes no attempts, what it runs goes on; a restart or \"ax drain --undo\" ends that", "by", by)
	f.drain()
	return nil
}

// othersSchedule reports whether there is a host that schedules besides one.
func othersSchedule(s *cluster.Snapshot, incarnation string) bool {
	for i := range s.Members {
		if m := &s.Members[i]; m.Incarnation != incarnation && m.Schedules() {
			return true
		}
	}
	return false
}
