package alert

import (
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

const (
	// maxDigest bounds the digest of an error, in bytes.
	maxDigest = 3000
	// headLines and tailLines are what is shown of a long error: most languages
	// put the cause first, some last.
	headLines = 10
	tailLines = 3
)

// digest returns the part of an error or a stack that people want to see: its
// first and last lines, without control characters.
func digest(text string) string {
	text = strings.Map(func(c rune) rune {
		if unicode.IsControl(c) && c != '\n' && c != '\t' {
			return -1
		}
		return c // bytes that are no UTF-8 come as U+FFFD
	}, text)
	lines := strings.Split(strings.TrimSpace(text), "\n")
	note := -1
	if left := len(lines) - headLines - tailLines; left > 1 {
		note = headLines
		lines = append(append(lines[:headLines:headLines], fmt.Sprintf("… %d lines left out …", left)), lines[len(lines)-tailLines:]...)
	}
	for i := range lines {
		if i != note {
			lines[i] = cut(strings.TrimRight(lines[i], " \t"), maxDigest/len(lines)-1)
		}
	}
	return strings.Join(lines, "\n")
}

const cutMark = "…"

// cut returns s if it has at most limit bytes, else its beginning up to a border
// between two runes, and a mark; with it there are at most limit bytes.
func cut(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	n := limit - len(cutMark)
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + cutMark
}

// phrases say what became of a task, once and several times.
var phrases = map[string][2]string{
	failed:       {"failed", "failed %d times"},
	timeout:      {"timed out", "timed out %d times"},
	lost:         {"lost a run", "lost %d runs"},
	missed:       {"missed a due time", "missed due times %d times"},
	skipped:      {"skipped a due time", "skipped %d due times"},
	parked:       {"is parked", "was parked %d times"},
	recovered:    {"recovered", "recovered %d times"},
	calendarEnds: {"lacks a list of holidays", "lacks a list of holidays, as said %d times"},
}

func (t *tally) phrase() string {
	switch p := phrases[t.Event]; {
	case t.Event == parked && !t.Over.IsZero() && t.Count == 1:
		return "was parked"
	case t.Count == 1:
		return p[0]
	default:
		return fmt.Sprintf(p[1], t.Count)
	}
}

// title is one line. lead is the tally that it names.
func (r *row) title(lead *tally) string {
	if lead.Event == recovered {
		return r.task + " recovered " + lead.Reason
	}
	title := r.task + " " + lead.phrase()
	if others := r.Count - lead.Count; others > 0 {
		title += ", and " + number(others, "other event")
	}
	return title
}

// text tells all, in lines for people.
func (r *row) text(lead *tally, zone *time.Location) string {
	subject := "Task "
	if lead.Event == calendarEnds {
		subject = "The " // its name says that it is a calendar
	}
	lines := []string{fmt.Sprintf("%s%s of app %s %s", subject, r.task, r.App, lead.sentence(zone))}
	for i := range r.facts.Tallies {
		if t := &r.facts.Tallies[i]; t.Event != lead.Event {
			lines = append(lines, "It "+t.sentence(zone))
		}
	}
	newest := func(noun string) string { // what there is one of is not the newest
		if r.Count == 1 {
			return strings.ToUpper(noun[:1]) + noun[1:]
		}
		return "Newest " + noun
	}
	if isFailure(lead.Event) && r.facts.Streak > 1 {
		lines = append(lines, fmt.Sprintf("That makes %d failures in a row.", r.facts.Streak))
	}
	if run := r.facts.Run; run.Instance != "" {
		line := newest("run") + ": instance " + run.Instance
		if run.Attempt > 0 {
			line += fmt.Sprintf(", attempt %d", run.Attempt)
		}
		if run.Node != "" {
			line += " on host " + run.Node
		}
		lines = append(lines, line+".")
	}
	if r.facts.Error != "" {
		lines = append(lines, newest("error")+":", r.facts.Error)
	}
	return strings.Join(lines, "\n")
}

// sentence tells of the events, without the subject.
func (t *tally) sentence(zone *time.Location) string {
	s := strings.Replace(t.phrase(), "is ", "was ", 1) + " " + span(t.First.In(zone), t.Last.In(zone))
	switch {
	case t.Event == recovered:
		s += ", " + t.Reason
	case t.Reason != "":
		s += ": " + t.Reason
	}
	s = strings.TrimSuffix(s, ".") + "."
	if !t.Over.IsZero() {
		s += " It goes on since " + t.Over.In(zone).Format(time.TimeOnly) + "."
	}
	return s
}

// span says when something happened.
func span(first, last time.Time) string {
	switch {
	case first.Truncate(time.Second).Equal(last.Truncate(time.Second)):
		return "at " + first.Format(time.DateTime+" MST")
	case first.Format(time.DateOnly) == last.Format(time.DateOnly):
		return "from " + first.Format(time.DateTime) + " to " + last.Format(time.TimeOnly+" MST")
	}
	return "from " + first.Format(time.DateTime) + " to " + last.Format(time.DateTime+" MST")
}

func number(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// short writes a duration without zeros at its end: 37m instead of 37m0s.
func short(d time.Duration) string {
	s := d.Round(time.Second).String()
	for _, zero := range []string{"0s", "0m"} {
		if head, ok := strings.CutSuffix(s, zero); ok && head != "" && unicode.IsLetter(rune(head[len(head)-1])) {
			s = head
		}
	}
	return s
}
