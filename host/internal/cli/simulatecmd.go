package cli

import (
	"encoding/csv"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/axsched/ax/host/internal/preview"
)

const simulateHelp = `Replay the schedules of a configuration over a span of time, without a host and
without running anything: how much is due when, which minutes are the busiest,
which tasks collide, which closed days they run into, which are never due, and
what rests on years for which a calendar has no list.

Times without an offset are local. Due times are counted per minute for spans up to
6 hours, per hour up to 14 days, else per day; --per says otherwise. --csv prints
these counts only. Intervals with a repeat count and no anchor are taken as first
seen at --from; of tasks with a fixed delay each run is taken to be over at once.
A year of 1,000 tasks takes some seconds.`

// simulateFlags are the flags of "ax simulate".
type simulateFlags struct {
	from, to, per string
	tasks         []string
	csv           bool
}

func (p *program) simulateCommand() *cobra.Command {
	var f simulateFlags
	c := command(&cobra.Command{
		Use:   "simulate",
		Short: "Replay all schedules over a span of time",
		Long:  simulateHelp,
		Example: `  ax simulate --from 2026-10-01 --to 2026-10-08 -c config.yaml
  ax simulate --from 2026-01-01 --to 2027-01-01 --csv > load.csv
  ax simulate --task nightly-report --task cache-warm-up --to 2027-01-01 -o json`,
	}, "tasks", func(cmd *cobra.Command, _ []string) error { return p.simulate(cmd, f) })
	flags := c.Flags()
	flags.StringVar(&f.from, "from", "", "begin of the span, a `TIME` (default now)")
	flags.StringVar(&f.to, "to", "", "end of the span, a `TIME` that is not part of it (default a day after --from)")
	flags.StringArrayVar(&f.tasks, "task", nil, "only this `TASK`; may be repeated")
	flags.StringVar(&f.per, "per", "", "count due times per `UNIT`: minute, hour or day")
	flags.BoolVar(&f.csv, "csv", false, "print the counts as CSV: start,due_times,tasks")
	p.complete(c, "per", string(preview.PerMinute), string(preview.PerHour), string(preview.PerDay))
	return c
}

func (p *program) simulate(cmd *cobra.Command, f simulateFlags) error {
	s := preview.Simulation{Zone: p.Zone}
	if err := p.readSpan(&s, f); err != nil {
		return usage(err)
	}
	source, err := p.OpenNext(cmd.Context(), p.configFile())
	if err != nil {
		return p.withFaults(err)
	}
	defer source.Close()
	s.Tasks, s.Calendars, s.Plugins = source.Tasks, source.Calendars, source.Plugins
	if len(f.tasks) > 0 {
		s.Tasks = nil
		for _, name := range f.tasks {
			task, err := source.find(name)
			if err != nil {
				return err
			}
			s.Tasks = append(s.Tasks, task)
		}
	}
	s.Progress = p.simulateProgress(s.From, s.To)
	report, err := preview.Simulate(cmd.Context(), s)
	if p.Terminal {
		fmt.Fprint(p.Err, "\r\x1b[K")
	}
	if err != nil {
		return err
	}
	if f.csv {
		return p.simulateCSV(report)
	}
	return p.show(report, func() string { return p.simulateText(report) })
}

// readSpan reads the flags that say what is counted.
func (p *program) readSpan(s *preview.Simulation, f simulateFlags) (err error) {
	s.From = p.Now().Truncate(time.Second)
	if f.from != "" {
		if s.From, err = p.instant(f.from); err != nil {
			return fmt.Errorf("--from: %w", err)
		}
	}
	s.To = s.From.AddDate(0, 0, 1)
	if f.to != "" {
		if s.To, err = p.instant(f.to); err != nil {
			return fmt.Errorf("--to: %w", err)
		}
	}
	s.From, s.To = s.From.In(p.Zone), s.To.In(p.Zone)
	if !s.From.Before(s.To) {
		return errors.New("--to: expected a time after --from")
	}
	s.Unit = preview.UnitFor(s.To.Sub(s.From))
	if f.per != "" {
		if s.Unit, err = preview.ParseUnit(f.per); err != nil {
			return fmt.Errorf("--per: %w", err)
		}
	}
	if f.csv && p.json() {
		return errors.New("give either --csv or -o json")
	}
	return nil
}

// redrawEvery bounds how often a progress bar is drawn.
const redrawEvery = 100 * time.Millisecond

// simulateProgress returns a function that draws how far a replay is, or nil if
// nobody sees it.
func (p *program) simulateProgress(from, to time.Time) func(time.Time) {
	if !p.Terminal {
		return nil
	}
	var drawn time.Time
	return func(at time.Time) {
		if now := p.Now(); now.Sub(drawn) >= redrawEvery {
			drawn = now
			fmt.Fprintf(p.Err, "\r\x1b[K%s %s", bar(int(at.Sub(from)/time.Minute), int(to.Sub(from)/time.Minute)), at.In(p.Zone).Format(time.DateOnly))
		}
	}
}

func (p *program) simulateCSV(r *preview.Report) error {
	w := csv.NewWriter(p.Out)
	rows := [][]string{{"start", "due_times", "tasks"}}
	for _, b := range r.Buckets {
		rows = append(rows, []string{b.Start.Format(time.RFC3339), strconv.Itoa(b.DueTimes), strconv.Itoa(b.Tasks)})
	}
	return w.WriteAll(rows)
}

