package host

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/axsched/ax/host/internal/config"
	"github.com/axsched/ax/host/internal/pluginhost"
)

// refusal is a configuration that was read again and not put in force, so that
// the one before goes on.
type refusal struct {
	since time.Time // of the first refusal in a row
	fault string    // the first line of what is wrong
	more  int       // how many other faults there are
}

func (r *refusal) String() string {
	text := fmt.Sprintf("config: refused since %s: %s", r.since.Format("2006-01-02 15:04:05 -07:00"), r.fault)
	if r.more > 0 {
		text += fmt.Sprintf(" (and %d more)", r.more)
	}
	return text
}

// reread notes how another look at the configuration ended, for the health. Of
// a repair, which may leave nothing to change, it writes a line to the log.
func (h *Host) reread(err error) {
	before := h.refused.Load()
	if err == nil {
		if h.refused.Swap(nil) != nil {
			h.log.Info("the configuration is good again", "refused_since", before.since.Format(time.RFC3339))
		}
		return
	}
	r := &refusal{since: time.Now()}
	if before != nil {
		r.since = before.since
	}
	first, _, _ := strings.Cut(err.Error(), "\n")
	r.fault = h.redactor.String(first)
	if faults, ok := errors.AsType[config.Faults](err); ok {
		r.more = len(faults) - 1
	}
	h.refused.Store(r)
}

// splitFaults takes apart the faults in how a configuration uses components. What
// a plugin does not take is an error. A component that is missing may come later:
// its tasks are parked until then, which is worth one warning for all of them.
func splitFaults(faults config.Faults) (warnings []string, err error) {
	if wrong := faults.Unusable(); len(wrong) > 0 {
		return nil, wrong
	}
	var order []string
	places := map[string]config.Faults{}
	for _, f := range faults {
		if places[f.Message] == nil {
			order = append(order, f.Message)
		}
		places[f.Message] = append(places[f.Message], f)
	}
	for _, message := range order {
		same := places[message]
		text := same[0].String() + "; what needs it waits until there is one"
		if len(same) > 1 {
			text += fmt.Sprintf(" (needed in %d places)", len(same))
		}
		warnings = append(warnings, text)
	}
	return warnings, nil
}

// inFolder adds to the error about a missing component where plugins are looked
// for, unless it tells what was meant.
func (c catalog) inFolder(err error) error {
	missing, ok := errors.AsType[*pluginhost.NotFoundError](err)
	if !ok || missing.Suggestion != "" {
		return err
	}
	there := slices.ContainsFunc(c.plugins.Plugins(), func(p pluginhost.PluginStatus) bool { return p.State != pluginhost.StateGone })
	if there {
		return fmt.Errorf("%w; plugins are looked for in %s", err, c.dir)
	}
	if _, statErr := os.Stat(c.dir); errors.Is(statErr, fs.ErrNotExist) {
		return fmt.Errorf("%w; there is no plugin folder %s: make it, or set plugins.dir", err, c.dir)
	}
	return fmt.Errorf("%w; the plugin folder %s is empty", err, c.dir)
}
