package pluginapi

import (
	"encoding/json"
	"fmt"
	"slices"
)

// TriggerOf makes a Trigger component. C is a struct whose json, ax and doc
// tags describe the settings (see [SchemaOf]); build is called once per use of
// the component in the configuration, and its error is shown there. It should
// only check and keep the settings: what may fail for a while, such as reaching
// a server, belongs in the component's methods. If the component is an
// [io.Closer], it is closed once the configuration no longer uses it.
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
	c := Component{Kind: kind, Name: name, Description: description}
	settings, err := settingsShape[C]()
	if err == nil {
		c.Schema, err = settings.render()
	}
	if err != nil {
		c.fault = fmt.Errorf("%s %q: derive the schema of its settings: %w", kind, name, err)
	}
	c.Build = func(raw json.RawMessage, env Env) (any, error) {
		if c.fault != nil {
			return nil, c.fault
		}
		cfg, err := decodeSettings[C](settings, raw)
		if err != nil {
			return nil, err
		}
		return build(cfg, env)
	}
	return c
}

// Check reports what is wrong with a component: its kind, its name, its
// description, or settings of a type that cannot be described.
func (c Component) Check() error {
	switch {
	case c.fault != nil:
		return c.fault
	case !slices.Contains(Kinds(), c.Kind):
		return fmt.Errorf("component %q: unknown kind %q", c.Name, c.Kind)
	case !nameForm.MatchString(c.Name):
		return fmt.Errorf("%s %q: %s", c.Kind, c.Name, nameRule)
	case c.Description == "":
		return fmt.Errorf("%s %q: the description is empty", c.Kind, c.Name)
	case c.Build == nil:
		return fmt.Errorf("%s %q: Build is nil", c.Kind, c.Name)
	case !json.Valid(c.Schema):
		return fmt.Errorf("%s %q: Schema is not JSON", c.Kind, c.Name)
	}
	return nil
}
