package pluginapi

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// TriggerOf makes a Trigger component. C is a struct whose json, ax and doc
// tags describe the settings (see SchemaOf); build is called once per task,
// and its error is shown at the place of the settings in the configuration.
func TriggerOf[C any](name, description string, build func(settings C, env Env) (Trigger, error)) Component {
	return component(KindTrigger, name, description, build)
}

// JobOf makes a Job component; see TriggerOf for C and build.
func JobOf[C any](name, description string, build func(settings C, env Env) (Job, error)) Component {
	return component(KindJob, name, description, build)
}

// NotifierOf makes a Notifier component; see TriggerOf for C and build.
func NotifierOf[C any](name, description string, build func(settings C, env Env) (Notifier, error)) Component {
	return component(KindNotifier, name, description, build)
}

// ParamsOf makes a ParamProvider component; see TriggerOf for C and build.
func ParamsOf[C any](name, description string, build func(settings C, env Env) (ParamProvider, error)) Component {
	return component(KindParams, name, description, build)
}

// ListenerOf makes a Listener component; see TriggerOf for C and build.
func ListenerOf[C any](name, description string, build func(settings C, env Env) (Listener, error)) Component {
	return component(KindListener, name, description, build)
}

func component[C, T any](kind Kind, name, description string, build func(C, Env) (T, error)) Component {
	schema, err := SchemaOf[C]()
	return Component{
		Kind: kind, Name: name, Description: description, Schema: schema,
		Build: func(settings json.RawMessage, env Env) (any, error) {
			if err != nil {
				return nil, fmt.Errorf("derive settings schema of %s %q: %w", kind, name, err)
			}
			cfg, err := decodeSettings[C](settings)
			if err != nil {
				return nil, err
			}
			return build(cfg, env)
		},
	}
}

// decodeSettings decodes strictly over the defaults given by the ax tags.
func decodeSettings[C any](raw json.RawMessage) (C, error) {
	var cfg C
	if err := applyDefaults(&cfg); err != nil {
		return cfg, err
	}
	if len(bytes.TrimSpace(raw)) == 0 || bytes.Equal(bytes.TrimSpace(raw), []byte("null")) {
		raw = json.RawMessage("{}")
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&cfg); err != nil {
		return cfg, fmt.Errorf("decode settings: %w", err)
	}
	return cfg, checkSettings(&cfg)
}
