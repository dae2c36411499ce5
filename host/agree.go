package host

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/axsched/ax/host/internal/ax"
	"github.com/axsched/ax/host/internal/config"
	"github.com/axsched/ax/host/internal/engine"
	"github.com/axsched/ax/host/internal/redact"
)

// Hosts that share a database may have files that differ, for a while or by
// mistake. What is in force is in the database. A host applies its file when that
// is not what it applied last; so a host that restarts with an old file does not
// undo a newer one of another host.

const (
	// applyAction is what the audit trail calls an application of a file, whose
	// object is applyObject.
	applyAction = "config.apply"
	applyObject = "config"
	// applyLooks is how many applications are looked at for the last one of a host.
	applyLooks = 1000
)

// application is the detail of the audit row of an application.
type application struct {
	Node  string `json:"node"`
	Hash  string `json:"hash"`
	Tasks int    `json:"tasks"`
}

// agree brings the configuration and the database together at the start.
func (h *Host) agree(ctx context.Context, cfg *config.Config) (*changes, error) {
	if !cfg.Store.Shared() {
		return h.define(ctx, cfg, "config", false)
	}
	var err error
	if h.fleet.version, err = h.store.TasksVersion(ctx, cfg.App); err != nil {
		return nil, err
	}
	hash, err := h.hashOf(fileTasks(cfg))
	if err != nil {
		return nil, err
	}
	newest, own, at, err := h.applications(ctx, cfg)
	if err != nil {
		return nil, err
	}
	if own.Hash == hash && newest.Hash != hash {
		h.log.Warn("the tasks of this host's file were replaced by those of another host since they were applied: "+
			"those in the database are run; change the file, or use \"ax apply\" to put it in force again",
			"node", newest.Node, "at", at)
		return h.adopt(ctx, cfg)
	}
	c, err := h.define(ctx, cfg, "config", false)
	if err == nil && newest.Hash != hash {
		err = h.noteApplied(ctx, cfg, "config", application{Node: cfg.Node, Hash: hash, Tasks: len(cfg.Tasks)})
	}
	return c, err
}

func fileTasks(cfg *config.Config) []*ax.Task {
	tasks := make([]*ax.Task, len(cfg.Tasks))
	for i := range cfg.Tasks {
		tasks[i] = &cfg.Tasks[i]
	}
	return tasks
}

// hashOf tells sets of definitions apart, the days of their calendars included,
// wherever in the files they stand and whatever their secrets are.
func (h *Host) hashOf(tasks []*ax.Task) (string, error) {
	slices.SortFunc(tasks, func(a, b *ax.Task) int { return cmp.Compare(a.Name, b.Name) })
	sum := sha256.New()
	for _, task := range tasks {
		clean := withoutSecrets(h.redactor, *task)
		clean.Source = ""
		text, err := json.Marshal(clean)
		if err != nil {
			return "", fmt.Errorf("task %q: %w", task.Name, err)
		}
		sum.Write(append(text, '\n'))
	}
	return hex.EncodeToString(sum.Sum(nil)[:8]), nil
}

// applications returns the newest application of a file by any host, with its
// time, and the newest one by this host; empty if there was none.
func (h *Host) applications(ctx context.Context, cfg *config.Config) (newest, own application, at time.Time, err error) {
	rows, err := h.store.AuditTrail(ctx, ax.AuditFilter{App: cfg.App, Object: applyObject, Limit: applyLooks})
	if err != nil {
		return newest, own, at, err
	}
	for _, row := range rows {
		var a application
		if row.Action != applyAction || json.Unmarshal(row.Detail, &a) != nil {
			continue
		}
		if newest.Hash == "" {
			newest, at = a, row.At
		}
		if a.Node == cfg.Node {
			return newest, a, at, nil
		}
	}
	return newest, own, at, nil
}

func (h *Host) noteApplied(ctx context.Context, cfg *config.Config, actor string, a application) error {
	detail, err := json.Marshal(a)
	if err != nil {
		return fmt.Errorf("note the application of the configuration: %w", err)
	}
	return h.store.Audit(ctx, ax.AuditRow{
		At: h.now(), App: cfg.App, Actor: actor, Action: applyAction, Object: applyObject, Detail: detail,
	})
}

// noteReload notes that a person, or a changed file, has put the configuration in
// force.
func (h *Host) noteReload(ctx context.Context, cfg *config.Config, actor string) error {
	if !cfg.Store.Shared() {
		return nil
	}
	hash, err := h.hashOf(fileTasks(cfg))
	if err != nil {
		return err
	}
	return h.noteApplied(ctx, cfg, actor, application{Node: cfg.Node, Hash: hash, Tasks: len(cfg.Tasks)})
}

