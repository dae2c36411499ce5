package config

import (
	"strings"
	"testing"
	"time"
)

func TestParseInstant(t *testing.T) {
	t.Parallel()
	zone, err := time.LoadLocation("America/New_York")
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{
		"2026-12-01T10:00:00+08:00":   "2026-12-01T02:00:00Z",
		"2026-12-01 10:00:00Z":        "2026-12-01T10:00:00Z",
		"2026-12-01T10:00:00.25Z":     "2026-12-01T10:00:00.25Z",
		"2026-12-01":                  "2026-12-01T05:00:00Z",
		"2026-12-01T10:00":            "2026-12-01T15:00:00Z",
		"2026-03-08 02:30":            "2026-03-08T07:00:00Z", // does not exist: after the gap
		"2026-11-01 01:30":            "2026-11-01T05:30:00Z", // twice: the first
		"2026-12-01T10":               "",
		"2026-02-30":                  "",
		"10:00":                       "",
		"":                            "",
		"2026-12-01T10:00:00+08:00 x": "",
	} {
		got, err := ParseInstant(text, zone)
		if want == "" {
			if err == nil {
				t.Errorf("%q: got %v, want an error", text, got)
			}
			continue
		}
		if err != nil || got.Format(time.RFC3339Nano) != want {
			t.Errorf("%q: got %v, %v, want %s", text, got, err, want)
		}
	}
}

// TestZoneNames: every zone that is suggested exists.
func TestZoneNames(t *testing.T) {
	t.Parallel()
	l := newLoader(Options{})
	names := strings.Fields(zoneNames)
	for _, alias := range zoneAliases {
		names = append(names, strings.Split(alias, " or ")...)
	}
	for _, name := range names {
		if l.zone(name) == nil {
			t.Errorf("there is no zone %q", name)
		}
	}
}
