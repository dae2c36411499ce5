package main

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/axsched/ax/host/chaos/internal/verdict"
)

// shown bounds the findings of one kind that are shown in full.
const shown = 5

// summary is the last line of a run.
type summary struct {
	Seed      uint64 `json:"seed"`
	Hosts     int    `json:"hosts"`
	Seconds   int    `json:"seconds"`
	Database  string `json:"database"`
	Due       int    `json:"due"`
	Instances int    `json:"instances"`
	Runs      int    `json:"runs"`

	Doubled        int `json:"doubled"`
	DoubledClaims  int `json:"doubled_claims"`
	Missing        int `json:"missing"`
	Stray          int `json:"stray"`
	Unclaimed      int `json:"unclaimed"`
	Stuck          int `json:"stuck"`
	DoubleOutcomes int `json:"double_outcomes"`
	NoOutcomes     int `json:"no_outcomes"`
	LostOutcomes   int `json:"lost_outcomes"`
	Reruns         int `json:"reruns"`
	Unfounded      int `json:"unfounded"`
	Early          int `json:"early"`
	Overlaps       int `json:"overlaps"`

	Faults     int                       `json:"faults"`
	FaultKinds map[verdict.FaultKind]int `json:"fault_kinds"`
	// Milliseconds; 0 where nothing was measured.
	WorstTakeOver int64 `json:"worst_takeover_ms"`
	WorstDrain    int64 `json:"worst_drain_ms"`
	WorstHang     int64 `json:"worst_hang_ms"`
	WorstStart    int64 `json:"worst_start_ms"`
	// Broken is what went wrong, empty if all promises were kept.
	Broken []string `json:"broken"`
}

func (w *world) summarize(v *verdict.Verdict, faults []verdict.Fault) summary {
	s := summary{
		Seed: w.Seed, Hosts: w.Hosts, Seconds: int(w.Load.Seconds()), Database: "mysql",
		Due: v.Due, Instances: v.Instances, Runs: v.Runs, Overlaps: v.Overlaps,
		Doubled: v.Count(verdict.Doubled), DoubledClaims: v.Count(verdict.DoubledClaim),
		Missing: v.Count(verdict.Missing), Stray: v.Count(verdict.Stray),
		Unclaimed: v.Count(verdict.Unclaimed), Stuck: v.Count(verdict.Stuck),
		DoubleOutcomes: v.Count(verdict.DoubleOutcome), NoOutcomes: v.Count(verdict.NoOutcome),
		LostOutcomes: v.Count(verdict.LostOutcome), Reruns: v.Count(verdict.Rerun), Unfounded: v.Count(verdict.Unfounded), Early: v.Count(verdict.Early),
		Faults: len(faults), FaultKinds: map[verdict.FaultKind]int{}, WorstStart: v.WorstStart.Milliseconds(), Broken: []string{},
	}
	if w.SQLite {
		s.Database = "sqlite"
	}
	for _, f := range faults {
		s.FaultKinds[f.Kind]++
	}
	for _, t := range v.TakeOvers {
		worst := &s.WorstHang
		switch t.Fault.Kind {
		case verdict.Kill:
			worst = &s.WorstTakeOver
		case verdict.Drain:
			worst = &s.WorstDrain
		}
		*worst = max(*worst, t.Took.Milliseconds())
	}
	for _, p := range verdict.Promises() {
		if n := v.Count(p); n > 0 {
			s.Broken = append(s.Broken, fmt.Sprintf("%s: %d", p, n))
		}
	}
	return s
}

// report shows a verdict to people.
func (w *world) report(ctx context.Context, v *verdict.Verdict, f verdict.Facts) error {
	db, err := w.db.read()
	if err != nil {
		return fmt.Errorf("open the database: %w", err)
	}
	defer db.Close()
	for _, t := range v.TakeOvers {
		w.say("%-8s %s at %s: its %d tasks waited %s at most, with %d starts looked at", t.Fault.Kind, t.Fault.Node,
			t.Fault.Begin.UTC().Format("15:04:05.000"), t.Tasks, t.Took.Round(time.Millisecond), t.Starts)
		if w.Hosts > 1 && t.Late() {
			if err := w.explain(ctx, db, t.Of, f.Lines); err != nil {
				return err
			}
		}
	}
	told := map[verdict.Promise]int{}
	for _, finding := range v.Findings {
		if told[finding.Promise]++; told[finding.Promise] > shown {
			continue
		}
		w.say("%s: %s", finding.Promise, finding.Text)
		for _, id := range finding.Instances {
			if err := w.explain(ctx, db, id, f.Lines); err != nil {
				w.say("  %v", err)
			}
		}
	}
	for p, n := range told {
		if n > shown {
			w.say("%s: %d more are not shown", p, n-shown)
		}
	}
	return nil
}

// line is the summary as the last line of a run.
func (s summary) line() (string, error) {
	text, err := json.Marshal(s)
	return string(text), err
}
