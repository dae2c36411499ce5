package host

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/hashicorp/go-hclog"

	"github.com/axsched/ax/host/internal/ax"
	"github.com/axsched/ax/host/internal/config"
	"github.com/axsched/ax/host/internal/pluginhost"
	"github.com/axsched/ax/host/internal/redact"
	"github.com/axsched/ax/host/internal/store"
	"github.com/axsched/ax/host/internal/trigger"
	"github.com/axsched/ax/pluginapi"
)

// Checked is a configuration held against the plugins in its directory, without
// a running host.
type Checked struct {
	// Config is good for use only if there are no Faults.
	Config *config.Config
	// Faults are all that is wrong; a file that cannot even be read has them as
	// the error of Check.
	Faults config.Faults
	// Triggers makes the triggers that plugins offer.
	Triggers trigger.Plugins
	plugins  *pluginhost.Host
	redactor *redact.Redactor
	log      hclog.Logger
	dir      string
}

// Plugins counts the plugins that can be used, and those whose file is no good.
func (c *Checked) Plugins() (usable, refused int) {
	for _, p := range c.plugins.Plugins() {
		if p.State == pluginhost.StateRefused {
			refused++
		} else {
			usable++
		}
	}
	return usable, refused
}

// Shown returns a schedule as it may be shown, without secrets.
func (c *Checked) Shown(s ax.Schedule) ax.Schedule {
	return newShowing(catalog{c.plugins, c.Config.Plugins.Dir}, c.redactor).schedule(s)
}

// Close ends the plugins that were started.
func (c *Checked) Close() {
	ctx, cancel := context.WithTimeout(context.Background(), stopPlugins)
	defer cancel()
	c.plugins.Stop(ctx)
	os.RemoveAll(c.dir)
}

// Check reads a configuration and describes the plugins in its directory; their
// warnings go to out, without the secrets of the configuration. The caller must
// Close what it returns.
func Check(ctx context.Context, path string, out io.Writer) (*Checked, error) {
	cfg, err := loadConfig(path)
	faults, wrong := errors.AsType[config.Faults](err)
	if err != nil && (!wrong || cfg == nil || cfg.Plugins.Dir == "") {
		return nil, err
	}
	redactor := &redact.Redactor{}
	redactor.Set(cfg.Secrets)
	log := hclog.New(&hclog.LoggerOptions{Name: "ax", Level: hclog.Warn, Output: redactor.Writer(out)})
	dir, err := os.MkdirTemp("", "ax-check-")
	if err != nil {
		return nil, fmt.Errorf("make a directory for sockets: %w", err)
	}
	plugins, err := pluginhost.New(pluginhost.Config{
		Dir: cfg.Plugins.Dir, RunDir: filepath.Join(dir, "run"), App: cfg.App, Node: cfg.Node, Log: log, Policies: policies(cfg),
	})
	if err == nil {
		err = plugins.Start(ctx)
	}
	if err != nil {
		os.RemoveAll(dir)
		return nil, fmt.Errorf("look at the plugins: %w", err)
	}
	c := &Checked{Config: cfg, Triggers: triggers{plugins}, plugins: plugins, redactor: redactor, log: log, dir: dir}
	c.Faults = cfg.Sort(append(faults, cfg.CheckComponents(catalog{plugins, cfg.Plugins.Dir})...))
	return c, nil
}

// CheckSettings lets the plugins themselves look at the settings of tasks that
// the schemas find nothing wrong with: only a plugin can tell that its time of
// day is no time. It adds to Faults.
func (c *Checked) CheckSettings(ctx context.Context) {
	v := settingsCheck{c, map[settingsOf]bool{}}
	for _, f := range c.Faults {
		v.done[settingsOf{f.Task, f.Kind}] = true
	}
	for i := range c.Config.Tasks {
		task := &c.Config.Tasks[i]
		v.check(ctx, pluginapi.KindJob, task.Name, spec(task, task.Job))
		if task.ParamsFrom != nil {
			v.check(ctx, pluginapi.KindParams, task.Name, spec(task, *task.ParamsFrom))
		}
		if use := task.Schedule.Trigger; use != nil {
			v.checkTrigger(ctx, task, spec(task, *use))
		}
	}
}

// settingsCheck asks plugins about the settings of tasks, each once.
type settingsCheck struct {
	*Checked
	done map[settingsOf]bool
}

type settingsOf struct {
	task string
	kind pluginapi.Kind
}

// checkTrigger leaves a trigger out whose calendars are faulty.
func (c settingsCheck) checkTrigger(ctx context.Context, task *ax.Task, s pluginhost.Spec) {
	for _, name := range task.Schedule.Calendars {
		cal := c.Config.Calendars[name]
		if cal == nil {
			return
		}
		s.Calendars = append(s.Calendars, cal)
	}
	c.check(ctx, pluginapi.KindTrigger, task.Name, s)
}

// check asks a plugin, unless something is known to be wrong with the settings, or
// another task of the same name had its turn.
func (c settingsCheck) check(ctx context.Context, kind pluginapi.Kind, task string, s pluginhost.Spec) {
	if c.done[settingsOf{task, kind}] || s.Use == "" {
		return
	}
	c.done[settingsOf{task, kind}] = true
	if err := c.plugins.Validate(ctx, kind, s); err != nil {
		c.Faults = append(c.Faults, c.Config.ComponentFault(kind, task, errors.New(c.redactor.String(err.Error()))))
	}
}

// Migration says what a migration did, or would do.
type Migration struct {
	From, To int
	Applied  []string
}

// Migrate brings the database of a configuration up to date; dsn, if not empty,
// names another account or database.
func Migrate(ctx context.Context, path, dsn string, dryRun bool, log hclog.Logger) (Migration, error) {
	cfg, err := loadConfig(path)
	if err != nil {
		return Migration{}, err
	}
	if dsn == "" {
		dsn = cfg.Store.DSN
		if err := os.MkdirAll(cfg.DataDir, 0o700); err != nil {
			return Migration{}, fmt.Errorf("make data_dir: %w", err)
		}
	}
	s, err := store.Open(ctx, store.Options{DSN: dsn, Log: log})
	if err != nil {
		return Migration{}, err
	}
	defer s.Close()
	run := s.Migrate
	if dryRun {
		run = s.PendingMigrations
	}
	r, err := run(ctx)
	return Migration(r), err
}

// Address returns the URL of http.listen of a configuration, also of one that has
// faults elsewhere: a host goes on with what it read before them. It is empty if
// the host has no API.
func Address(path string) (string, error) {
	if _, err := os.Stat(path); err != nil {
		return "", fmt.Errorf("read configuration: %w", err)
	}
	cfg, err := loadConfig(path)
	if err != nil && (cfg == nil || cfg.HTTP.Listen == "") {
		return "", err
	}
	if cfg.HTTP.Listen == "" {
		return "", nil
	}
	return cfg.HTTP.Scheme() + "://" + cfg.HTTP.Listen, nil
}
