package config

import (
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"gopkg.in/yaml.v3"

	"github.com/axsched/ax/host/internal/ax"
	"github.com/axsched/ax/pluginapi"
)

// Defaults of a host.
const (
	defaultListen    = "127.0.0.1:8090"
	defaultQueue     = 128
	defaultHostGrace = 30 * time.Second
	defaultRetention = 30 * 24 * time.Hour
	databaseFile     = "ax.db"
)

// Bounds of numbers in settings.
const (
	maxWorkers  = 10_000
	maxWaiting  = 1_000_000
	maxInflight = 100_000
)

// settings are the keys that only the main file has.
type settings struct {
	to       *Config
	dsn      *yaml.Node
	only     *yaml.Node // console_only
	http     httpDraft
	access   accessDraft
	cluster  clusterDraft
	include  []*yaml.Node
	alerts   alertsDraft
	traces   tracesDraft
	defaults *yaml.Node
}

func newSettings(to *Config) *settings {
	to.Log = Log{Level: "info", Format: "text"}
	to.HTTP.Listen, to.Access = defaultListen, defaultAccess()
	to.Cluster = defaultCluster()
	to.Executor = Executor{Queue: defaultQueue, Grace: defaultHostGrace}
	to.Retention = defaultRetention
	to.DataDir, to.Plugins.Dir = "data", "plugins"
	to.Alerts = defaultAlerts()
	to.Traces.Percent = 100
	return &settings{
		to: to, http: httpDraft{to: &to.HTTP}, access: accessDraft{to: &to.Access},
		cluster: clusterDraft{to: &to.Cluster}, alerts: alertsDraft{to: &to.Alerts}, traces: tracesDraft{to: &to.Traces},
	}
}

func (s *settings) fields() []field {
	c := s.to
	var pattern *yaml.Node
	return []field{
		{"app", name(&c.App)},
		{"node", name(&c.Node)},
		{"data_dir", path(&c.DataDir)},
		{"console_only", noting(boolean(&c.ConsoleOnly), &s.only)},
		{"store", section("store", field{"dsn", noting(text(&c.Store.DSN), &s.dsn)})},
		{"http", s.http.rule()},
		{"access", s.access.rule()},
		{"cluster", s.cluster.rule()},
		{"log", section("log",
			field{"level", choice(&c.Log.Level, "trace", "debug", "info", "warn", "error")},
			field{"format", choice(&c.Log.Format, "text", "json")})},
		{"plugins", section("plugins",
			field{"dir", path(&c.Plugins.Dir)},
			field{"policies", policies(&c.Plugins.Policies)})},
		{"executor", section("executor",
			field{"workers", integer(&c.Executor.Workers, 1, maxWorkers)},
			field{"queue", integer(&c.Executor.Queue, 1, maxWaiting)},
			field{"grace", duration(&c.Executor.Grace, 0)})},
		{"alerts", s.alerts.rule()},
		{"traces", s.traces.rule()},
		{"metrics", section("metrics", field{"by_task", boolean(&c.Metrics.ByTask)})},
		{"secrets", secretTexts(&c.Named)},
		{"retention", duration(&c.Retention, time.Hour)},
		{"include", orOne(listOf(noting(text(new(string)), &pattern), func() {}, func() { s.include = append(s.include, pattern) }))},
		{"defaults", later(section("defaults", new(taskDraft).defaultFields()...), &s.defaults)},
	}
}

// noting is a rule that also keeps the node.
func noting(r rule, to **yaml.Node) rule {
	take := r.take
	r.take = func(d *decoder, key string, n *yaml.Node) {
		*to = n
		take(d, key, n)
	}
	return r
}

// path is the path of a file or folder.
func path(to *string) rule {
	r := text(to)
	take := r.take
	r.take = func(d *decoder, key string, n *yaml.Node) {
		take(d, key, n)
		if *to == "" {
			d.fault(n, "%s: expected a path, got nothing", key)
		}
	}
	return r
}

// policies are how plugins are treated, by their names.
func policies(to *map[string]PluginPolicy) rule {
	var p PluginPolicy
	var sum *yaml.Node
	fields := []field{
		{"start_timeout", duration(&p.StartTimeout, 100*time.Millisecond)},
		{"call_timeout", duration(&p.CallTimeout, 10*time.Millisecond)},
		{"drain_timeout", duration(&p.DrainTimeout, time.Millisecond)},
		{"max_inflight", integer(&p.MaxInflight, 0, maxInflight)},
		{"env", textMap(&p.Env)},
		{"args", listOfText(&p.Args)},
		{"sha256", noting(text(&p.SHA256), &sum)},
		{"disabled", boolean(&p.Disabled)},
	}
	elem := section("a plugin's policy", fields...)
	r := named(elem)
	r.take = func(d *decoder, what string, n *yaml.Node) {
		*to = map[string]PluginPolicy{}
		d.eachNamed(what, n, func(key, value *yaml.Node) {
			p, sum = PluginPolicy{}, nil
			d.take(&elem, key.Value, value)
			if sum != nil && !sha256Form.MatchString(p.SHA256) {
				d.fault(sum, "sha256: expected 64 hex digits, got %s", d.show(sum))
			}
			p.SHA256 = strings.ToLower(p.SHA256)
			(*to)[key.Value] = p
		})
	}
	return r
}

