// Package host is a running ax: it joins the engine, the plugins, the store and
// the API into one process. A program makes a Host from a configuration file,
// starts it and stops it.
package host

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/axsched/ax/host/internal/access"
	"github.com/axsched/ax/host/internal/alert"
	"github.com/axsched/ax/host/internal/api"
	"github.com/axsched/ax/host/internal/ax"
	"github.com/axsched/ax/host/internal/config"
	"github.com/axsched/ax/host/internal/engine"
	"github.com/axsched/ax/host/internal/executor"
	"github.com/axsched/ax/host/internal/janitor"
	"github.com/axsched/ax/host/internal/metrics"
	"github.com/axsched/ax/host/internal/pluginhost"
	"github.com/axsched/ax/host/internal/redact"
	"github.com/axsched/ax/host/internal/spool"
	"github.com/axsched/ax/host/internal/store"
	"github.com/axsched/ax/host/internal/traces"
)

// Options of a Host.
type Options struct {
	// Config is the path of the configuration file.
	Config  string
	Version string
	// Log receives the host's log; nil writes none. Secrets of the configuration
	// are taken out if it writes through Redactor.
	Log hclog.Logger
	// Redactor learns the secrets of the configuration; nil makes a new one.
	Redactor *redact.Redactor
}

// Host is one life of a host process. Make one with New.
type Host struct {
	opts        Options
	log         hclog.Logger
	redactor    *redact.Redactor
	incarnation string
	startedAt   time.Time
	clockOffset time.Duration // see clockOffset
	ahead       time.Duration // of this machine's clock before the database's, at the start

	store    *store.Store
	writer   *tap
	plugins  *pluginhost.Host
	engine   *engine.Engine
	executor *executor.Executor
	fleet    *fleet
	spool    *spool.Spool
	janitor  *janitor.Janitor
	data     *dataWatch
	metrics  *metrics.Metrics
	listen   *listeners
	alerts   *alert.Manager
	traces   *traces.Traces // nil without a collector
	// alertSettings are those in force.
	alertSettings atomic.Pointer[alert.Settings]
	runs          runLog
	guard         *access.Guard // nil without an API
	server        *http.Server
	listener      net.Listener
	ids           *ax.IDs

	live     atomic.Pointer[live]
	ready    atomic.Pointer[readiness]
	inForce  atomic.Pointer[string] // see configHash
	draining atomic.Bool
	changed  chan struct{} // the set or the state of plugins may have changed
	quit     chan struct{} // closed by Stop
	loops    sync.WaitGroup
	reload   sync.Mutex // one reload at a time
	read     string     // the files as they were when they were read, see filesOf
	refused  atomic.Pointer[refusal]
	gate     gate // who may define tasks, nil: everybody who reaches the host

	stopOnce sync.Once
	cleanup  []func() // what Start has done, to be undone in reverse
}

// New loads the configuration, and starts nothing. The error is config.Faults
// if the configuration is wrong.
func New(opts Options) (*Host, error) {
	if opts.Log == nil {
		opts.Log = hclog.NewNullLogger()
	}
	if opts.Redactor == nil {
		opts.Redactor = &redact.Redactor{}
	}
	h := &Host{
		opts: opts, log: opts.Log, redactor: opts.Redactor,
		incarnation: ax.NewTraceID(),
		changed:     make(chan struct{}, 1), quit: make(chan struct{}),
	}
	var err error
	if h.clockOffset, err = clockOffset(os.LookupEnv); err != nil {
		return nil, err
	}
	h.runs.log = func() hclog.Logger { return h.log }
	defer thrifty()()
	cfg, err := loadConfig(opts.Config)
	if err != nil {
		return nil, err
	}
	h.redactor.Set(cfg.Secrets)
	h.live.Store(&live{cfg: cfg})
	h.read = filesOf(cfg)
	return h, nil
}

// SetLog replaces the log before Start.
func (h *Host) SetLog(log hclog.Logger) { h.opts.Log, h.log = log, log }

// LogConfig returns what is configured about the log.
func (h *Host) LogConfig() (level, format string) {
	cfg := h.live.Load().cfg
	return cfg.Log.Level, cfg.Log.Format
}

