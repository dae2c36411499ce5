package host

import (
	"context"
	"errors"
	"net/http"
	"os"
	"time"

	"github.com/axsched/ax/host/internal/alert"
	"github.com/axsched/ax/host/internal/api"
	"github.com/axsched/ax/host/internal/ax"
	"github.com/axsched/ax/host/internal/config"
	"github.com/axsched/ax/host/internal/janitor"
	"github.com/axsched/ax/host/internal/params"
	"github.com/axsched/ax/host/internal/rescue"
	"github.com/axsched/ax/host/internal/trigger"
	"github.com/axsched/ax/pluginapi/calendar"
)

// loadConfig reads a configuration and checks all that can be checked without
// plugins. With an error of type config.Faults the configuration may still be
// held against the plugins, for further faults.
func loadConfig(path string) (*config.Config, error) { return loadWith(path, nil) }

// loadWith is loadConfig with contents in place of some files of holidays.
func loadWith(path string, replace map[string][]byte) (*config.Config, error) {
	node, err := os.Hostname()
	if err != nil {
		node = "localhost"
	}
	cfg, err := config.Load(path, config.Options{
		Env: os.LookupEnv, Now: time.Now(), Node: node, Replace: replace,
		CheckSchedule: func(s ax.Schedule, calendars map[string]*calendar.Calendar, task string) []config.ScheduleFault {
			var faults []config.ScheduleFault
			for _, f := range trigger.Faults(trigger.Check(s, task, calendars)) {
				faults = append(faults, config.ScheduleFault{Key: f.Field, Part: f.Part, Message: f.Message})
			}
			return faults
		},
		CheckTemplate: params.CheckString,
		CheckMessage: func(text string) error {
			_, err := alert.ParseTemplate(text)
			return err
		},
	})
	if err != nil {
		return cfg, err
	}
	for i := range cfg.Tasks {
		markOff(&cfg.Tasks[i])
	}
	return cfg, nil
}

// markOff gives the schedule of a task that is off a version of its own. A task
// that is switched on again is planned anew: what was due while it was off is not
// missed.
func markOff(task *ax.Task) {
	if !task.Enabled {
		task.Schedule.Version += "-off"
	}
}

// startEngine puts the configuration into the database, ends what an earlier
// life of the host left running, and begins to schedule.
func (h *Host) startEngine(ctx context.Context) error {
	cfg := h.live.Load().cfg
	if cfg.ConsoleOnly {
		return h.startShowing(ctx, cfg)
	}
	c, err := h.agree(ctx, cfg)
	if err != nil {
		return err
	}
	h.setLive(cfg, c.entries)
	h.refreshReadiness()
	if err := h.startAlerts(ctx); err != nil {
		return err
	}
	if err := h.fleet.start(ctx); err != nil {
		return err
	}
	left, err := rescue.Run(h.fleet.rescuer(), h.fleet.own(h.store.Unfinished(ctx, cfg.App)), h.now())
	if err != nil {
		return err
	}
	for i := range left {
		h.fleet.doubt(left[i].Owner)
	}
	h.engine.Start(c.entries, h.fleet.mine(h.fleet.view.Snapshot()), left)
	h.onUndo(func() { h.engine.Stop() })
	h.fleet.loops.Go(h.fleet.run)
	if h.spool != nil {
		h.spool.Start()
	}
	return nil
}

// startLoops starts what goes on beside the engine.
func (h *Host) startLoops(ctx context.Context) error {
	cfg := h.live.Load().cfg
	if !cfg.ConsoleOnly {
		h.startJanitor(cfg)
	}
	h.loops.Go(h.followPlugins)
	h.loops.Go(h.newCalendarWatch().run)
	h.loops.Go(h.watchData)
	if err := h.watchConfig(); err != nil {
		h.log.Warn("cannot watch the configuration; use \"ax reload\" after a change", "error", err)
	}
	return h.serve()
}

func (h *Host) startJanitor(cfg *config.Config) {
	h.janitor = janitor.New(janitor.Config{
		App: cfg.App, Store: h.store, Log: h.log.Named("janitor"),
		Kept: func(now time.Time) ax.Kept { return h.live.Load().retained(now) },
	})
	h.janitor.Start()
	h.onUndo(h.janitor.Stop)
}

// serve begins to answer the requests of people and of programs.
func (h *Host) serve() error {
	if h.listener == nil {
		return nil
	}
	if err := h.openAccess(); err != nil {
		return err
	}
	pages, err := h.newConsole()
	if err != nil {
		return err
	}
	listener, err := h.withTLS(h.listener)
	if err != nil {
		return err
	}
	h.server = api.NewServer(api.Config{Backend: h.narrowed(), Pages: pages, Log: h.log.Named("api"), Version: h.opts.Version}, h.guarded)
	go func() {
		if err := h.server.Serve(listener); err != nil && !errors.Is(err, http.ErrServerClosed) {
			h.log.Error("the API has stopped", "error", err)
		}
	}()
	h.onUndo(func() {
		ctx, cancel := context.WithTimeout(context.Background(), stopServer)
		defer cancel()
		if err := h.server.Shutdown(ctx); err != nil {
			h.server.Close()
		}
	})
	return nil
}
