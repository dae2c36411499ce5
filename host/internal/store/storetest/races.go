package storetest

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/axsched/ax/host/internal/ax"
)

var raceTests = []test{
	{"one of many edits wins", raceRevisions},
	{"one plan, many goroutines", racePlan},
	{"three hosts claim the same rows", raceClaims},
	{"three hosts make the same instances", raceDueTimes},
}

func racePlan(b *bed) {
	const steps, racers = 20, 16
	b.apply(Task(app, "t", noon))
	id := ax.NewTaskID(app, "t")
	var wins atomic.Int64
	var wg sync.WaitGroup
	for range racers {
		wg.Go(func() {
			for n := range steps {
				at := noon.Add(time.Duration(n) * time.Second)
				v := b.write(ax.Change{Plan: &ax.Plan{Task: id, From: at, To: at.Add(time.Second), Prev: at}})
				if v.err != nil {
					b.Errorf("step %d: %v", n, v)
				}
				if v.applied {
					wins.Add(1)
				}
			}
		})
	}
	wg.Wait()
	equal(b, "steps won", wins.Load(), steps)
	equal(b, "next", b.task("t").NextAt, noon.Add(steps*time.Second))
}

// hosts returns three stores on the same database.
func (b *bed) hosts() []*bed {
	all := []*bed{b}
	for n := range 2 {
		all = append(all, &bed{T: b.T, options: b.options, s: OpenWith(b.T, b.options), ids: ax.NewIDs(int64(2 + n))})
	}
	return all
}

func raceClaims(b *bed) {
	const n = 300
	rows := b.insertNumbered(n, func(_ int, i *ax.Instance) { i.Status = ax.StatusDispatched })
	owners := make([]atomic.Int64, n) // how often each was claimed
	var wg sync.WaitGroup
	for h, host := range b.hosts() {
		for k, row := range rows {
			claim := move(row, ax.StatusRunning)
			claim.New.Fence++
			claim.New.Attempt = 100 + h
			wg.Add(1)
			host.s.Submit(ax.Change{Move: claim, Done: func(applied bool, err error) {
				defer wg.Done()
				if err != nil {
					b.Errorf("claim %d by %d: %v", k, h, err)
				}
				if applied {
					owners[k].Add(int64(1000 + h))
				}
			}})
		}
	}
	wg.Wait()
	for k := range owners {
		sum := owners[k].Load()
		if sum/1000 != 1 {
			b.Fatalf("row %d was claimed %d times", k, sum/1000)
		}
		equal(b, "claimer in the row", int64(b.instance(rows[k].ID).Attempt-100), sum%1000)
	}
}

func raceDueTimes(b *bed) {
	const n = 200
	b.apply(Task(app, "t", noon))
	var wins [n]atomic.Int64
	var wg sync.WaitGroup
	for _, host := range b.hosts() {
		for k := range n {
			i := host.newInstance("t", time.Duration(k)*time.Second)
			wg.Add(1)
			host.s.Submit(ax.Change{
				Plan:   &ax.Plan{Task: i.TaskID, From: i.ScheduledAt, To: i.ScheduledAt.Add(time.Second), Prev: i.ScheduledAt},
				Insert: []ax.Instance{i},
				Done: func(applied bool, err error) {
					defer wg.Done()
					if err != nil {
						b.Errorf("due time %d: %v", k, err)
					}
					if applied {
						wins[k].Add(1)
					}
				},
			})
		}
	}
	wg.Wait()
	for k := range wins {
		equal(b, "instances made", wins[k].Load(), 1)
	}
	left, err := b.s.Instances(b.Context(), ax.InstanceFilter{Limit: 2 * n})
	b.must(err)
	equal(b, "rows", len(left), n)
}
