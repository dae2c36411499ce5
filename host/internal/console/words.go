package console

import (
	"bytes"
	"encoding/json"
	"fmt"
	"html/template"
	"strconv"
	"strings"
	"time"

	"github.com/axsched/ax/host/internal/ax"
)

// notes are what pages say after a change, by the word in their address.
func notes() map[string]string {
	return map[string]string{
		"paused":    "Paused.",
		"resumed":   "Resumed.",
		"started":   "Started.",
		"canceled":  "Asked to stop.",
		"resent":    "It will be sent again.",
		"dropped":   "Thrown away.",
		"tested":    "The test message was taken.",
		"silenced":  "Silenced.",
		"ended":     "The silence has ended.",
		"drained":   "It is leaving scheduling.",
		"undrained": "It takes part again.",
		"reset":     "The plugin is started anew.",
		"reloaded":  "The configuration was read again.",
		"made":      "The task is made.",
		"changed":   "The task is changed.",
		"deleted":   "The task is deleted.",
	}
}

// durationFunctions are functions of templates that show lengths of time.
func durationFunctions(words catalog) template.FuncMap {
	return template.FuncMap{
		"rough":     words.rough,
		"exact":     exact,
		"seconds":   func(s float64) time.Duration { return time.Duration(s * float64(time.Second)) },
		"mebibytes": func(bytes int64) int64 { return bytes >> 20 },
		"percent":   func(share float64) string { return fmt.Sprintf("%.0f %%", 100*share) },
		"took": func(from, to time.Time) string {
			if from.IsZero() || to.IsZero() {
				return "–"
			}
			return exact(to.Sub(from))
		},
	}
}

// rough says a length of time in its largest unit, or its two largest ones while
// that matters.
func (c catalog) rough(d time.Duration) string {
	switch {
	case d < time.Second:
		return c.text("%d ms", d.Milliseconds())
	case d < time.Minute:
		return c.text("%d s", int(d.Seconds()))
	case d < time.Hour:
		return c.text("%d min", int(d.Minutes()))
	case d < 24*time.Hour:
		h, m := int(d.Hours()), int(d.Minutes())%60
		if m == 0 || h >= 10 {
			return c.text("%d h", h)
		}
		return c.text("%d h %d min", h, m)
	}
	return c.count("%d day", "%d days", int(d.Hours())/24)
}

// weekdays are their names in short, from Sunday on.
func (c catalog) weekdays() []string {
	return []string{c.text("Sun"), c.text("Mon"), c.text("Tue"), c.text("Wed"), c.text("Thu"), c.text("Fri"), c.text("Sat")}
}

// exact shows how long something took, with three digits that matter.
func exact(d time.Duration) string {
	switch {
	case d < 0:
		return "–"
	case d < time.Millisecond:
		return fmt.Sprintf("%d µs", d.Microseconds())
	case d < time.Second:
		return fmt.Sprintf("%d ms", d.Milliseconds())
	case d < 10*time.Second:
		return fmt.Sprintf("%.2f s", d.Seconds())
	case d < time.Minute:
		return fmt.Sprintf("%.1f s", d.Seconds())
	case d < time.Hour:
		return fmt.Sprintf("%d:%02d min", int(d.Minutes()), int(d.Seconds())%60)
	}
	return fmt.Sprintf("%d:%02d h", int(d.Hours()), int(d.Minutes())%60)
}

// indented shows JSON for people; what is none is shown as it is.
func indented(raw json.RawMessage) string {
	var b bytes.Buffer
	if json.Indent(&b, raw, "", "  ") != nil {
		return string(raw)
	}
	return b.String()
}

// grouped shows a number with its thousands apart.
func grouped(n int64) string {
	if n < 0 {
		return "-" + grouped(-n)
	}
	if n < 1000 {
		return strconv.FormatInt(n, 10)
	}
	return grouped(n/1000) + fmt.Sprintf(",%03d", n%1000)
}

// spoken are the words that states and the like are shown by, which templates
// look up as they come. They are keys of the catalog.
func spoken() []string {
	words := []string{
		"on", "off", "paused", "parked", "done", "failing", // tasks
		"live", "stale", "suspect", "dead", "draining", "leaving", // nodes
		"ready", "starting", "backoff", "quarantined", "refused", // plugins
		"open", "sending", "sent", "merged", "given up", "dropped", // alerts
		"ok", "down", "unused", // notifiers
		"job", "trigger", "notifier", "params", "listener", // kinds of component
		"scheduled", "manual", "backfill", "child", // kinds of instance
		"moved", "closed", "blackout", "outside", "due", // verdicts on due times; merged is above
	}
	for _, status := range ax.Statuses() {
		words = append(words, strings.ToLower(string(status)))
	}
	return words
}
