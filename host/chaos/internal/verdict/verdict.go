package verdict

import (
	"fmt"
	"slices"
	"time"

	"github.com/axsched/ax/host/internal/ax"
)

// Promise names what was broken.
type Promise string

// Promises. Each is a field of the verdict's JSON.
const (
	// Doubled: two rows cover one due time of a task.
	Doubled Promise = "doubled"
	// DoubledClaim: one attempt of an instance began twice.
	DoubledClaim Promise = "doubled_claims"
	// Missing: a due time that no row covers.
	Missing Promise = "missing"
	// Stray: a row for a time that is no due time, or a MISSED row that counts wrong.
	Stray Promise = "stray"
	// Unclaimed: an instance still waits for somebody to run it.
	Unclaimed Promise = "unclaimed"
	// Stuck: an instance is still running or waits for a retry.
	Stuck Promise = "stuck"
	// DoubleOutcome: the end of one attempt was recorded more than once.
	DoubleOutcome Promise = "double_outcomes"
	// NoOutcome: the end of an attempt was recorded nowhere.
	NoOutcome Promise = "no_outcomes"
	// LostOutcome: a job reported its end, its host lived on, and the database says
	// that the attempt was lost.
	LostOutcome Promise = "lost_outcomes"
	// Rerun: a job that had ended well ran again, and its host was not away.
	Rerun Promise = "reruns"
	// Unfounded: the journal and the database contradict one another.
	Unfounded Promise = "unfounded"
	// Early: an attempt began before it was due.
	Early Promise = "early"
)

// Promises lists them all.
func Promises() []Promise {
	return []Promise{
		Doubled, DoubledClaim, Missing, Stray, Unclaimed, Stuck,
		DoubleOutcome, NoOutcome, LostOutcome, Rerun, Unfounded, Early,
	}
}

// Finding is one broken promise.
type Finding struct {
	Promise Promise
	// Count is how many due times, instances or attempts this is about.
	Count int
	Text  string
	// Instances are the rows concerned.
	Instances []ax.InstanceID
}

// Verdict is what Judge finds.
type Verdict struct {
	Due, Instances, Runs int
	Findings             []Finding
	// TakeOvers are one for each fault whose effect could be measured.
	TakeOvers []TakeOver
	// WorstStart is the longest time from a due time of a probe to its first start,
	// and WorstStartOf the instance.
	WorstStart   time.Duration
	WorstStartOf ax.InstanceID
	// Overlaps counts attempts that began while an earlier one of the same instance
	// had not ended: that of a host which was taken for dead. Their fences differ,
	// so the job can tell.
	Overlaps int
}

// Count adds up the findings about one promise.
func (v *Verdict) Count(p Promise) int {
	n := 0
	for _, f := range v.Findings {
		if f.Promise == p {
			n += f.Count
		}
	}
	return n
}

// Judge holds facts against the promises.
func Judge(f Facts) Verdict {
	j := &judge{facts: f, rows: map[ax.InstanceID]*Row{}, runs: map[run]*history{}}
	for i := range f.Rows {
		j.rows[f.Rows[i].ID] = &f.Rows[i]
	}
	j.Instances = len(f.Rows)
	j.readJournal()
	j.dueTimes()
	j.states()
	j.outcomes()
	j.journal()
	j.takeOvers()
	return j.Verdict
}

type judge struct {
	facts Facts
	rows  map[ax.InstanceID]*Row
	runs  map[run]*history
	order []run // of their begin
	Verdict
}

func (j *judge) find(p Promise, count int, instances []ax.InstanceID, format string, args ...any) {
	j.Findings = append(j.Findings, Finding{p, count, fmt.Sprintf(format, args...), instances})
}

// stamp shows a time as it is found in the database.
func stamp(t time.Time) string { return t.UTC().Format("15:04:05.000") }

// states looks for instances that have not ended.
func (j *judge) states() {
	for i := range j.facts.Rows {
		r := &j.facts.Rows[i]
		if r.Status.Final() {
			continue
		}
		p := Stuck
		if r.Status == ax.StatusTriggered || r.Status == ax.StatusDispatched {
			p = Unclaimed
		}
		j.find(p, 1, []ax.InstanceID{r.ID}, "%s of %s is %s, attempt %d", stamp(r.Due), r.Task, r.Status, r.Attempt)
	}
}

// outcomes wants the end of each attempt once. A late result comes beside the
// event which says that the attempt was lost.
func (j *judge) outcomes() {
	for i := range j.facts.Rows {
		r := &j.facts.Rows[i]
		for attempt := 1; attempt <= r.Attempt; attempt++ {
			ends := 0
			for _, e := range r.Ends {
				if e.Attempt == attempt && (e.Stage == ax.StageOutcome || e.Stage == ax.StageLost) {
					ends++
				}
			}
			open := attempt == r.Attempt && !r.Status.Final() && r.Status != ax.StatusRetrying
			switch {
			case ends > 1:
				j.find(DoubleOutcome, 1, []ax.InstanceID{r.ID}, "attempt %d of %s of %s ended %d times", attempt, stamp(r.Due), r.Task, ends)
			case ends == 0 && !open:
				j.find(NoOutcome, 1, []ax.InstanceID{r.ID}, "attempt %d of %s of %s has no end", attempt, stamp(r.Due), r.Task)
			}
		}
	}
}

// had reports whether an event tells of an attempt.
func (r *Row) had(attempt int, stage ax.Stage) bool {
	return slices.Contains(r.Ends, End{attempt, stage})
}
