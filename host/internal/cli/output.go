package cli

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/axsched/ax/host/internal/config"
	"github.com/axsched/ax/pluginapi"
)

// table shows rows in columns that are as wide as their widest cell. (The
// standard tabwriter counts a Chinese character as one column.)
type table struct {
	rows [][]string
}

func newTable(head ...string) *table { return &table{rows: [][]string{head}} }

func (t *table) add(cells ...string) {
	for i, cell := range cells {
		cells[i] = oneLine(cell)
	}
	t.rows = append(t.rows, cells)
}

func (t *table) String() string {
	var widths []int
	for _, row := range t.rows {
		for i, cell := range row {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], textWidth(cell))
		}
	}
	var b strings.Builder
	for _, row := range t.rows {
		var line strings.Builder
		for i, cell := range row {
			line.WriteString(cell + strings.Repeat(" ", widths[i]-textWidth(cell)+2))
		}
		b.WriteString(strings.TrimRight(line.String(), " ") + "\n")
	}
	return b.String()
}

// fields shows names with their values, leaving out empty ones.
type fields struct{ table }

func (f *fields) add(name, value string) {
	if value != "" {
		f.rows = append(f.rows, []string{name + ":", printable(value)})
	}
}

// show writes a result: its JSON, or what text returns.
func (p *program) show(result any, text func() string) error {
	if !p.json() {
		_, err := fmt.Fprint(p.Out, text())
		return err
	}
	encoder := json.NewEncoder(p.Out)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	return encoder.Encode(result)
}

// instant reads a time; one without an offset is local.
func (p *program) instant(text string) (time.Time, error) {
	at, err := config.ParseInstant(text, p.Zone)
	if err != nil {
		return at, fmt.Errorf("expected a time such as 2026-03-09T08:00:00+08:00, or 2026-03-09 08:00 in the local zone, got %q", text)
	}
	return at, nil
}

// clock shows a time in the local zone, to the second.
func (p *program) clock(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.In(p.Zone).Format("2006-01-02 15:04:05")
}

// when shows a time with how far from now it is.
func (p *program) when(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return p.clock(t) + " (" + distance(t.Sub(p.Now())) + ")"
}

// distance says how far away a time is, in its largest unit.
func distance(d time.Duration) string {
	ahead := d > 0
	d = d.Abs()
	var text string
	switch {
	case d < time.Second:
		return "now"
	case d < time.Minute:
		text = fmt.Sprintf("%ds", d/time.Second)
	case d < time.Hour:
		text = fmt.Sprintf("%dm", d/time.Minute)
	case d < 48*time.Hour:
		text = fmt.Sprintf("%dh", d/time.Hour)
	default:
		text = fmt.Sprintf("%dd", d/(24*time.Hour))
	}
	if ahead {
		return "in " + text
	}
	return text + " ago"
}

// took shows the length of a run.
func took(from, to time.Time) string {
	if from.IsZero() || to.IsZero() || to.Before(from) {
		return ""
	}
	d := to.Sub(from)
	switch {
	case d < 10*time.Second:
		return d.Round(time.Millisecond).String()
	case d < time.Hour:
		return d.Round(time.Second).String()
	default:
		return pluginapi.Duration(d.Round(time.Minute)).String()
	}
}
