package main

import (
	"context"
	"fmt"
	"time"

	"github.com/axsched/ax/host/chaos/internal/verdict"
)

// calmLimit is how long what was begun may take to end after the last due time:
// a host that was taken for dead, retries, and attempts that nobody confirmed.
const calmLimit = 90 * time.Second

// calm waits until nothing is left to be done, and ends all hosts in good order.
// It returns what went wrong with hosts as such.
func (w *world) calm(ctx context.Context) (troubles []string, err error) {
	db, err := w.db.read()
	if err != nil {
		return nil, fmt.Errorf("open the database: %w", err)
	}
	defer db.Close()
	for deadline := time.Now().Add(calmLimit + w.Outage); ; {
		instances, tasks, err := unfinished(ctx, db)
		if err != nil {
			return nil, fmt.Errorf("look for what has not ended: %w", err)
		}
		if instances+tasks == 0 {
			break
		}
		if time.Now().After(deadline) {
			w.say("still %d instances and %d tasks after %s", instances, tasks, calmLimit)
			break
		}
		if err := wait(ctx, 4*poll); err != nil {
			return nil, err
		}
	}
	for _, n := range w.nodes {
		if n.ended() {
			troubles = append(troubles, fmt.Sprintf("%s ended by itself: %s", n.name, n.cmd.ProcessState))
		} else if err := n.stop(); err != nil {
			troubles = append(troubles, err.Error())
		}
	}
	return troubles, nil
}

// judge reads and reports what is left behind.
func (w *world) judge(ctx context.Context, faults []verdict.Fault, troubles []string) (s summary, err error) {
	facts, err := w.facts(ctx, faults)
	if err != nil {
		return s, err
	}
	v := verdict.Judge(facts)
	if err := w.report(ctx, &v, facts); err != nil {
		return s, err
	}
	s = w.summarize(&v, faults)
	for _, t := range v.TakeOvers {
		if w.Hosts > 1 && t.Late() {
			limit, _ := verdict.Budget(t.Fault.Kind)
			s.Broken = append(s.Broken, fmt.Sprintf("%s of %s: %s until its tasks ran elsewhere, allowed are %s",
				t.Fault.Kind, t.Fault.Node, t.Took.Round(time.Millisecond), limit))
		}
	}
	s.Broken = append(s.Broken, troubles...)
	return s, nil
}
