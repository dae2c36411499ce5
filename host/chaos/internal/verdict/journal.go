package verdict

import (
	"bufio"
	"fmt"
	"io"
	"time"

	"github.com/axsched/ax/host/internal/ax"
)

const (
	// grace is how long a host must have lived on for the outcome of a job to be
	// expected: until then it may only have been in its memory.
	grace = 5 * time.Second
	// earlyBy is how much too early an attempt may begin: by how far a clock may be
	// off before a host warns.
	earlyBy = time.Second
)

// ReadJournal reads lines as the job writes them. A last line that was cut off is
// left out.
func ReadJournal(r io.Reader) ([]Line, error) {
	var lines []Line
	in := bufio.NewReader(r)
	for {
		text, err := in.ReadString('\n')
		if err == io.EOF {
			return lines, nil
		}
		if err != nil {
			return nil, fmt.Errorf("read the journal: %w", err)
		}
		var l Line
		var at int64
		if _, err := fmt.Sscan(text, &l.What, &l.Task, &l.Instance, &l.Attempt, &l.Fence, &l.Node, &l.PID, &at); err != nil {
			return nil, fmt.Errorf("read line %d of the journal, %q: %w", len(lines)+1, text, err)
		}
		l.At = time.UnixMicro(at)
		lines = append(lines, l)
	}
}

// run is an attempt of an instance.
type run struct {
	instance ax.InstanceID
	attempt  int
}

// history is what the journal says of a run.
type history struct {
	begins []Line
	end    Line // What is empty if there is none
}

func (j *judge) readJournal() {
	for _, l := range j.facts.Lines {
		key := run{l.Instance, l.Attempt}
		h := j.runs[key]
		if h == nil {
			h = &history{}
			j.runs[key] = h
			j.order = append(j.order, key)
		}
		if l.What == "begin" {
			h.begins = append(h.begins, l)
		} else {
			h.end = l
		}
	}
	j.Runs = len(j.order)
}

// journal holds what the jobs saw against what the database says.
func (j *judge) journal() {
	for _, key := range j.order {
		h, r := j.runs[key], j.rows[key.instance]
		ids := []ax.InstanceID{key.instance}
		if len(h.begins) > 1 {
			a, b := h.begins[0], h.begins[1]
			j.find(DoubledClaim, len(h.begins)-1, ids, "attempt %d of %s began %d times: on %s with fence %d at %s, on %s with fence %d at %s",
				key.attempt, a.Task, len(h.begins), a.Node, a.Fence, stamp(a.At), b.Node, b.Fence, stamp(b.At))
		}
		if r == nil {
			j.find(Unfounded, 1, ids, "attempt %d of an instance that has no row ran", key.attempt)
			continue
		}
		if len(h.begins) > 0 && h.begins[0].At.Before(r.Due.Add(-earlyBy)) {
			j.find(Early, 1, ids, "attempt %d of %s of %s began at %s", key.attempt, stamp(r.Due), r.Task, stamp(h.begins[0].At))
		}
		j.ended(key, h, r)
		j.again(key, h, r)
	}
	for i := range j.facts.Rows {
		r := &j.facts.Rows[i]
		if r.Status != ax.StatusSuccess {
			continue
		}
		if h := j.runs[run{r.ID, r.Attempt}]; h == nil || h.end.What != "end" {
			j.find(Unfounded, 1, []ax.InstanceID{r.ID}, "%s of %s is SUCCESS, and its job did not end well", stamp(r.Due), r.Task)
		}
	}
}

// ended wants the end that a job reported in the database, unless its host died
// at about that time.
func (j *judge) ended(key run, h *history, r *Row) {
	if h.end.What != "end" && h.end.What != "failed" || !r.had(key.attempt, ax.StageLost) ||
		r.had(key.attempt, ax.StageLateResult) || j.died(h.end.Node, h.end.At) {
		return
	}
	j.find(LostOutcome, 1, []ax.InstanceID{r.ID}, "attempt %d of %s of %s said %q at %s on %s, which lived on, and is LOST without a late result",
		key.attempt, stamp(r.Due), r.Task, h.end.What, stamp(h.end.At), h.end.Node)
}

// died reports whether a host was killed just before or after a time. While it
// was kept from the database, what it had to say waited in its memory.
func (j *judge) died(node string, at time.Time) bool {
	for _, f := range j.facts.Faults {
		if f.Kind == Kill && f.Node == node && f.End.After(at) && f.Begin.Before(at.Add(grace)) {
			return true
		}
	}
	return false
}

// again judges an attempt by the end of the one before it.
func (j *judge) again(key run, h *history, r *Row) {
	before := j.runs[run{key.instance, key.attempt - 1}]
	if before == nil || len(h.begins) == 0 || before.end.What == "" {
		return // that which never ended died with its host
	}
	begin := h.begins[0]
	if begin.At.Before(before.end.At) {
		j.Overlaps++
	}
	if before.end.What == "end" && !j.away(before.end.Node, before.end.At, begin.At) {
		j.find(Rerun, 1, []ax.InstanceID{r.ID}, "attempt %d of %s of %s ended well at %s on %s, and attempt %d began at %s",
			key.attempt-1, stamp(r.Due), r.Task, stamp(before.end.At), before.end.Node, key.attempt, stamp(begin.At))
	}
}

// away reports whether a host may have been taken for dead between two times.
func (j *judge) away(node string, from, until time.Time) bool {
	for _, f := range j.facts.Faults {
		switch f.Kind {
		case Kill, Drain, Stop, HangAll, Isolate, CutDB, MuteDB:
			if f.Node == node && f.Begin.Before(until) && f.End.After(from.Add(-grace)) {
				return true
			}
		}
	}
	return false
}
