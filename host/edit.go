package host

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/axsched/ax/host/internal/api"
	"github.com/axsched/ax/host/internal/ax"
	"github.com/axsched/ax/host/internal/engine"
	"github.com/axsched/ax/host/internal/store"
	"github.com/axsched/ax/pluginapi"
)

// CreateTask implements api.DefinitionBackend.
func (b backend) CreateTask(ctx context.Context, text []byte, actor string) (api.Definition, error) {
	w, unlock, err := b.lockFor(ctx, text, "")
	if err != nil {
		return api.Definition{}, err
	}
	defer unlock()
	name := w.Task.Name
	row, err := b.h.store.Task(ctx, w.Task.App, name) // another host may have made it
	switch {
	case err == nil:
		return api.Definition{}, &api.Conflict{Reason: inUse(name, row.Source)}
	case !errors.Is(err, ax.ErrNotFound):
		return api.Definition{}, err
	}
	err = b.h.redefine(ctx, redefinition{task: &w.Task, name: name, actor: actor})
	if errors.Is(err, ax.ErrRevised) {
		return api.Definition{}, &api.Conflict{Reason: fmt.Sprintf("there is a task %q already, made just now", name)}
	}
	return b.defined(ctx, w, actor, "made", err)
}

// ReplaceTask implements api.DefinitionBackend.
func (b backend) ReplaceTask(ctx context.Context, name string, text []byte, e api.Edit) (api.Definition, error) {
	old, err := b.editable(ctx, name, e.Version)
	if err != nil {
		return api.Definition{}, err
	}
	w, unlock, err := b.lockFor(ctx, text, name)
	if err != nil {
		return api.Definition{}, err
	}
	defer unlock()
	if e.Version == 0 {
		old = *w.old
	}
	err = b.h.redefine(ctx, redefinition{task: &w.Task, name: name, revision: old.Revision, actor: e.Actor})
	if err != nil {
		err = b.overtaken(ctx, name, old.Revision, err)
	}
	return b.defined(ctx, w, e.Actor, "changed", err)
}

// DeleteTask implements api.DefinitionBackend.
func (b backend) DeleteTask(ctx context.Context, name string, e api.Edit) error {
	old, err := b.editable(ctx, name, e.Version)
	if err != nil {
		return err
	}
	b.h.reload.Lock()
	defer b.h.reload.Unlock()
	if err := b.h.redefine(ctx, redefinition{name: name, revision: old.Revision, actor: e.Actor}); err != nil {
		return b.overtaken(ctx, name, old.Revision, err)
	}
	b.h.log.Info("task deleted", "task", name, "by", e.Actor)
	return nil
}

// editable returns the row of a task that who asks may change, if it has the
// version that was seen; 0 stands for any.
func (b backend) editable(ctx context.Context, name string, seen int64) (ax.TaskRow, error) {
	row, err := b.row(ctx, name)
	switch {
	case err != nil:
		return row, err
	case row.Source != ax.SourceConsole:
		return row, &api.Conflict{Reason: fmt.Sprintf("task %q is defined in %s: change it there, and reload", name, row.Source)}
	case seen != 0 && seen != row.Revision:
		return row, stale(row, seen)
	}
	return row, b.h.mayDefine(ctx, &row.Task)
}

func stale(row ax.TaskRow, seen int64) error {
	return &api.Stale{Task: row.Name, Asked: seen, Present: row.Revision, By: row.UpdatedBy, At: row.UpdatedAt}
}

// overtaken tells of an edit that another one came before while it was under way.
func (b backend) overtaken(ctx context.Context, name string, seen int64, err error) error {
	if !errors.Is(err, ax.ErrRevised) {
		return err
	}
	row, err := b.row(ctx, name)
	if err != nil {
		return err
	}
	return stale(row, seen)
}

