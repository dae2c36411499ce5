package ax

import "time"

// Kept says which finished instances of an app stay.
type Kept struct {
	App string
	// Since: what was made before may go. Zero keeps everything.
	Since time.Time
	// Tasks have a time of their own instead.
	Tasks []KeptTasks
}

// KeptTasks are tasks of which what was made since some time stays.
type KeptTasks struct {
	Since time.Time
	IDs   []TaskID
}

// Longer returns the tasks of which more is kept than of the rest.
func (k Kept) Longer() []KeptTasks {
	var longer []KeptTasks
	for _, t := range k.Tasks {
		if t.Since.Before(k.Since) {
			longer = append(longer, t)
		}
	}
	return longer
}

// Relaxed lets everything that goes by the day stay for so long after it may go:
// all but the tasks of which less is kept than of the rest.
func (k Kept) Relaxed(by time.Duration) Kept {
	relaxed := Kept{App: k.App, Since: k.Since, Tasks: make([]KeptTasks, len(k.Tasks))}
	if !k.Since.IsZero() {
		relaxed.Since = k.Since.Add(-by)
	}
	for i, t := range k.Tasks {
		if t.Since.Before(k.Since) {
			t.Since = t.Since.Add(-by)
		}
		relaxed.Tasks[i] = t
	}
	return relaxed
}
