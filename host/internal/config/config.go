// Package config turns the YAML of a host into typed values. It is strict:
// what is not known, not clear or not possible is a fault, and all faults are
// found at once, each with its place and the way out. Nothing is started and
// nothing but files is read, so a new configuration is whole before the old
// one is touched.
package config

import (
	"strings"
	"time"

	"github.com/axsched/ax/host/internal/ax"
	"github.com/axsched/ax/host/internal/params"
	"github.com/axsched/ax/pluginapi/calendar"
)

// Config is a checked configuration. It is not changed once loaded.
type Config struct {
	// App names the service whose tasks these are; hosts of one app share them.
	App string
	// Node names this host; the machine's name unless stated.
	Node string
	// DataDir is where the host keeps files of its own.
	DataDir string
	Store   Store
	// ConsoleOnly: this host schedules and runs nothing.
	ConsoleOnly bool
	HTTP        HTTP
	Access      Access
	Cluster     Cluster
	Log         Log
	Plugins     Plugins
	Executor    Executor
	Traces      Traces
	Metrics     Metrics
	// Retention is how long finished instances and their logs are kept.
	Retention time.Duration

	Calendars map[string]*calendar.Calendar
	Notifiers map[string]Component
	// Receivers say how the notifiers want their messages, Alerts what holds for
	// all of them.
	Receivers map[string]Receiver
	Alerts    Alerts
	// Listeners and Tasks are in the order of the files.
	Listeners []Component
	Tasks     []ax.Task

	// Named are the secrets that definitions which people make may name.
	Named map[string]string
	// Secrets are the values of these, and those that came from ${env:…} and ${file:…}: what is
	// logged, shown or sent must not contain them.
	Secrets []string
	// Warnings are what may be meant but probably is not.
	Warnings Faults
	// Hash is equal for equal contents of all Files.
	Hash string
	// Files are all files that were read: the main one, includes, calendars and
	// secrets. Dirs are the folders in which a change can matter, those of
	// include patterns among them. Includes are these patterns.
	Files, Dirs, Includes []string

	uses          []use
	passed        *passed
	calendarUses  map[string]*calendarUse
	calendarFiles map[string][]HolidayFile
	frame         frame
	made          *Config // the tasks that are defined elsewhere, see With
	byPeople      bool    // not from files: settings name their secrets
}

// Store says where the state is kept.
type Store struct {
	// DSN is "sqlite:PATH" with a path that is resolved already, or "mysql://…"
	// as it is stated.
	DSN string
}

// Shared reports whether several hosts can work together on the store.
func (s Store) Shared() bool { return strings.HasPrefix(s.DSN, mysqlPrefix) }

// Cluster says how this host works together with others on one store.
type Cluster struct {
	// Listen is host:port for other hosts, or empty if they cannot reach this one.
	Listen string
	// Advertise is host:port at which others reach this host, empty without
	// Listen. The port is 0 if that of Listen is, which the listener then decides.
	Advertise string
	// Secret is what hosts prove to each other that they know; empty for none.
	Secret string
	// TLS is nil for none. With Listen, there is Secret or TLS.
	TLS *ClusterTLS
	// Heartbeat is the time between two signs of life, DeadAfter the silence
	// after which a host counts as dead: at least twice as long.
	Heartbeat, DeadAfter time.Duration
	// Labels are what Task.Nodes refers to.
	Labels map[string]string
	// SpoolFor is how long outcomes that cannot be written are kept and tried
	// again.
	SpoolFor time.Duration
}

// ClusterTLS holds the paths of PEM files, which were there and fitted together
// when the configuration was read. Both sides of a connection show Cert and
// want one from CA.
type ClusterTLS struct{ Cert, Key, CA string }

// Log says what is logged and how.
type Log struct {
	Level  string // trace, debug, info, warn or error
	Format string // text or json
}

// Plugins says where plugins are and how they are treated.
type Plugins struct {
	Dir string
	// Policies hold what is stated, by the names of plugins; zero values mean
	// the defaults of the plugin host.
	Policies map[string]PluginPolicy
}

// PluginPolicy says how the host treats one plugin. Its fields are those of
// the plugin host's own policy, into which it converts.
type PluginPolicy struct {
	StartTimeout time.Duration
	CallTimeout  time.Duration
	DrainTimeout time.Duration
	MaxInflight  int
	Env          map[string]string
	Args         []string
	SHA256       string
	Disabled     bool
}

// Executor bounds the runs of this host.
type Executor struct {
	// Workers is how many runs go on at once, 0 for twice the number of CPUs.
	Workers int
	// Queue is how many more may wait for a worker.
	Queue int
	// Grace is how long runs may go on when the host stops.
	Grace time.Duration
}

// Component is a notifier or a listener with the name that the configuration
// gives it.
type Component struct {
	Name string
	ax.Use
	Position
}

// Options are what Load takes from its surroundings.
type Options struct {
	// Env looks an environment variable up; nil stands for an empty environment.
	Env func(string) (string, bool)
	// Now is for warnings about times that are past; the zero time gives none.
	Now time.Time
	// Node is the name of the host where the file states none.
	Node string
	// CheckSchedule, if set, finds what makes a well-formed schedule impossible.
	// It is called once for each task, also for those with a plugin's trigger.
	CheckSchedule func(s ax.Schedule, calendars map[string]*calendar.Calendar, task string) []ScheduleFault
	// CheckMessage, if set, checks a template of messages.
	CheckMessage func(text string) error
	// Replace holds contents that stand in place of files of holidays, by their paths,
	// to find out what they would change.
	Replace map[string][]byte
	// CheckTemplate, if set, finds what is wrong with a template in params. It is
	// called once for each text.
	CheckTemplate func(text string) []params.Finding
}
