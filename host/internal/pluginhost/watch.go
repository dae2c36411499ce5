package pluginhost

import (
	"context"
	"os"
	"sync"
	"time"

	"github.com/fsnotify/fsnotify"
	"github.com/hashicorp/go-hclog"
)

// scan looks at the directory once and does what it says. pending tells that a
// file is still being written.
func (h *Host) scan(ctx context.Context) (pending bool, err error) {
	h.scanning.Lock()
	defer h.scanning.Unlock()
	h.mu.RLock()
	running := h.state == hostRunning
	h.mu.RUnlock()
	if !running {
		return false, errNotRunning
	}
	decisions, pending, err := h.catalog.scan(ctx)
	if err != nil {
		return pending, err
	}
	h.apply(decisions)
	return pending, nil
}

// apply carries decisions out, all at the same time, since putting a program in
// force may take as long as a start.
func (h *Host) apply(decisions []decision) {
	var wg sync.WaitGroup
	for _, d := range decisions {
		p := h.plugin(d.plugin)
		wg.Go(func() { p.decide(d) })
	}
	wg.Wait()
}

// plugin returns the supervisor of a plugin and makes it if there is none.
func (h *Host) plugin(name string) *plugin {
	h.mu.Lock()
	defer h.mu.Unlock()
	p := h.plugins[name]
	if p == nil {
		p = newPlugin(name, h.cfg.Policies[name], h.starter, h.log, h.changed)
		h.plugins[name] = p
	}
	return p
}

// retry makes the files of a plugin that were refused be examined again.
func (c *catalog) retry(name string) {
	for _, f := range c.files {
		if f.label.plugin == name {
			f.retry = rejection{}
		}
	}
}

// debounce gathers the events of one change, such as a copy.
const debounce = 100 * time.Millisecond

// newWatcher begins to gather events of the plugin directory; nil if the system
// offers none.
func (h *Host) newWatcher() *fsnotify.Watcher {
	watcher, err := fsnotify.NewWatcher()
	if err != nil {
		h.log.Warn("plugin directory is only polled", "error", err)
		return nil
	}
	_ = watcher.Add(h.cfg.Dir) // fails while it is missing; watch tries again
	return watcher
}

// watch scans after events in the directory, soon again while files are being
// written, and from time to time in any case: events do not come from all file
// systems, nor while the directory is missing.
func (h *Host) watch(ctx context.Context, watcher *fsnotify.Watcher) {
	events, errs := make(<-chan fsnotify.Event), make(<-chan error)
	if watcher != nil {
		defer watcher.Close()
		events, errs = watcher.Events, watcher.Errors
	}
	ticker := time.NewTicker(h.limits.rescan)
	defer ticker.Stop()
	var soon <-chan time.Time
	for {
		select {
		case <-ctx.Done():
			return
		case <-events:
			if soon == nil {
				soon = time.After(debounce)
			}
			continue
		case err := <-errs: // events were lost
			h.log.Debug("watching the plugin directory", "error", err)
		case <-soon:
		case <-ticker.C:
		}
		soon = nil
		if watcher != nil {
			_ = watcher.Add(h.cfg.Dir) // it may have been made anew
		}
		pending, err := h.scan(ctx)
		if err != nil && ctx.Err() == nil {
			h.log.Error("plugin directory could not be looked at", "error", err)
		}
		if pending {
			soon = time.After(h.limits.settle)
		}
	}
}

// warnOpenDir tells of a plugin directory in which others than its owner may
// put files. Only files of trusted owners are run from there, but others may
// still take plugins away.
func warnOpenDir(dir string, log hclog.Logger) {
	info, err := os.Stat(dir)
	if err == nil && info.Mode().Perm()&0o022 != 0 {
		log.Warn("others than its owner may write the plugin directory, and so take plugins away; chmod go-w it", "dir", dir, "mode", info.Mode().Perm())
	}
}
