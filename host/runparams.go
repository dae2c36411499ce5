package host

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/axsched/ax/host/internal/api"
	"github.com/axsched/ax/host/internal/ax"
	"github.com/axsched/ax/host/internal/spelling"
)

// UnknownParams tells of parameters that neither the task has nor its job names. A
// task without any says nothing about what its job takes.
func (b backend) UnknownParams(_ context.Context, name string, params api.Object) []string {
	entry := b.h.live.Load().entries[name]
	if entry == nil || len(params) == 0 || entry.Row.ParamsFrom != nil {
		return nil
	}
	known := knownParams(&entry.Row.Task)
	if len(known) == 0 {
		return nil
	}
	var warnings []string
	for _, param := range slices.Sorted(maps.Keys(params)) {
		if slices.Contains(known, param) {
			continue
		}
		text := fmt.Sprintf("the task knows no parameter %q, its job gets it all the same; known: %s", param, strings.Join(known, ", "))
		if guess := spelling.Nearest(param, known); guess != "" {
			text = fmt.Sprintf("the task knows no parameter %q, its job gets it all the same; did you mean %q?", param, guess)
		}
		warnings = append(warnings, text)
	}
	return warnings
}

// namedParam matches how the job exec names a parameter in its command.
var namedParam = regexp.MustCompile(`\$\{params\.([^}]+)\}`)

// knownParams returns the parameters of a task, and those that its job names.
func knownParams(task *ax.Task) []string {
	own := map[string]json.RawMessage{}
	if len(task.Params) > 0 && json.Unmarshal(task.Params, &own) != nil {
		return nil // no object: refused when the configuration was loaded
	}
	for _, m := range namedParam.FindAllSubmatch(task.Job.With, -1) {
		own[string(m[1])] = nil
	}
	return slices.Sorted(maps.Keys(own))
}
