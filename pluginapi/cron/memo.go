package cron

import (
	"runtime"
	"sync"
	"time"
	"weak"
)

// Both memos hold what can be computed again at any time: a table of jumps is
// some 10 KB and 0.1 ms of work, too much for each of many schedules. They
// keep nothing alive: an entry goes with its location.
var (
	zones     sync.Map // weak.Pointer[time.Location] → *zone
	locations sync.Map // name in CRON_TZ= → weak.Pointer[time.Location]
)

// zoneOf returns the table of a location, the same one for the same pointer.
func zoneOf(loc *time.Location) *zone {
	key := weak.Make(loc)
	if z, ok := zones.Load(key); ok {
		return z.(*zone)
	}
	z, known := zones.LoadOrStore(key, newZone(loc))
	if !known {
		runtime.AddCleanup(loc, func(key weak.Pointer[time.Location]) { zones.Delete(key) }, key)
	}
	return z.(*zone)
}

// loadLocation is time.LoadLocation with one pointer per name.
func loadLocation(name string) (*time.Location, error) {
	if p, ok := locations.Load(name); ok {
		if loc := p.(weak.Pointer[time.Location]).Value(); loc != nil {
			return loc, nil
		}
	}
	loc, err := time.LoadLocation(name)
	if err != nil {
		return nil, err
	}
	locations.Store(name, weak.Make(loc))
	return loc, nil
}