var sha256Form = regexp.MustCompile(`^[0-9a-fA-F]{64}$`)

// finishSettings fills in what depends on other settings, and resolves paths.
func (d *decoder) finishSettings(s *settings) {
	c := s.to
	if c.Node == "" {
		c.Node = d.options.Node
	}
	if c.Node == "" {
		c.Node, _ = os.Hostname() // a host without a name is called local
	}
	if nameProblem(c.Node) != "" {
		c.Node = "local"
	}
	c.DataDir, c.Plugins.Dir = beside(d.path, c.DataDir), beside(d.path, c.Plugins.Dir)
	d.finishStore(s)
	d.finishHTTP(&s.http, s.access.open())
	if c.ConsoleOnly && (!c.Store.Shared() || c.HTTP.Listen == "") {
		d.fault(s.only, "console_only: it shows what other hosts do, for which it takes store: {dsn: mysql://…} and http: {listen: …}")
	}
	d.finishCluster(&s.cluster, c.Store)
	d.finishAccess(&s.access, c)
	d.finishTraces(&s.traces)
}

// mysqlPrefix is how the DSN of a database begins that several hosts can share.
const mysqlPrefix = "mysql://"

// finishStore resolves the path of a file. What is wrong with the rest of
// another DSN is for the store to say, which knows its parts.
func (d *decoder) finishStore(s *settings) {
	store := &s.to.Store
	switch file, isSQLite := strings.CutPrefix(store.DSN, "sqlite:"); {
	case s.dsn == nil:
		store.DSN = "sqlite:" + filepath.Join(s.to.DataDir, databaseFile)
	case isSQLite && file != "" && !strings.HasPrefix(file, "//"):
		store.DSN = "sqlite:" + beside(d.path, file)
	case store.Shared() && len(store.DSN) > len(mysqlPrefix):
		d.hidePassword(store.DSN[len(mysqlPrefix):])
	default:
		// What is there may have a password in it.
		d.fault(s.dsn, "dsn: expected sqlite:PATH, such as sqlite:data/ax.db, or mysql://USER:PASSWORD@HOST/DATABASE")
	}
}

// hidePassword notes the password in USER:PASSWORD@… as a secret, also one that
// stands in the file itself. It may have any characters, an @ among them.
func (l *loader) hidePassword(dsn string) {
	user, _, hasUser := cutLast(dsn, "@")
	_, password, hasPassword := strings.Cut(user, ":")
	if !hasUser || !hasPassword {
		return
	}
	l.secret(password)
	if plain, err := url.PathUnescape(password); err == nil {
		l.secret(plain)
	}
}

// cutLast is strings.Cut around the last instance of sep.
func cutLast(s, sep string) (before, after string, found bool) {
	i := strings.LastIndex(s, sep)
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+len(sep):], true
}

// takeNamed takes in the notifiers, listeners and calendars of a file.
func (d *decoder) takeNamed(f *fileDraft) {
	var c component
	elem := c.rule()
	takeComponent := func(kind pluginapi.Kind, key, n *yaml.Node) Component {
		c = component{}
		d.take(&elem, "a "+string(kind), n)
		d.addUse(kind, key.Value, c)
		return Component{Name: key.Value, Use: c.Use, Position: d.at(key)}
	}
	var receiver receiverDraft
	receives := receiver.rule()
	d.eachNamed("notifiers", f.notifiers, func(key, n *yaml.Node) {
		if before, ok := d.notifiers[key.Value]; ok {
			d.fault(key, "there is another notifier %q in %s: rename one of them", key.Value, before.Position)
			return
		}
		d.takeReceiver(&receiver, &receives, key, n)
		d.addUse(pluginapi.KindNotifier, key.Value, receiver.component)
		d.notifiers[key.Value] = Component{Name: key.Value, Use: receiver.component.Use, Position: d.at(key)}
	})
	d.eachNamed("listeners", f.listeners, func(key, n *yaml.Node) {
		if before, ok := d.listeners[key.Value]; ok {
			d.fault(key, "there is another listener %q in %s: rename one of them", key.Value, before)
			return
		}
		d.listeners[key.Value] = d.at(key)
		d.config.Listeners = append(d.config.Listeners, takeComponent(pluginapi.KindListener, key, n))
	})
	d.eachNamed("calendars", f.calendars, d.readCalendar)
}

// addUse notes a component in use, for CheckComponents.
func (d *decoder) addUse(kind pluginapi.Kind, owner string, c component) {
	if c.node == nil || c.Name == "" {
		return
	}
	u := use{
		kind: kind, owner: owner, Use: ax.Use{Name: c.Name, With: c.With},
		source: d.source, node: placeOf(c.node), with: c.with,
	}
	if d.fields == nil { // one of many
		u.with = detached(c.with)
	}
	if c.use != nil {
		u.name = placeOf(c.use)
	}
	d.config.uses = append(d.config.uses, u)
}

// detached copies a node. The nodes of a file are made in the order of its text:
// few of them, kept here and there, would hold on to most of the memory that all
// of them took.
func detached(n *yaml.Node) *yaml.Node {
	if n == nil {
		return nil
	}
	made := *n
	made.Content = make([]*yaml.Node, len(n.Content))
	for i, child := range n.Content {
		made.Content[i] = detached(child)
	}
	return &made
}
