package pluginhost

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/axsched/ax/pluginapi/wire"
)

// catalog knows the files of the plugin directory: which are plugins, what
// they offer, and which one of several files for one plugin counts. Its methods
// are called by one goroutine at a time.
type catalog struct {
	dir       string
	describer *describer
	limits    limits
	policy    func(plugin string) Policy
	log       hclog.Logger

	files   map[string]*pluginFile // by name
	ignored map[string]string      // reason by name, so that each is logged once

	mu        sync.Mutex
	described map[string]wire.Manifest // by file name and checksum
}

// pluginFile is what is known of one file whose name is that of a plugin.
type pluginFile struct {
	path    string
	label   fileLabel
	stamp   stamp
	since   time.Time // when the stamp was first seen
	settled bool
	prog    *program // nil: not good
	problem string   // why not
	retry   rejection
}

// decision is what the directory says about one plugin: its files are gone, or
// prog is to be in force, or neither, and then all stays as it is. problem says
// why a file of the plugin is not used.
type decision struct {
	plugin  string
	prog    *program
	problem string
	gone    bool
}

func newCatalog(dir string, d *describer, policy func(string) Policy, log hclog.Logger) *catalog {
	return &catalog{
		dir: dir, describer: d, limits: d.limits, policy: policy, log: log,
		files: make(map[string]*pluginFile), ignored: make(map[string]string),
		described: make(map[string]wire.Manifest),
	}
}

// scan looks at the directory once. pending tells that files are still being
// written, so that it should be scanned again soon.
func (c *catalog) scan(ctx context.Context) (decisions []decision, pending bool, err error) {
	entries, err := os.ReadDir(c.dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, false, fmt.Errorf("read plugin directory: %w", err)
	}
	before := c.plugins()
	seen := make(map[string]bool)
	var wg sync.WaitGroup
	room := make(chan struct{}, 4) // describes at a time
	now := time.Now()
	for _, entry := range entries {
		f := c.look(entry.Name(), now)
		if f == nil {
			continue
		}
		seen[entry.Name()] = true
		if !f.settled {
			pending = true
			continue
		}
		if f.prog != nil || (f.problem != "" && now.Before(f.retry.until)) {
			continue
		}
		wg.Go(func() {
			room <- struct{}{}
			defer func() { <-room }()
			c.examine(ctx, f, now)
		})
	}
	wg.Wait()
	c.forget(seen)
	return c.decide(before), pending, context.Cause(ctx)
}

// look returns the state of a file with a plugin's name, or nil if it is
// something else. A file whose stamp changed counts as new.
func (c *catalog) look(name string, now time.Time) *pluginFile {
	label, err := parseFileName(name)
	if err != nil {
		if c.ignored[name] == "" {
			c.ignored[name] = err.Error()
			c.log.Info("file in the plugin directory is ignored", "file", name, "reason", err)
		}
		return nil
	}
	path := filepath.Join(c.dir, name)
	info, err := os.Lstat(path)
	if err != nil {
		return nil // gone meanwhile
	}
	f := c.files[name]
	if mark := stampOf(info); f == nil || f.stamp != mark {
		if f != nil && f.prog != nil {
			f.prog.release()
		}
		f = &pluginFile{path: path, label: label, stamp: mark, since: now}
		c.files[name] = f
	}
	// A file that was last touched long ago needs no second look.
	f.settled = f.settled || now.Sub(f.since) >= c.limits.settle ||
		now.UnixNano()-max(f.stamp.mtime, f.stamp.ctime) > int64(4*c.limits.settle)
	return f
}

// examine checks, hashes and describes a file, and notes the result in f.
func (c *catalog) examine(ctx context.Context, f *pluginFile, now time.Time) {
	prog, err := c.load(ctx, f)
	if err != nil {
		if ctx.Err() == nil {
			f.problem = err.Error()
			f.retry.note("", now)
		}
		return
	}
	f.prog, f.problem = prog, ""
}

