package storetest

import (
	"time"

	"github.com/axsched/ax/host/internal/ax"
)

var tallyTests = []test{{"by status", tallyByStatus}}

func tallyByStatus(b *bed) {
	b.apply(Task(app, "a", noon), Task(app, "b", noon))
	b.ended("a", -time.Second, time.Second, ax.StatusSuccess) // before the hour
	b.ended("a", 0, time.Second, ax.StatusSuccess)
	b.ended("b", time.Minute, time.Second, ax.StatusSuccess)
	b.ended("b", time.Hour-time.Second, time.Second, ax.StatusFailed)
	b.insert(b.newInstance("b", 2*time.Minute)) // still runs
	b.ended("a", time.Hour, time.Second, ax.StatusLost)

	counts, err := b.s.CountByStatus(b.Context(), app, noon, noon.Add(time.Hour))
	b.must(err)
	equal(b, "counts", counts, map[ax.Status]int64{ax.StatusSuccess: 2, ax.StatusFailed: 1, ax.StatusRunning: 1})
	counts, err = b.s.CountByStatus(b.Context(), "none", noon, noon.Add(time.Hour))
	b.must(err)
	equal(b, "counts of another app", len(counts), 0)
}
