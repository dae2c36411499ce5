package holidays

import (
	"os"
	"strings"
	"testing"

	"github.com/axsched/ax/pluginapi/calendar"
)

func date(t testing.TB, text string) calendar.Date {
	t.Helper()
	d, err := calendar.ParseDate(text)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func build(t testing.TB, spec calendar.Spec) *calendar.Calendar {
	t.Helper()
	c, err := calendar.New(spec)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// published is Monday to Friday with the days of China's published list.
func published(t testing.TB) *calendar.Calendar {
	t.Helper()
	file, err := os.Open("testdata/cn-2024-2026.csv")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	closed, open, err := calendar.ParseCSV(file, "cn.csv")
	if err != nil {
		t.Fatal(err)
	}
	return build(t, calendar.Spec{Name: "published", Weekly: mondayToFriday(), Closed: closed, Open: open})
}

// ics is a file with events that are given as lines.
func ics(events ...string) []byte {
	var b strings.Builder
	b.WriteString("BEGIN:VCALENDAR\nVERSION:2.0\n")
	for _, ev := range events {
		b.WriteString("BEGIN:VEVENT\n" + strings.TrimSpace(ev) + "\nEND:VEVENT\n")
	}
	b.WriteString("END:VCALENDAR\n")
	return []byte(b.String())
}

// days writes the dates of rules.
func days(rules []calendar.Rule) string {
	words := make([]string, 0, len(rules))
	for _, r := range rules {
		words = append(words, r.String())
	}
	return strings.Join(words, " ")
}
