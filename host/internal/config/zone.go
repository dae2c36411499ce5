package config

import (
	_ "embed"
	"strings"
	"time"
	_ "time/tzdata" // zones are known on machines without zone files, too

	"gopkg.in/yaml.v3"

	"github.com/axsched/ax/host/internal/spelling"
)

// zoneNames lists the names of the IANA time zone database, one a line: what
// to suggest for a name that does not exist.
//
//go:embed zones.txt
var zoneNames string

// zoneAliases are names that people try, with the zone they mean.
var zoneAliases = map[string]string{
	"beijing": "Asia/Shanghai", "china": "Asia/Shanghai", "china standard time": "Asia/Shanghai",
	"cst": "America/Chicago or Asia/Shanghai", "est": "America/New_York", "edt": "America/New_York",
	"pst": "America/Los_Angeles", "pdt": "America/Los_Angeles", "ist": "Asia/Kolkata or Europe/Dublin",
	"bst": "Europe/London", "cest": "Europe/Berlin", "jst": "Asia/Tokyo", "z": "UTC",
	"utc+8": "Asia/Shanghai", "gmt+8": "Asia/Shanghai", "utc+08:00": "Asia/Shanghai", "+08:00": "Asia/Shanghai",
}

// zone is the name of a time zone. The location is kept beside it.
func zone(to *string) rule {
	r := rule{kind: kindZone}
	r.take = func(d *decoder, key string, n *yaml.Node) {
		if n.Tag != "!!str" {
			d.mismatch(&r, key, n)
			return
		}
		if d.zone(n.Value) == nil {
			d.fault(n, "%s: %s is no time zone%s", key, d.show(n), d.suggestZone(n))
			return
		}
		*to = n.Value
	}
	return r
}

// zone returns the location with this name, or nil. What means something else
// on each host is no zone.
func (l *loader) zone(name string) *time.Location {
	loc, known := l.zones[name]
	if known || name == "" || name == "Local" {
		return loc
	}
	loc, err := time.LoadLocation(name)
	if err != nil {
		loc = nil
	}
	l.zones[name] = loc
	return loc
}

func (d *decoder) suggestZone(n *yaml.Node) string {
	name := n.Value
	if strings.EqualFold(name, "local") {
		return ", since it differs from host to host: write the name of the zone"
	}
	if filled(n) {
		name = ""
	}
	if alias, ok := zoneAliases[strings.ToLower(name)]; ok {
		return ", did you mean " + alias + "?"
	}
	all := strings.Fields(zoneNames)
	for _, known := range all {
		city := known[strings.LastIndexByte(known, '/')+1:]
		if strings.EqualFold(city, strings.ReplaceAll(name, " ", "_")) {
			return ", did you mean " + known + "?"
		}
	}
	if guess := spelling.Nearest(name, all); guess != "" {
		return ", did you mean " + guess + "?"
	}
	return ", expected an IANA name such as Asia/Shanghai, Europe/Berlin or UTC"
}
