package cli

import (
	"strconv"
	"strings"

	"github.com/axsched/ax/host/internal/api"
	"github.com/axsched/ax/host/internal/ax"
)

func (p *program) alertsText(list []api.AlertView) string {
	if len(list) == 0 {
		return "no messages\n"
	}
	t := newTable("ALERT", "STATE", "TO", "ABOUT", "EVENT", "COUNT", "WHEN", "NOTE")
	for _, a := range list {
		note := a.LastError
		switch {
		case a.State == ax.AlertMerged:
			note = "told by " + a.MergedInto
		case note == "":
			note = a.Title
		}
		t.add(a.ID, string(a.State), a.Notifier, a.Task, a.Event, strconv.Itoa(a.Count), p.when(a.At), p.cut(oneLine(note), noteWidth))
	}
	return t.String()
}

func (p *program) alertText(a api.AlertView) string {
	var f fields
	f.add("alert", a.ID)
	f.add("state", string(a.State))
	f.add("to", a.Notifier)
	f.add("about", a.Task)
	f.add("event", a.Event)
	f.add("count", strconv.Itoa(a.Count))
	f.add("first", p.when(a.FirstAt))
	f.add("last", p.when(a.LastAt))
	switch {
	case a.State == ax.AlertSent:
		f.add("sent", p.when(a.At))
	case !a.State.Settled():
		f.add("leaves", p.when(a.At))
	}
	if a.Attempts > 0 {
		f.add("tries", strconv.Itoa(a.Attempts))
	}
	f.add("last error", a.LastError)
	f.add("told by", a.MergedInto)
	f.add("title", a.Title)
	var b strings.Builder
	b.WriteString(f.String())
	if a.Text != "" {
		b.WriteString("\n")
		for line := range strings.SplitSeq(a.Text, "\n") {
			b.WriteString(printable(line) + "\n")
		}
	}
	return b.String()
}

func (p *program) notifiersText(list []api.NotifierView) string {
	if len(list) == 0 {
		return "no notifiers\n"
	}
	t := newTable("NOTIFIER", "USES", "STATE", "WAITING", "DEAD", "LAST SENT", "NOTE")
	for _, n := range list {
		note := ""
		if n.State == "down" {
			note = "since " + p.when(n.DownSince) + ", refused in a row: " + strconv.Itoa(n.Failures)
			if !n.NextTryAt.IsZero() {
				note += ", next " + distance(n.NextTryAt.Sub(p.Now()))
			}
			note += ": " + oneLine(n.LastError)
		}
		t.add(n.Name, n.Use, n.State, number(n.Waiting), number(n.Dead), p.when(n.SentAt), note)
	}
	return t.String()
}

func (p *program) silencesText(list []api.SilenceView) string {
	if len(list) == 0 {
		return "no silences\n"
	}
	t := newTable("SILENCE", "TASK", "NOTIFIER", "UNTIL", "BY", "REASON")
	for _, s := range list {
		t.add(s.ID, orAll(s.Task), orAll(s.Notifier), p.when(s.Until), s.By, p.cut(oneLine(s.Reason), noteWidth))
	}
	return t.String()
}

func orAll(name string) string {
	if name == "" {
		return "(all)"
	}
	return name
}
