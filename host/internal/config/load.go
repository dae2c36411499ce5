package config

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"gopkg.in/yaml.v3"

	"github.com/axsched/ax/host/internal/params"
	"github.com/axsched/ax/pluginapi/calendar"
)

// Load reads the file at path and all that it names. The error is of type
// Faults; it also tells of files that cannot be read. The Config that comes
// with an error must not be used but for its Files and Dirs and for
// CheckComponents, which finds the rest of what is wrong.
func Load(path string, o Options) (*Config, error) {
	l := newLoader(o)
	l.load(filepath.Clean(path))
	c := l.config
	c.Dirs = slices.Sorted(maps.Keys(l.dirs))
	if len(l.faults) > 0 {
		return c, c.Sort(l.faults)
	}
	c.Calendars, c.Notifiers = l.calendars, l.notifiers
	// The longer ones first, so that redacting one leaves no rest of another.
	c.Secrets = slices.SortedFunc(maps.Keys(l.secrets), func(a, b string) int { return len(b) - len(a) })
	c.noteCalendars()
	l.warnGaps()
	c.Warnings = c.Sort(l.warnings)
	c.Hash = hex.EncodeToString(l.sum.Sum(nil))
	return c, nil
}

// loader is what the files of one configuration have in common.
type loader struct {
	options  Options
	config   *Config
	faults   Faults
	warnings Faults
	// incomplete: a file could not be read, so that a name that is not known
	// may be in there.
	incomplete bool
	// doubtful: something is wrong with what tasks refer to.
	doubtful bool
	// bare: what is read is no file, and may refer to none.
	bare    bool
	sum     hash.Hash
	read    map[string]bool // files in Config.Files
	dirs    map[string]bool
	secrets map[string]bool
	zones   map[string]*time.Location
	// templates holds what is wrong with texts that were checked.
	templates map[string][]params.Finding

	calendarDrafts map[string]*calendarDraft
	calendars      map[string]*calendar.Calendar // nil for one that is faulty
	sources        map[string]*calendar.Calendar // those in use, by their names
	notifiers      map[string]Component
	quiets         []quietDraft
	listeners      map[string]Position
	noticed        map[noticeKey]*noticed
}

func newLoader(o Options) *loader {
	if o.Env == nil {
		o.Env = func(string) (string, bool) { return "", false }
	}
	return &loader{
		options: o, config: &Config{passed: &passed{}, Receivers: map[string]Receiver{}, calendarFiles: map[string][]HolidayFile{}}, sum: sha256.New(),
		read: map[string]bool{}, dirs: map[string]bool{}, secrets: map[string]bool{},
		zones:          map[string]*time.Location{},
		templates:      map[string][]params.Finding{},
		calendarDrafts: map[string]*calendarDraft{},
		calendars:      map[string]*calendar.Calendar{},
		sources:        map[string]*calendar.Calendar{},
		notifiers:      map[string]Component{},
		listeners:      map[string]Position{},
		noticed:        map[noticeKey]*noticed{},
	}
}

func (l *loader) faultAt(pos Position, format string, args ...any) {
	l.faults = append(l.faults, Fault{Position: pos, Message: fmt.Sprintf(format, args...)})
}

func (l *loader) warn(pos Position, format string, args ...any) {
	l.warnings = append(l.warnings, Fault{Position: pos, Message: fmt.Sprintf(format, args...)})
}

// fileDraft is what a file may hold besides settings of the host.
type fileDraft struct {
	notifiers, listeners, calendars, tasks *yaml.Node
}

// load reads all files, then takes in what they hold: first what tasks refer
// to, then the tasks.
func (l *loader) load(path string) {
	main := &decoder{l, l.open(path, Position{File: path, Line: 1, Column: 1})}
	if main.root == nil {
		if len(l.faults) == 0 {
			l.faultAt(Position{File: path, Line: 1, Column: 1}, "the file is empty, expected at least app: and tasks:")
		}
		return
	}
	settings, drafts := newSettings(l.config), []*fileDraft{{}}
	given := main.object("the configuration", main.root, append(settings.fields(), drafts[0].fields()...), main.needs("app")...)
	main.finishSettings(settings)
	main.refusePending(given)
	decoders := []*decoder{main}
	for _, included := range main.include(settings.include) {
		d, draft := &decoder{l, included}, &fileDraft{}
		if d.root != nil {
			d.object("an included file", d.root, draft.fields())
		}
		decoders, drafts = append(decoders, d), append(drafts, draft)
	}
	for i, d := range decoders {
		d.takeNamed(drafts[i])
	}
	l.buildCalendars()
	l.readQuiet()
	main.finishAlerts(&settings.alerts)
	l.doubtful = len(l.faults) > 0
	l.config.frame = frame{l.options, settings.defaults, settings.alerts.groups}
	tasks := main.newTaskReader(settings.defaults, settings.alerts.groups)
	l.config.expect(decoders)
	for i, d := range decoders {
		if list := drafts[i].tasks; list != nil {
			d.takeTasks(tasks, list)
		}
		d.takeParts(tasks)
		d.root, d.tasks = nil, nil // uses keep the source, and need only its path
	}
}

