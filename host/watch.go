package host

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/fsnotify/fsnotify"

	"github.com/axsched/ax/host/internal/config"
)

// settle is the time between two looks at the files of the configuration, which
// must find them alike before they are read: editors write in several steps.
const settle = 300 * time.Millisecond

// watchConfig reloads when a file of the configuration changes.
func (h *Host) watchConfig() error {
	w, err := fsnotify.NewWatcher()
	if err != nil {
		return err
	}
	watched := map[string]bool{}
	h.watchDirs(w, watched)
	h.loops.Go(func() {
		defer w.Close()
		look := time.After(settle) // at what changed before the watch began
		var before string          // what the last look found
		for {
			select {
			case <-w.Events:
				// Other files in these folders may be written all the time: an event
				// only says that it is time for a look.
			case err := <-w.Errors: // events were lost
				h.log.Warn("watching the configuration", "error", err)
			case <-look:
				look = nil
				now := filesOf(h.live.Load().cfg)
				if now == h.read {
					continue
				}
				if now == before {
					h.reloadChanged()
					h.watchDirs(w, watched)
					h.read = now
				}
				before = now
			case <-h.quit:
				return
			}
			if look == nil {
				look = time.After(settle)
			}
		}
	})
	return nil
}

// filesOf describes the files of a configuration, also those that an include
// would find by now, so that a change of content and a new file make a
// difference.
func filesOf(cfg *config.Config) string {
	var b strings.Builder
	for _, path := range cfg.Files {
		if info, err := os.Stat(path); err == nil {
			fmt.Fprintln(&b, path, info.Size(), info.ModTime().UnixNano())
		}
	}
	for _, pattern := range cfg.Includes {
		found, _ := filepath.Glob(pattern) // loaded with it, so it is well-formed
		fmt.Fprintln(&b, found)
	}
	return b.String()
}

func (h *Host) watchDirs(w *fsnotify.Watcher, watched map[string]bool) {
	for _, dir := range h.live.Load().cfg.Dirs {
		if watched[dir] {
			continue
		}
		if err := w.Add(dir); err != nil {
			h.log.Debug("cannot watch a folder of the configuration yet", "dir", dir, "error", err)
			continue
		}
		watched[dir] = true
	}
}

// reloadChanged reloads if the contents differ from what is in force.
func (h *Host) reloadChanged() {
	h.reload.Lock()
	defer h.reload.Unlock()
	if h.live.Load().cfg.IsCurrent() { // somebody was quicker, or it was only touched
		h.reread(nil)
		return
	}
	cfg, err := h.loadAgain()
	if err == nil {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		_, err = h.putInForce(ctx, cfg, "file change")
	}
	h.reread(err)
	if err != nil {
		h.log.Error("the changed configuration is not put in force, the one before goes on", "error", err)
	}
}