// adopt makes what this host runs of what is in the database.
func (h *Host) adopt(ctx context.Context, cfg *config.Config) (*changes, error) {
	rows, err := h.store.Tasks(ctx, cfg.App)
	if err != nil {
		return nil, err
	}
	own := make(map[ax.TaskID]*ax.Task, len(cfg.Tasks))
	for i := range cfg.Tasks {
		own[cfg.Tasks[i].ID] = &cfg.Tasks[i]
	}
	c := &changes{cfg: cfg, now: h.now()}
	for i := range rows {
		c.entries = append(c.entries, h.adopted(c, own[rows[i].ID], rows[i]))
	}
	return c, nil
}

// adopted makes a task ready that another host has defined. own is what this
// host's file says of it, which has the secrets that a row has not; nil for
// nothing.
func (h *Host) adopted(c *changes, own *ax.Task, row ax.TaskRow) engine.Entry {
	if own != nil && sameDefinition(withoutSecrets(h.redactor, *own), row.Task) {
		row.Task = *own
	} else if text, err := json.Marshal(row.Task); row.Source != ax.SourceConsole && err == nil && bytes.Contains(text, []byte(redact.Mark)) {
		return unable(row, errors.New("its definition holds secrets, which only the files of other hosts have: give this host the same file"))
	}
	version := row.PlanVersion
	row.PlanVersion = row.Schedule.Version // the plan is as it is: this host reads it, and makes none
	entry, err := h.entry(c, &row.Task, row)
	if err != nil {
		return unable(row, err)
	}
	entry.Row.PlanVersion = version
	return entry
}

// unable is a task that this host cannot run, for a reason.
func unable(row ax.TaskRow, why error) engine.Entry {
	return engine.Entry{Row: row, Trigger: noTimes{why}, Ready: func() error { return why }}
}

// noTimes is the trigger of a task that cannot be made.
type noTimes struct{ why error }

func (n noTimes) Next(context.Context, time.Time, time.Time, int) ([]time.Time, bool, error) {
	return nil, false, n.why
}

// adoptChanges puts definitions in force that another host has applied.
func (h *Host) adoptChanges(changed []ax.TaskRow, deleted []ax.TaskID) {
	h.reload.Lock()
	defer h.reload.Unlock()
	old := h.live.Load()
	c := &changes{cfg: old.cfg, now: h.now()}
	replaced := map[ax.TaskID]engine.Entry{}
	for _, row := range changed {
		entry := old.entries[row.Name]
		if entry == nil || !sameDefinition(h.kept(entry).Task, row.Task) {
			replaced[row.ID] = h.adopted(c, old.secrets[row.ID], row)
		}
	}
	gone := map[ax.TaskID]bool{}
	for _, id := range deleted {
		if old.byID[id] != nil {
			gone[id] = true
		}
	}
	if len(replaced)+len(gone) == 0 {
		return
	}
	h.exchange(replaced, gone)
	h.log.Info("tasks that another host has changed are in force", "changed", len(changed), "removed", len(gone))
}

// exchange puts tasks in the place of those in force, and takes others out.
func (h *Host) exchange(replaced map[ax.TaskID]engine.Entry, gone map[ax.TaskID]bool) {
	old := h.live.Load()
	entries := make([]engine.Entry, 0, len(old.entries)+len(replaced))
	for _, entry := range old.entries {
		id := entry.Row.ID
		if next, ok := replaced[id]; ok {
			entries = append(entries, next)
			delete(replaced, id)
		} else if !gone[id] {
			entries = append(entries, *entry)
		}
	}
	for _, entry := range replaced {
		entries = append(entries, entry)
	}
	h.live.Store(makeLive(old.cfg, entries, old.secrets))
	h.noteInForce()
	h.setAlertSettings()
	h.refreshReadiness()
	h.engine.Apply(entries)
}

// noteInForce computes by what other hosts see whether this one runs the same
// tasks as they do.
func (h *Host) noteInForce() {
	l := h.live.Load()
	if h.fleet.sole {
		return
	}
	tasks := make([]*ax.Task, 0, len(l.byID))
	for _, task := range l.byID {
		tasks = append(tasks, task)
	}
	if hash, err := h.hashOf(tasks); err == nil {
		h.inForce.Store(&hash)
	}
}

// configHash tells what noteInForce has found, empty before that.
func (h *Host) configHash() string {
	if hash := h.inForce.Load(); hash != nil {
		return *hash
	}
	return ""
}
