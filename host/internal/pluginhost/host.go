// Package pluginhost runs the plugins of a host: it finds them in a directory,
// checks and describes them, starts each one when it is first needed, watches
// over it, replaces it when its file changes, and calls its components. What
// one plugin does, be it hanging, crashing or lying, stays its own problem.
//
// A plugin file is named ax-plugin-NAME, optionally followed by _vVERSION and
// _OS_ARCH. It is a regular file with an execute bit, owned by root or the
// host's user and writable by its owner alone; everything else in the directory
// is left alone. Of several good files for one plugin the highest version
// counts; the others wait.
//
// A plugin process gets a session of its own, a small environment, a lifeline
// (file descriptor 3, which ends when the host does) and its program (4). It
// dies with the host: by the lifeline, by SIGTERM from the system, and at the
// latest at the next start of a host with the same run directory. All this is
// made for Linux.
//
// A plugin in another language that cannot do go-plugin's AutoMTLS says so by
// the feature "plain-transport" in its manifest.
package pluginhost

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"
)

// Config is what a Host needs.
type Config struct {
	// Dir holds the plugins. It may be empty ("" = no plugins) and need not
	// exist yet.
	Dir string
	// RunDir is a private directory for sockets; its path must be short, since
	// a socket's address holds 107 characters. One host at a time may use it.
	RunDir string
	// App and Node are told to the plugins.
	App, Node string
	// Log also sets the level at which plugins log; nil means no log.
	Log hclog.Logger
	// Policies by name of plugin.
	Policies map[string]Policy
	// OnChange, if set, is called after the catalog or the state of a plugin
	// changed, always from the same goroutine. It must return soon.
	OnChange func()
}

// Host runs plugins. Its methods may be called concurrently.
type Host struct {
	cfg     Config
	log     hclog.Logger
	limits  limits
	changes chan struct{}

	scanning sync.Mutex // held while the directory is looked at
	catalog  *catalog   // nil before Start

	mu       sync.RWMutex
	plugins  map[string]*plugin
	starter  *starter
	state    hostState
	run      *runDir
	endLoops context.CancelFunc
	loops    sync.WaitGroup
	stopped  chan struct{} // closed when Stop is through
}

type hostState int

const (
	hostNew hostState = iota
	hostRunning
	hostStopped
)

var errNotRunning = errors.New("the plugin host is not running")

// New checks the configuration.
func New(cfg Config) (*Host, error) {
	if err := checkRunDir(cfg.RunDir); err != nil {
		return nil, err
	}
	if cfg.Log == nil {
		cfg.Log = hclog.NewNullLogger()
	}
	return &Host{
		cfg: cfg, log: cfg.Log.Named("plugins"), limits: defaultLimits(),
		changes: make(chan struct{}, 1), plugins: make(map[string]*plugin),
		stopped: make(chan struct{}),
	}, nil
}

// Start takes the run directory, ends what an earlier host left running, and
// returns once every plugin that is there was described. From then on the
// directory is watched, until Stop. After an error the host is stopped.
func (h *Host) Start(ctx context.Context) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.state != hostNew {
		return errors.New("start plugin host: it was started before")
	}
	run, err := openRunDir(h.cfg.RunDir, h.log)
	if err != nil {
		return fmt.Errorf("start plugin host: %w", err)
	}
	h.run = run
	h.starter = &starter{
		spawner: newSpawner(), limits: h.limits, owner: run.owner, runDir: run.path,
		app: h.cfg.App, node: h.cfg.Node, log: h.log,
	}
	d := &describer{spawner: h.starter.spawner, limits: h.limits, owner: run.owner}
	h.catalog = newCatalog(h.cfg.Dir, d, func(name string) Policy { return h.cfg.Policies[name] }, h.log)
	loops, endLoops := context.WithCancel(context.Background())
	h.endLoops, h.state = endLoops, hostRunning
	h.loops.Go(func() { h.report(loops) })
	if h.cfg.Dir == "" {
		return nil
	}
	warnOpenDir(h.cfg.Dir, h.log)
	watcher := h.newWatcher() // before the first look, lest a change be missed
	h.mu.Unlock()             // the scan fills h.plugins
	if err = h.firstScan(ctx); err != nil {
		h.Stop(ctx)
	}
	h.mu.Lock()
	if h.state == hostRunning {
		h.loops.Go(func() { h.watch(loops, watcher) })
	} else if watcher != nil {
		watcher.Close()
	}
	if err != nil {
		return fmt.Errorf("start plugin host: %w", err)
	}
	return nil
}

// Stop ends all plugins: no new calls are let in, those in progress may finish
// within their plugin's DrainTimeout and ctx, then processes are asked to end,
// and killed if they do not. It returns once nothing of them is left. It may be
// called again, and without Start.
func (h *Host) Stop(ctx context.Context) {
	h.mu.Lock()
	before := h.state
	h.state = hostStopped
	plugins := h.all()
	h.mu.Unlock()
	switch before {
	case hostNew:
		close(h.stopped)
		return
	case hostStopped:
		<-h.stopped
		return
	}
	for _, p := range plugins {
		p.close()
	}
	h.endLoops()
	h.loops.Wait()
	h.scanning.Lock() // waits for the last look at the directory
	h.catalog.forget(nil)
	h.scanning.Unlock()
	h.mu.RLock()
	plugins = h.all()
	h.mu.RUnlock()
	var ending sync.WaitGroup
	for _, p := range plugins {
		ending.Go(func() {
			p.close() // it may be newer than the look above
			p.shutdown(ctx)
		})
	}
	ending.Wait()
	h.starter.spawner.close()
	h.run.close()
	close(h.stopped)
}

// Rescan looks at the plugin directory now instead of waiting for an event.
func (h *Host) Rescan(ctx context.Context) error {
	_, err := h.scan(ctx)
	return err
}

// Reset lets a plugin leave back-off and quarantine, and looks at its files
// again.
func (h *Host) Reset(name string) error {
	h.mu.RLock()
	p := h.plugins[name]
	h.mu.RUnlock()
	if p == nil {
		return fmt.Errorf("there is no plugin %q", name)
	}
	p.reset()
	h.scanning.Lock()
	if h.catalog != nil {
		h.catalog.retry(name)
	}
	h.scanning.Unlock()
	return h.Rescan(context.Background())
}

// all returns the plugins in the order of their names; the lock is held.
func (h *Host) all() []*plugin {
	list := make([]*plugin, 0, len(h.plugins))
	for _, p := range h.plugins {
		list = append(list, p)
	}
	slices.SortFunc(list, func(a, b *plugin) int { return strings.Compare(a.name, b.name) })
	return list
}

// changed makes OnChange be called soon; many changes may be one call.
func (h *Host) changed() {
	select {
	case h.changes <- struct{}{}:
	default:
	}
}

// report calls OnChange.
func (h *Host) report(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-h.changes:
			if h.cfg.OnChange != nil {
				h.cfg.OnChange()
			}
		}
	}
}

// firstScanLimit is how long Start waits for files that are being written.
const firstScanLimit = 3 * time.Second

func (h *Host) firstScan(ctx context.Context) error {
	giveUp := time.Now().Add(firstScanLimit)
	for {
		pending, err := h.scan(ctx)
		if err != nil || !pending || time.Now().After(giveUp) {
			return err
		}
		if err := sleep(ctx, h.limits.settle); err != nil {
			return err
		}
	}
}
