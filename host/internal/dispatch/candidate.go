package dispatch

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/axsched/ax/host/internal/ax"
)

// Member is a host that attempts may be given to.
type Member struct {
	Name        string
	Incarnation string
	// Labels are held against Task.Nodes.
	Labels map[string]string
	// Offers are the components that are ready there, by the names that tasks
	// use; nil means all.
	Offers []string
	// Workers is how many attempts run there at once, 0 if unknown.
	Workers int
	// Away says why it gets nothing now: it drains, has been silent too long, or
	// cannot be reached. Empty if it gets something.
	Away string
	Node Node
}

// Wish narrows the choice of a node beyond what the task says.
type Wish struct {
	// Only is the name of the only node that will do; empty for any.
	Only string
	// Prefer is the name of the node that is taken if it has room, whatever the
	// strategy says: a retry goes where the first attempt was, whose caches are
	// warm.
	Prefer string
	// Avoid are names of nodes that are taken last: they have just failed to
	// confirm.
	Avoid []string
}

// ErrNoNode says that no node can take a task at all, with or without room.
var ErrNoNode = errors.New("no node can take the task")

// obstacle says why a member cannot take a task at all; empty if it can.
func obstacle(m *Member, task *ax.Task) string {
	for _, key := range slices.Sorted(maps.Keys(task.Nodes)) {
		if got, ok := m.Labels[key]; !ok {
			return fmt.Sprintf("has no label %s", key)
		} else if want := task.Nodes[key]; got != want {
			return fmt.Sprintf("is labeled %s=%s, not %s", key, got, want)
		}
	}
	if m.Offers != nil && !slices.Contains(m.Offers, task.Job.Name) {
		return "does not offer " + task.Job.Name
	}
	return m.Away
}

// able returns the members that can take a task, with or without room.
func able(all []Member, task *ax.Task) []Member {
	fit := make([]Member, 0, len(all))
	for i := range all {
		if obstacle(&all[i], task) == "" {
			fit = append(fit, all[i])
		}
	}
	return fit
}

// explain says for each member why it cannot take a task.
func explain(all []Member, task *ax.Task) error {
	reasons := make([]string, 0, len(all))
	for i := range all {
		reasons = append(reasons, all[i].Name+" "+obstacle(&all[i], task))
	}
	return fmt.Errorf("%w: %s", ErrNoNode, strings.Join(reasons, "; "))
}