// maxRows bounds the tables of the text; JSON and CSV have all rows.
const maxRows = 50

// maxNames bounds a list of names in the text.
const maxNames = 50

func (p *program) simulateText(r *preview.Report) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s of %s from %s to %s\n", count(int(r.DueTimes), "due time"), count(r.Tasks, "task"), zoned(r.From), zoned(r.To))
	if r.Disabled > 0 {
		fmt.Fprintf(&b, "%s left out, being disabled\n", count(r.Disabled, "task"))
	}
	buckets := newTable(strings.ToUpper(string(r.Unit)), "DUE TIMES", "TASKS", "")
	most := 0
	for _, bucket := range r.Buckets {
		most = max(most, bucket.DueTimes)
	}
	for _, bucket := range r.Buckets[:min(len(r.Buckets), maxRows)] {
		buckets.add(bucketText(bucket.Start, r.Unit), strconv.Itoa(bucket.DueTimes), strconv.Itoa(bucket.Tasks),
			strings.Repeat("#", (barWidth*bucket.DueTimes+most-1)/most))
	}
	section(&b, fmt.Sprintf("Due times per %s", r.Unit), buckets, len(r.Buckets))
	busiest := slices.DeleteFunc(slices.Clone(r.Busiest), func(m preview.Moment) bool { return m.DueTimes == 1 })
	section(&b, "Busiest minutes", momentTable(busiest, "2006-01-02 15:04 -07:00 Mon"), len(busiest))
	if c := r.Collisions; c.Minutes > 0 {
		fmt.Fprintf(&b, "\nSeveral tasks are due in the same second %s, in the same minute %s.\n", howOften(c.Seconds), howOften(c.Minutes))
		section(&b, "Worst seconds", momentTable(c.Worst, "2006-01-02 15:04:05 -07:00 Mon"), len(c.Worst))
	}
	closed := newTable("DATE", "LEFT OUT", "MOVED", "TASKS", "CLOSED IN")
	for _, day := range r.ClosedDays[:min(len(r.ClosedDays), maxRows)] {
		closed.add(day.Date, strconv.Itoa(day.LeftOut), strconv.Itoa(day.Moved), strconv.Itoa(day.Tasks), day.Reason)
	}
	section(&b, "Closed days hit", closed, len(r.ClosedDays))
	simulateTasks(&b, r)
	return b.String()
}

// section writes a table under a title, and how many of its rows are missing.
// A table without rows is left out.
func section(b *strings.Builder, title string, t *table, rows int) {
	if rows == 0 {
		return
	}
	fmt.Fprintf(b, "\n%s:\n%s", title, t)
	if missing := rows - (len(t.rows) - 1); missing > 0 {
		fmt.Fprintf(b, "and %d more, see -o json\n", missing)
	}
}

func howOften(n int64) string {
	if n == 1 {
		return "once"
	}
	return fmt.Sprintf("%d times", n)
}

func bucketText(start time.Time, unit preview.Unit) string {
	if unit == preview.PerDay {
		return start.Format("2006-01-02 Mon")
	}
	return start.Format("2006-01-02 15:04 -07:00")
}

func momentTable(list []preview.Moment, layout string) *table {
	const most = 5
	t := newTable("AT", "DUE TIMES", "TASKS")
	for _, m := range list {
		tasks := slices.Clone(m.Tasks)
		slices.SortStableFunc(tasks, func(a, b preview.TaskCount) int { return b.DueTimes - a.DueTimes })
		var names []string
		for _, task := range tasks[:min(len(tasks), most)] {
			name := task.Task
			if task.DueTimes > 1 {
				name += fmt.Sprintf(" (%d)", task.DueTimes)
			}
			names = append(names, name)
		}
		if more := len(tasks) - most; more > 0 {
			names = append(names, fmt.Sprintf("%d more", more))
		}
		t.add(m.At.Format(layout), strconv.Itoa(m.DueTimes), strings.Join(names, ", "))
	}
	return t
}

// simulateTasks tells of the tasks that something is to be said about.
func simulateTasks(b *strings.Builder, r *preview.Report) {
	if len(r.Never) > 0 {
		names := r.Never[:min(len(r.Never), maxNames)]
		fmt.Fprintf(b, "\nNever due in this span:\n%s", printable(strings.Join(names, ", ")))
		if more := len(r.Never) - len(names); more > 0 {
			fmt.Fprintf(b, " and %d more", more)
		}
		b.WriteByte('\n')
	}
	beyond, beyonds := newTable("TASK", "DUE TIMES", "FROM"), 0
	faulty, faults := newTable("TASK", "REASON"), 0
	for _, task := range r.PerTask {
		if task.Beyond > 0 {
			if beyonds++; beyonds <= maxRows {
				beyond.add(task.Task, strconv.Itoa(task.Beyond), zoned(task.BeyondFrom))
			}
		}
		if task.Error != "" {
			if faults++; faults <= maxRows {
				faulty.add(task.Task, task.Error)
			}
		}
	}
	section(b, "In years that calendars have no list for, computed from their weekly patterns", beyond, beyonds)
	section(b, "Not replayed to the end", faulty, faults)
}
