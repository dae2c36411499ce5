package trigger

import (
	"fmt"
	"sync"
	"time"
)

// zones is a memo, not state: a cron schedule derives half a millisecond worth
// of tables from the pointer of its location, so tasks in one zone must share
// it. Only zones that exist get in, some six hundred at most.
var zones sync.Map // name → *time.Location

// Zone returns the location with this IANA name, the same pointer each time.
// Names that mean something else on every host, "" and "Local", are refused.
func Zone(name string) (*time.Location, error) {
	if zone, ok := zones.Load(name); ok {
		return zone.(*time.Location), nil
	}
	zone, err := time.LoadLocation(name)
	if err != nil || name == "" || name == "Local" {
		return nil, fmt.Errorf("%q is no time zone; write an IANA name such as Asia/Shanghai, Europe/Berlin or UTC", name)
	}
	shared, _ := zones.LoadOrStore(name, zone)
	return shared.(*time.Location), nil
}
