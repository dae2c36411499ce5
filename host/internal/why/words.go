package why

import (
	"fmt"
	"strings"
	"time"

	"github.com/axsched/ax/host/internal/ax"
)

// clock shows a time in the zone of the task.
func (q *inquiry) clock(t time.Time) string {
	t = t.In(q.Zone).Truncate(time.Millisecond)
	layout := "2006-01-02 15:04:05 -07:00"
	if t.Nanosecond() != 0 {
		layout = "2006-01-02 15:04:05.000 -07:00"
	}
	return t.Format(layout)
}

// span shows how long something took, with as many digits as are of use.
func span(d time.Duration) string {
	switch d = d.Abs(); {
	case d < time.Second:
		return d.Round(time.Millisecond).String()
	case d < time.Minute:
		return d.Round(100 * time.Millisecond).String()
	case d < time.Hour:
		return d.Round(time.Second).String()
	case d < 48*time.Hour:
		return strings.TrimSuffix(d.Round(time.Minute).String(), "0s")
	default:
		return fmt.Sprintf("%d days", d/(24*time.Hour))
	}
}

// joined adds a reason to a sentence, if there is one.
func joined(text, reason string) string {
	if reason == "" {
		return text
	}
	return text + ": " + reason
}

// maxText bounds what is shown of an error, in runes.
const maxText = 300

// line returns a text without its line ends, cut to what a sentence can bear.
func line(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	if runes := []rune(text); len(runes) > maxText {
		return string(runes[:maxText]) + " …"
	}
	return text
}

// scheduleText is a schedule in the words of the configuration.
func scheduleText(s ax.Schedule) string {
	var text string
	switch {
	case s.Cron != "":
		text = "cron " + s.Cron
	case s.Every > 0:
		text = "every " + s.Every.String()
	case s.Delay > 0:
		text = "delay " + s.Delay.String()
	case s.Trigger != nil:
		text = "the trigger " + s.Trigger.Name
	default:
		text = "at " + s.At.Format(time.RFC3339)
	}
	return text + " (" + s.Timezone + ")"
}

// times counts due times.
func times(n int) string {
	if n == 1 {
		return "1 due time"
	}
	return fmt.Sprintf("%d due times", n)
}
