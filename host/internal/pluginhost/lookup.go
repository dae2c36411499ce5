package pluginhost

import (
	"slices"
	"strings"
	"time"

	"github.com/axsched/ax/host/internal/spelling"
	"github.com/axsched/ax/pluginapi"
)

// Lookup finds a component by kind and by "name" or "plugin/name". It fails
// with *NotFoundError, *AmbiguousError, or *UnavailableError if the plugin that
// was named is there but refused.
func (h *Host) Lookup(kind pluginapi.Kind, use string) (Component, error) {
	_, c, err := h.find(kind, use)
	return c, err
}

// Components lists all components in service, by plugin and in its own order.
func (h *Host) Components() []Component {
	var list []Component
	for _, s := range h.Plugins() {
		list = append(list, s.Components...)
	}
	return list
}

func (h *Host) find(kind pluginapi.Kind, use string) (*plugin, Component, error) {
	wanted, name, qualified := strings.Cut(use, "/")
	if !qualified {
		name = use
	}
	h.mu.RLock()
	plugins := h.all()
	h.mu.RUnlock()
	var found []Component
	var owner *plugin
	for _, p := range plugins {
		if qualified && p.name != wanted {
			continue
		}
		offers, refusal := p.offers()
		if qualified && offers == nil && refusal != "" {
			return nil, Component{}, p.unavailable("its file was refused: "+refusal, nil)
		}
		for _, c := range offers {
			if c.Kind == kind && c.Name == name {
				found, owner = append(found, c), p
			}
		}
	}
	switch len(found) {
	case 1:
		return owner, found[0], nil
	case 0:
		return nil, Component{}, &NotFoundError{Kind: kind, Use: use, Suggestion: suggest(kind, use, plugins)}
	}
	candidates := make([]string, 0, len(found))
	for _, c := range found {
		candidates = append(candidates, c.FullName())
	}
	slices.Sort(candidates)
	return nil, Component{}, &AmbiguousError{Kind: kind, Use: use, Candidates: candidates}
}

// offers returns the components in service, and why the newest file is not.
func (p *plugin) offers() ([]Component, string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.prog == nil {
		return nil, p.refusal
	}
	return p.prog.offers, p.refusal
}

// suggest returns the component of the kind that is probably meant, or "".
func suggest(kind pluginapi.Kind, use string, plugins []*plugin) string {
	var names []string
	for _, p := range plugins {
		offers, _ := p.offers()
		for _, c := range offers {
			if c.Kind == kind {
				names = append(names, c.Name, c.FullName())
			}
		}
	}
	return spelling.Nearest(use, names)
}

// State is the state of a plugin.
type State string

// States of a plugin.
const (
	StateDiscovered  State = "discovered"  // good, and started when first needed
	StateStarting    State = "starting"    //
	StateReady       State = "ready"       // a process takes calls
	StateBackoff     State = "backoff"     // it crashed and waits to be started again
	StateQuarantined State = "quarantined" // it crashed too often; see Host.Reset
	StateDraining    State = "draining"    // its file is gone, runs are in flight
	StateRefused     State = "refused"     // its file is not good
	StateGone        State = "gone"        // its file was removed
)

// PluginStatus is what is known of a plugin.
type PluginStatus struct {
	Name        string
	Version     string // in service
	Description string
	Path        string
	SHA256      string
	State       State
	// Reason explains the state. Besides, it tells of a newer file that is not
	// good while an older program stays in service.
	Reason     string
	PID        int // of the process that takes new calls, or 0
	StartedAt  time.Time
	Restarts   int // unwanted ends of processes so far
	InFlight   int // calls and runs, in all processes
	Components []Component
}

// Plugins returns the status of all plugins that were ever seen, by name.
func (h *Host) Plugins() []PluginStatus {
	h.mu.RLock()
	plugins := h.all()
	h.mu.RUnlock()
	list := make([]PluginStatus, 0, len(plugins))
	for _, p := range plugins {
		list = append(list, p.status(time.Now()))
	}
	return list
}

func (p *plugin) status(now time.Time) PluginStatus {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := PluginStatus{Name: p.name, Reason: p.refusal, Restarts: p.restarts}
	if p.prog != nil {
		s.Version, s.Description = p.prog.manifest.Version, p.prog.manifest.Description
		s.Path, s.SHA256, s.Components = p.prog.path, p.prog.sum, p.prog.offers
	}
	for proc := range p.old {
		s.InFlight += proc.calls()
	}
	if p.cur != nil {
		s.InFlight += p.cur.calls()
		s.PID, s.StartedAt = p.cur.child.pid, p.cur.started
	}
	s.State = p.currentState(now)
	if s.Reason == "" && (s.State == StateBackoff || s.State == StateQuarantined) {
		s.Reason = p.breaker.reason
	}
	return s
}

// currentState is derived, never stored; the lock is held.
func (p *plugin) currentState(now time.Time) State {
	switch {
	case p.prog == nil && len(p.old) > 0:
		return StateDraining
	case p.prog == nil && p.refusal != "":
		return StateRefused
	case p.prog == nil:
		return StateGone
	case p.breaker.quarantined:
		return StateQuarantined
	case p.cur != nil:
		return StateReady
	case p.starting != nil:
		return StateStarting
	case p.breaker.wait(now) > 0:
		return StateBackoff
	}
	return StateDiscovered
}

func (p *process) calls() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.inflight
}
