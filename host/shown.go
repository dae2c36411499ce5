package host

import (
	"bytes"
	"encoding/json"

	"github.com/axsched/ax/host/internal/ax"
	"github.com/axsched/ax/host/internal/redact"
	"github.com/axsched/ax/host/internal/secrets"
	"github.com/axsched/ax/pluginapi"
)

// showing takes out of schedules what must not be shown, for one request.
type showing struct {
	catalog  catalog
	redactor *redact.Redactor
	// secret holds the names of settings that a trigger keeps secret, by trigger;
	// nil for a trigger that is not there.
	secret map[string]map[string]bool
}

func newShowing(c catalog, r *redact.Redactor) *showing {
	return &showing{catalog: c, redactor: r, secret: map[string]map[string]bool{}}
}

// schedule returns a schedule as it may be shown: of its trigger without the
// values that came from ${…}, and without those that the plugin keeps secret. Of
// a plugin that is not there nobody knows which those are, so none are left.
func (s *showing) schedule(from ax.Schedule) ax.Schedule {
	if from.Trigger == nil {
		return from
	}
	secret, known := s.secret[from.Trigger.Name]
	if !known {
		if schema, err := s.catalog.Lookup(pluginapi.KindTrigger, from.Trigger.Name); err == nil {
			secret = secretSettings(schema)
		}
		s.secret[from.Trigger.Name] = secret
	}
	use := ax.Use{Name: from.Trigger.Name}
	var settings map[string]json.RawMessage
	if secret != nil && json.Unmarshal(s.redactor.Bytes(from.Trigger.With), &settings) == nil {
		for name := range settings {
			if secret[name] {
				settings[name] = json.RawMessage(`"[secret]"`)
			}
		}
		use.With, _ = json.Marshal(settings) // what was decoded can be encoded
	}
	from.Trigger = &use
	return from
}

// task returns a definition as it may be shown: of the settings without the values
// that came from ${…}, and without those that plugins keep secret. Of a component
// that is not there nobody knows which those are, so all of its texts are hidden,
// unless people have made the task: it names its secrets.
func (s *showing) task(task ax.Task) ax.Task {
	hide := secrets.Hide
	if task.Source == ax.SourceConsole {
		hide = secrets.HideMade
	}
	task = withoutSecrets(s.redactor, task)
	settings := func(kind pluginapi.Kind, use ax.Use) json.RawMessage {
		if len(use.With) == 0 {
			return use.With
		}
		schema, err := s.catalog.Lookup(kind, use.Name)
		return hide(schema, use.With, err == nil)
	}
	task.Job.With = settings(pluginapi.KindJob, task.Job)
	for kind, use := range map[pluginapi.Kind]**ax.Use{pluginapi.KindParams: &task.ParamsFrom, pluginapi.KindTrigger: &task.Schedule.Trigger} {
		if *use != nil {
			*use = &ax.Use{Name: (*use).Name, With: settings(kind, **use)}
		}
	}
	return task
}

// secretSettings returns which settings of a component hold a secret anywhere, by
// its schema; nil if that cannot be read.
func secretSettings(text json.RawMessage) map[string]bool {
	var schema struct{ Properties map[string]json.RawMessage }
	if len(text) > 0 && json.Unmarshal(text, &schema) != nil {
		return nil
	}
	secret := map[string]bool{}
	for name, property := range schema.Properties {
		// A reference leads to where this cannot be seen.
		secret[name] = bytes.Contains(property, []byte("writeOnly")) || bytes.Contains(property, []byte("$ref"))
	}
	return secret
}