// Address returns host:port of the API, empty if there is none. It is known
// once Start has returned.
func (h *Host) Address() string {
	if h.listener == nil {
		return ""
	}
	return h.listener.Addr().String()
}

// Start brings the host up: when it returns without an error tasks run. After
// an error nothing is left behind.
func (h *Host) Start(ctx context.Context) (err error) {
	h.startedAt = h.wall()
	defer thrifty()()
	defer func() {
		if err != nil {
			h.undo()
		}
	}()
	for _, step := range []func(context.Context) error{
		h.openListener, h.openData, h.openPlugins, h.checkComponents, h.openEngine, h.startEngine, h.startLoops,
	} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	cfg := h.live.Load().cfg
	for _, w := range cfg.Warnings {
		h.log.Warn(w.String())
	}
	h.log.Info("host started", "version", h.opts.Version, "app", cfg.App, "node", cfg.Node,
		"tasks", len(h.live.Load().entries), "api", h.Address(), "data", cfg.DataDir)
	release()
	return nil
}

func (h *Host) undo() {
	for _, undo := range slices.Backward(h.cleanup) {
		undo()
	}
	h.cleanup = nil
}

func (h *Host) onUndo(f func()) { h.cleanup = append(h.cleanup, f) }

func (h *Host) openListener(ctx context.Context) error {
	cfg := h.live.Load().cfg
	if cfg.HTTP.Listen == "" {
		return nil
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", cfg.HTTP.Listen)
	if err != nil {
		return fmt.Errorf("listen for the API: %w; is another host running? Set http.listen to a free address", err)
	}
	h.listener = listener
	h.onUndo(func() { listener.Close() })
	return nil
}

func (h *Host) openData(ctx context.Context) error {
	cfg := h.live.Load().cfg
	if err := os.MkdirAll(cfg.DataDir, 0o700); err != nil {
		return fmt.Errorf("make data_dir: %w", err)
	}
	unlock, err := lockDir(cfg.DataDir)
	if err != nil {
		return err
	}
	h.onUndo(unlock)
	h.openMetrics(cfg)
	h.store, err = store.Open(ctx, store.Options{DSN: cfg.Store.DSN, Log: h.log.Named("store"), Observe: h.databaseWorked})
	if err != nil {
		return err
	}
	h.onUndo(func() {
		if err := h.store.Close(); err != nil {
			h.log.Error("cannot close the database in good order", "error", err)
		}
	})
	migrate := h.store.Migrate
	if cfg.ConsoleOnly {
		migrate = h.onlyCheckSchema
	}
	report, err := migrate(ctx)
	if err != nil {
		return err
	}
	if len(report.Applied) > 0 {
		h.log.Info("database schema brought up to date", "from", report.From, "to", report.To)
	}
	h.writer = newTap(h.store)
	h.writer.recorded = h.metrics.DueRecorded
	return h.openIDs(ctx, cfg)
}

// openIDs makes what makes ids. Hosts that share a database need different
// numbers for that, which only a row of their own gives them: it says that the
// host is leaving, until it has come.
func (h *Host) openIDs(ctx context.Context, cfg *config.Config) error {
	if !cfg.Store.Shared() {
		h.ids = ax.NewIDs(time.Now().UnixNano())
		return nil
	}
	before := time.Now()
	at, err := h.store.Now(ctx)
	if err != nil {
		return err
	}
	h.ahead = h.wall().Add(-time.Since(before) / 2).Sub(at)
	err = h.store.RegisterNode(ctx, ax.Node{
		Incarnation: h.incarnation, Name: cfg.Node, App: cfg.App, Version: h.opts.Version,
		PID: os.Getpid(), StartedAt: h.startedAt, Draining: true,
	})
	if err != nil {
		return err
	}
	h.onUndo(func() {
		ctx, cancel := context.WithTimeout(context.Background(), stopLast)
		defer cancel()
		if err := h.store.RemoveNode(ctx, h.incarnation); err != nil {
			h.log.Warn("cannot remove the row of this host", "error", err)
		}
	})
	slot, err := h.store.TakeSlot(ctx, h.incarnation)
	if err != nil {
		return err
	}
	h.ids = ax.NewIDs(int64(slot))
	return nil
}

func (h *Host) openPlugins(ctx context.Context) error {
	cfg := h.live.Load().cfg
	runDir, err := runDir(cfg.DataDir)
	if err != nil {
		return err
	}
	h.plugins, err = pluginhost.New(pluginhost.Config{
		Dir: cfg.Plugins.Dir, RunDir: runDir, App: cfg.App, Node: cfg.Node,
		Log: h.log.Named("plugin"), Policies: policies(cfg), OnChange: h.pluginsChanged,
	})
	if err != nil {
		return err
	}
	if err := h.plugins.Start(ctx); err != nil {
		return fmt.Errorf("start plugins: %w", err)
	}
	h.onUndo(func() {
		ctx, cancel := context.WithTimeout(context.Background(), stopPlugins)
		defer cancel()
		h.plugins.Stop(ctx)
	})
	return nil
}

// policies returns what the configuration says about plugins, by their names.
func policies(cfg *config.Config) map[string]pluginhost.Policy {
	all := make(map[string]pluginhost.Policy, len(cfg.Plugins.Policies))
	for name, p := range cfg.Plugins.Policies {
		all[name] = pluginhost.Policy{
			StartTimeout: p.StartTimeout, CallTimeout: p.CallTimeout, DrainTimeout: p.DrainTimeout,
			MaxInflight: p.MaxInflight, Env: p.Env, Args: p.Args, SHA256: p.SHA256, Disabled: p.Disabled,
		}
	}
	return all
}

// runDir returns a directory for sockets whose path is short enough for them.
func runDir(dataDir string) (string, error) {
	abs, err := filepath.Abs(dataDir)
	if err != nil {
		return "", fmt.Errorf("find data_dir: %w", err)
	}
	const longest = 64 // what a socket's 107 bytes leave for the directory
	if dir := filepath.Join(abs, "run"); len(dir) <= longest {
		return dir, nil
	}
	return filepath.Join(os.TempDir(), fmt.Sprintf("ax-%d-%x", os.Getuid(), ax.NewTaskID("run", abs))), nil
}

// checkComponents refuses settings that a plugin does not take. A component
// that is missing may come later: its tasks are parked until then.
func (h *Host) checkComponents(context.Context) error {
	warnings, err := splitFaults(h.live.Load().cfg.CheckComponents(h.catalog()))
	for _, w := range warnings {
		h.log.Warn(w)
	}
	return err
}

func (h *Host) openEngine(ctx context.Context) error {
	cfg := h.live.Load().cfg
	h.listen = newListeners(h, h.log.Named("listener"))
	h.onUndo(h.listen.stop)
	h.openAlerts()
	if err := h.openTraces(cfg.Traces); err != nil {
		return err
	}
	if err := h.openSpool(ctx, cfg); err != nil {
		return err
	}
	var err error
	if h.data, err = newDataWatch(cfg, h.store.Files()); err != nil {
		return err
	}
	h.executor = executor.New(executor.Config{
		App: cfg.App, Node: cfg.Node, Incarnation: h.incarnation,
		Workers: cfg.Executor.Workers, Queue: cfg.Executor.Queue,
		Writer: h.writer, Jobs: jobs{h}, IDs: h.ids, Log: h.log.Named("executor"),
		CallbackURL: h.callbackURL,
		Freed:       h.freed,
		Ended:       h.ended,
		Returned:    h.returned,
		Observe:     h.observe,
		Now:         h.now,
		Fenced:      h.fenced,
		Keep:        h.keeper(),
	})
	if err := h.openFleet(cfg); err != nil {
		return err
	}
	h.engine = engine.New(engine.Config{
		App: cfg.App, Node: cfg.Node, Log: h.log.Named("engine"), IDs: h.ids,
		Writer: h.writer, Plans: plans{h.store, cfg.App},
		Dispatch: h.fleet.dispatch, Observe: h.observe,
		Now: h.now, Elsewhere: h.fleet.elsewhere,
	})
	return nil
}

// callbackURL is where a job that answers later sends its outcome; empty if
// there is no API.
func (h *Host) callbackURL(id ax.InstanceID, token string) string {
	if h.listener == nil {
		return ""
	}
	base := cmp.Or(h.live.Load().cfg.HTTP.PublicURL, h.live.Load().cfg.HTTP.Scheme()+"://"+h.Address())
	return fmt.Sprintf("%s%s/callbacks/%s/%s", base, api.Base, id, token)
}