// expect makes room for the tasks of files: to let lists of very many grow would
// take the memory of them twice.
func (c *Config) expect(decoders []*decoder) {
	n := 0
	for _, d := range decoders {
		for _, p := range d.tasks {
			n += p.entries
		}
	}
	c.Tasks, c.uses = slices.Grow(c.Tasks, n), slices.Grow(c.uses, n)
}

// needs returns keys that must be there, none if they may be in what is broken.
func (s *source) needs(keys ...string) []string {
	if s.broken {
		return nil
	}
	return keys
}

func (f *fileDraft) fields() []field {
	task := section("a task", new(taskDraft).fields()...)
	task.needs = taskNeeds()
	return []field{
		{"notifiers", later(named(new(receiverDraft).rule()), &f.notifiers)},
		{"listeners", later(named(new(component).rule()), &f.listeners)},
		{"calendars", later(named(section("a calendar", new(calendarDraft).fields()...)), &f.calendars)},
		{"tasks", later(rule{kind: kindArray, elem: &task}, &f.tasks)},
	}
}

func (d *decoder) takeTasks(r *taskReader, list *yaml.Node) {
	for _, n := range list.Content {
		d.readTask(r, n)
	}
}

// include opens the files that match the patterns, each once.
func (d *decoder) include(patterns []*yaml.Node) []*source {
	var opened []*source
	for _, n := range patterns {
		pattern := beside(d.path, n.Value)
		l := d.loader
		l.dirs[filepath.Dir(pattern)] = true
		l.config.Includes = append(l.config.Includes, pattern)
		paths, err := filepath.Glob(pattern)
		if err != nil {
			d.fault(n, "include: malformed pattern %s", d.show(n))
			continue
		}
		if len(paths) == 0 && !strings.ContainsAny(n.Value, "*?[") {
			d.fault(n, "include: there is no file %s", pattern)
			l.incomplete = true
		}
		for _, path := range paths {
			if !l.read[path] {
				opened = append(opened, l.open(path, d.at(n)))
			}
		}
	}
	return opened
}

// readFile reads a whole file of at most limit bytes and notes it.
func (l *loader) readFile(path string, limit int64) ([]byte, error) {
	l.dirs[filepath.Dir(path)] = true
	first := !l.read[path]
	if first {
		if len(l.read) >= maxFiles {
			return nil, fmt.Errorf("more than %d files", maxFiles)
		}
		l.read[path] = true
		l.config.Files = append(l.config.Files, path)
	}
	data, err := readRegular(path, limit)
	if err != nil {
		return nil, err
	}
	if first {
		addFile(l.sum, path, data)
	}
	return data, nil
}

// addFile makes the content of a file count in the hash of a configuration.
func addFile(sum hash.Hash, path string, data []byte) {
	fmt.Fprintf(sum, "%s %d\n", filepath.Base(path), len(data))
	sum.Write(data)
}

// IsCurrent reports whether the files are as they were when they were loaded,
// and no include finds further ones. That is much less work than to load them.
func (c *Config) IsCurrent() bool {
	for _, pattern := range c.Includes {
		found, _ := filepath.Glob(pattern) // it was well-formed when it was loaded
		if slices.ContainsFunc(found, func(path string) bool { return !slices.Contains(c.Files, path) }) {
			return false
		}
	}
	sum := sha256.New()
	for _, path := range c.Files {
		data, err := readRegular(path, maxFileBytes)
		if err != nil {
			return false
		}
		addFile(sum, path, data)
	}
	return hex.EncodeToString(sum.Sum(nil)) == c.Hash
}

// readRegular refuses what is no ordinary file: reading a pipe or a device
// could take for ever.
func readRegular(path string, limit int64) ([]byte, error) {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("there is no file %s", path)
	case err != nil:
		return nil, fmt.Errorf("read %s: %w", path, errors.Unwrap(err))
	case info.IsDir():
		return nil, fmt.Errorf("%s is a folder, expected a file", path)
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s is no ordinary file", path)
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", path, errors.Unwrap(err))
	}
	defer file.Close()
	var data bytes.Buffer
	data.Grow(int(min(info.Size(), limit)) + bytes.MinRead)
	if _, err := data.ReadFrom(io.LimitReader(file, limit+1)); err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	if int64(data.Len()) > limit {
		return nil, fmt.Errorf("%s is larger than %d bytes", path, limit)
	}
	return data.Bytes(), nil
}

// sortedKeys returns the keys of a map in order.
func sortedKeys[V any](m map[string]V) []string {
	return slices.Sorted(maps.Keys(m))
}