// lockFor reads a definition that is good, and holds off reloads until unlock is
// called. Plugins look at it before: they may take their time.
func (b backend) lockFor(ctx context.Context, text []byte, replaces string) (w *written, unlock func(), err error) {
	cfg := b.h.live.Load().cfg
	w, err = b.read(ctx, text, replaces)
	if err != nil {
		return nil, nil, err
	}
	if err := b.h.mayDefine(ctx, &w.Task); err != nil {
		return nil, nil, err
	}
	b.validate(ctx, w)
	b.h.reload.Lock()
	if err = b.refused(w.Faults); err == nil && b.h.live.Load().cfg.Hash != cfg.Hash {
		if w, err = b.read(ctx, text, replaces); err == nil { // by the configuration that came meanwhile
			err = b.refused(w.Faults)
		}
	}
	if err != nil {
		b.h.reload.Unlock()
		return nil, nil, err
	}
	markOff(&w.Task)
	return w, b.h.reload.Unlock, nil
}

// defined answers to a change of a definition.
func (b backend) defined(ctx context.Context, w *written, actor, what string, err error) (api.Definition, error) {
	if err != nil {
		return api.Definition{}, err
	}
	b.h.log.Info("task "+what, "task", w.Task.Name, "by", actor)
	d, err := b.Definition(ctx, w.Task.Name)
	d.Warnings = b.faults(append(slices.Clone(w.missing), w.Warnings...))
	return d, err
}

// Components implements api.DefinitionBackend.
func (b backend) Components(context.Context) ([]api.ComponentSchema, error) {
	list := []api.ComponentSchema{{
		Kind: string(pluginapi.KindNotifier), Name: logNotifier, Description: "Writes messages to the log of the host", Schema: logNotifierSchema,
	}}
	for _, c := range b.h.plugins.Components() {
		list = append(list, api.ComponentSchema{
			Kind: string(c.Kind), Name: c.Name, Plugin: c.Plugin, Description: c.Description, Schema: c.Schema,
		})
	}
	return list, nil
}

// AuditTrail implements api.Backend.
func (b backend) AuditTrail(ctx context.Context, f ax.AuditFilter) ([]ax.AuditRow, error) {
	f.App = b.h.live.Load().cfg.App
	return b.h.store.AuditTrail(ctx, f)
}

// runOnce starts a task for a request that may arrive several times: the first one
// starts it, the others get the same instance.
func (b backend) runOnce(ctx context.Context, m engine.Manual, o api.RunOptions) (id ax.InstanceID, repeated bool, err error) {
	app, now := b.h.live.Load().cfg.App, b.h.now()
	m.Request = &ax.Request{App: app, Key: o.Key, Digest: o.Digest, At: now}
	for range 2 { // the second time for what another host has done meanwhile
		first, err := b.h.store.Request(ctx, app, o.Key, now.Add(-ax.RequestsKept))
		switch {
		case err == nil && first.Digest != o.Digest:
			return 0, false, &api.Invalid{Reason: fmt.Sprintf("the key %q was used for another request", o.Key),
				Faults: []api.Fault{{Where: "header.Idempotency-Key", Message: "expected a new key, or the same task, parameters and force as before"}}}
		case err == nil:
			return first.Instance, true, nil
		case !errors.Is(err, store.ErrNotFound):
			return 0, false, err
		}
		// The first one may also be what keeps the task busy.
		id, err = b.h.fleet.runNow(ctx, m)
		if !errors.Is(err, ax.ErrRepeated) && !errors.Is(err, engine.ErrBusy) {
			break
		}
	}
	return id, false, err
}

// encodeParams returns the parameters of a run by hand, nil for none.
func encodeParams(o api.RunOptions) (json.RawMessage, error) {
	if len(o.Params) == 0 {
		return nil, nil
	}
	over, err := json.Marshal(o.Params)
	if err != nil {
		return nil, &api.Invalid{Reason: "params: " + err.Error()}
	}
	return over, nil
}
