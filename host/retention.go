package host

import (
	"time"

	"github.com/axsched/ax/host/internal/ax"
)

// retained says which finished instances are kept as of now.
func (l *live) retained(now time.Time) ax.Kept {
	kept := ax.Kept{App: l.cfg.App}
	if l.cfg.Retention > 0 {
		kept.Since = now.Add(-l.cfg.Retention)
	}
	own := map[time.Duration][]ax.TaskID{}
	for id, task := range l.byID {
		if task.Retention > 0 && task.Retention != l.cfg.Retention {
			own[task.Retention] = append(own[task.Retention], id)
		}
	}
	for keep, ids := range own {
		kept.Tasks = append(kept.Tasks, ax.KeptTasks{Since: now.Add(-keep), IDs: ids})
	}
	return kept
}
