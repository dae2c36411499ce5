package host

import (
	"encoding/json"
	"fmt"

	"github.com/axsched/ax/host/internal/ax"
	"github.com/axsched/ax/host/internal/config"
	"github.com/axsched/ax/host/internal/secrets"
	"github.com/axsched/ax/pluginapi"
)

// fill returns the settings of a component as its plugin gets them. Those of a task
// that people have made name their secrets; those of files hold them already.
func (h *Host) fill(cfg *config.Config, task *ax.Task, kind pluginapi.Kind, use ax.Use) (json.RawMessage, error) {
	if task.Source != ax.SourceConsole {
		return use.With, nil
	}
	schema, err := h.catalog().Lookup(kind, use.Name)
	with, err := secrets.Set(cfg.Named).Fill(schema, use.With, err == nil)
	if err != nil {
		return nil, fmt.Errorf("settings of %s %s: %w", kind, use.Name, err)
	}
	return with, nil
}
