package verdict

import (
	"cmp"
	"slices"
	"time"

	"github.com/axsched/ax/host/internal/ax"
)

// Measured is for how long after a fault due times are looked at.
const Measured = 30 * time.Second

// Budget is how long a fault may keep the tasks of its host from starting
// elsewhere; ok is false for faults that are not measured.
func Budget(k FaultKind) (limit time.Duration, ok bool) {
	switch k {
	case Kill:
		return 3 * time.Second, true
	case Drain:
		return time.Second, true
	case Stop, HangAll, Isolate:
		return 20 * time.Second, true
	}
	return 0, false
}

// TakeOver is how long the tasks of a host had to wait for another one. Tasks are
// those whose newest due time before the fault was scheduled by the host. Looked
// at are the due times of probes within Measured after it, and of each the start
// of its first attempt; Took is the longest time between the two. So a due time
// in the very moment of the fault shows the whole gap, and the usual lateness is
// part of it. An instance that the host itself had claimed already is not looked
// at: it is lost, and its second attempt belongs to the rescue.
type TakeOver struct {
	Fault Fault
	Took  time.Duration
	// Of is the instance that waited for so long; Tasks is how many tasks were
	// looked at, Starts how many starts.
	Of            ax.InstanceID
	Tasks, Starts int
}

// Late reports whether the budget was exceeded.
func (t *TakeOver) Late() bool {
	limit, _ := Budget(t.Fault.Kind)
	return t.Took > limit
}

// start is the first start of a due time of a probe.
type start struct {
	due time.Time
	row *Row
	at  time.Time // zero if the first attempt never began
}

func (j *judge) takeOvers() {
	starts := j.starts()
	for _, all := range starts {
		for _, s := range all {
			if took := s.at.Sub(s.due); !s.at.IsZero() && took > j.WorstStart {
				j.WorstStart, j.WorstStartOf = took, s.row.ID
			}
		}
	}
	for _, f := range j.facts.Faults {
		if _, measured := Budget(f.Kind); !measured || !f.Alone {
			continue
		}
		t := TakeOver{Fault: f}
		for _, all := range starts {
			t.look(all)
		}
		if t.Starts > 0 {
			j.TakeOvers = append(j.TakeOvers, t)
		}
	}
}

// starts returns those of each probe, by due time.
func (j *judge) starts() map[string][]start {
	probes := map[string]bool{}
	for _, t := range j.facts.Tasks {
		probes[t.Name] = t.Probe
	}
	starts := map[string][]start{}
	for i := range j.facts.Rows {
		r := &j.facts.Rows[i]
		if !probes[r.Task] {
			continue
		}
		s := start{due: r.Due, row: r}
		if h := j.runs[run{r.ID, 1}]; h != nil && len(h.begins) > 0 {
			s.at = h.begins[0].At
		}
		starts[r.Task] = append(starts[r.Task], s)
	}
	return starts
}

// look takes the starts of one task into account.
func (t *TakeOver) look(all []start) {
	first, _ := slices.BinarySearchFunc(all, t.Fault.Begin, func(s start, at time.Time) int { return cmp.Compare(s.due.UnixMicro(), at.UnixMicro()) })
	if first == 0 || all[first-1].row.Scheduler != t.Fault.Node {
		return
	}
	t.Tasks++
	for _, s := range all[first:] {
		if s.due.After(t.Fault.Begin.Add(Measured)) {
			return
		}
		if s.at.IsZero() {
			continue
		}
		t.Starts++
		if took := s.at.Sub(s.due); took > t.Took {
			t.Took, t.Of = took, s.row.ID
		}
	}
}
