package console

import (
	"context"
	"time"

	"github.com/axsched/ax/host/internal/api"
	"github.com/axsched/ax/host/internal/ax"
	"github.com/axsched/ax/pluginapi/calendar"
)

// Backend is what the pages ask of the host: all that the API does, and sums of
// it that one page shows at once. Its errors are those of api.Backend.
type Backend interface {
	api.Backend
	// Overview sums up how the app fares. It looks at no large table.
	Overview(ctx context.Context) (Overview, error)
	// FindTasks returns a page of the tasks that a search finds.
	FindTasks(ctx context.Context, s TaskSearch) (TaskPage, error)
	// Calendars returns all calendars by name.
	Calendars(ctx context.Context) ([]Calendar, error)
	// Secrets returns the names of the secrets that a task may name.
	Secrets() []string
}

// Overview is how an app fares.
type Overview struct {
	Health api.Health
	// Hours are the outcomes of the last 24 hours, oldest first, as of CountedAt;
	// empty until they were counted for the first time.
	Hours     []Hour
	CountedAt time.Time
	// Moods counts the tasks by what state they are in.
	Moods map[api.TaskMood]int
	// Failing are tasks whose newest run failed, the longest rows of failures
	// first; FailingTotal counts all of them.
	Failing      []TaskBrief
	FailingTotal int
	// Next are the tasks that are due next.
	Next     []TaskBrief
	Nodes    []api.NodeView
	Plugins  []api.PluginView
	Database Database
	// Waiting counts messages to people on their way, Dead those that were given
	// up.
	Waiting, Dead int
}

// Hour is what became of the due times that were recorded in an hour.
type Hour struct {
	From   time.Time
	Counts map[ax.Status]int64
}

// TaskBrief is a task in a line.
type TaskBrief struct {
	Name     string
	Group    string
	NextAt   time.Time
	Failures int
}

// Database is how the database fares.
type Database struct {
	Kind string
	OK   bool
	// Answer is how long it took to answer just now.
	Answer time.Duration
	// Write and LongestWrite are the mean and the longest time of a transaction
	// since the host started; zero if there was none.
	Write, LongestWrite time.Duration
	Queued              int // changes that wait to be written
}

// TaskSearch selects tasks. Empty fields select all.
type TaskSearch struct {
	// Text is looked for in name, group, description and labels, in any case.
	Text  string
	Group string
	// State is a api.TaskMood, or StateFailing or StateRunning.
	State string
	Job   string // name of the component
	Node  string // the host that schedules it
	Page  int    // from 1
	Size  int
}

// States that a search knows beside those of api.TaskMood.
const (
	StateFailing = "failing" // the newest run failed
	StateRunning = "running"
)

// TaskPage is a page of tasks in the order of their names.
type TaskPage struct {
	Tasks []TaskItem
	Total int // on all pages
	// Groups, Jobs and Nodes are what a search can be narrowed by.
	Groups, Jobs, Nodes []string
}

// TaskItem is a task with its last instances, at most LastRuns, newest first.
type TaskItem struct {
	api.TaskView
	Last []ax.Instance
}

// Calendar is a calendar of the configuration.
type Calendar struct {
	*calendar.Calendar
	// Tasks are those that use it.
	Tasks []string
	// Gap says what it does not know soon; empty for nothing.
	Gap string
}

// LastRuns is how many instances a TaskItem shows.
const LastRuns = 12