func (c *catalog) load(ctx context.Context, f *pluginFile) (*program, error) {
	policy := c.policy(f.label.plugin)
	if policy.Disabled {
		return nil, errors.New("it is disabled by configuration")
	}
	file, mark, err := openProgram(f.path)
	if err != nil {
		return nil, err
	}
	prog := newProgram(f.path, file, mark)
	if err := c.identify(ctx, prog, policy); err != nil {
		prog.release()
		return nil, err
	}
	if err := checkLabel(f.label, prog.manifest); err != nil {
		prog.release()
		return nil, err
	}
	return prog, nil
}

// identify fills in the checksum and the manifest.
func (c *catalog) identify(ctx context.Context, prog *program, policy Policy) error {
	sum, err := sumFile(prog.file)
	if err != nil {
		return err
	}
	prog.sum = sum
	if policy.SHA256 != "" && !sameSum(sum, policy.SHA256) {
		return fmt.Errorf("its SHA-256 is %s, the configuration demands %s", sum, policy.SHA256)
	}
	key := filepath.Base(prog.path) + " " + sum // programs may look at their names
	c.mu.Lock()
	manifest, known := c.described[key]
	c.mu.Unlock()
	if !known {
		if manifest, err = c.describer.describe(ctx, prog.path, prog.file); err != nil {
			return err
		}
		c.mu.Lock()
		c.described[key] = manifest
		c.mu.Unlock()
	}
	prog.describedAs(manifest)
	return nil
}

// forget drops what is known of files that are no longer there.
func (c *catalog) forget(seen map[string]bool) {
	for name, f := range c.files {
		if !seen[name] {
			if f.prog != nil {
				f.prog.release()
			}
			delete(c.files, name)
		}
	}
}

// plugins returns the names of all plugins that have a file.
func (c *catalog) plugins() map[string]bool {
	names := make(map[string]bool)
	for _, f := range c.files {
		names[f.label.plugin] = true
	}
	return names
}

// decide chooses a program for each plugin that has files or had some before.
func (c *catalog) decide(before map[string]bool) []decision {
	byPlugin := make(map[string][]*pluginFile)
	for _, f := range c.files {
		byPlugin[f.label.plugin] = append(byPlugin[f.label.plugin], f)
	}
	var decisions []decision
	for name := range before {
		if len(byPlugin[name]) == 0 {
			decisions = append(decisions, decision{plugin: name, gone: true})
		}
	}
	for name, files := range byPlugin {
		slices.SortFunc(files, func(a, b *pluginFile) int { return strings.Compare(a.path, b.path) })
		decisions = append(decisions, choose(name, files))
	}
	slices.SortFunc(decisions, func(a, b decision) int { return strings.Compare(a.plugin, b.plugin) })
	return decisions
}

// choose takes the good file with the highest version. Two files that differ
// but claim the same version are a mistake that only a person can solve: then
// neither is taken, and what is in service stays. So it does while one of the
// files is being written.
func choose(name string, files []*pluginFile) decision {
	d := decision{plugin: name}
	var best *pluginFile
	var rival string
	for _, f := range files {
		if !f.settled {
			return decision{plugin: name}
		}
		if f.problem != "" {
			d.problem = filepath.Base(f.path) + ": " + f.problem
		}
		if f.prog == nil {
			continue
		}
		order := 1
		if best != nil {
			order = compareVersions(f.prog.manifest.Version, best.prog.manifest.Version)
		}
		switch {
		case order > 0:
			best, rival = f, ""
		case order == 0 && f.prog.sum != best.prog.sum:
			rival = filepath.Base(f.path)
		}
	}
	switch {
	case best == nil:
	case rival != "":
		d.problem = fmt.Sprintf("%s and %s both claim to be version %s; remove one of them",
			filepath.Base(best.path), rival, best.prog.manifest.Version)
	default:
		d.prog = best.prog
	}
	return d
}
