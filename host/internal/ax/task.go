package ax

import (
	"encoding/json"
	"slices"
	"time"
)

// Use names a component of a plugin, or one built into the host, with its
// settings.
type Use struct {
	// Name is "component" or "plugin/component".
	Name string `json:"use"`
	// With holds the settings, a JSON object; nil for none.
	With json.RawMessage `json:"with,omitempty"`
}

// Task is the definition of a task: what the YAML says, with defaults filled
// in. Its JSON form is what ax_task keeps. Durations are nanoseconds there.
type Task struct {
	ID          TaskID            `json:"-"`
	App         string            `json:"-"`
	Name        string            `json:"name"`
	Group       string            `json:"group,omitempty"`
	Description string            `json:"description,omitempty"`
	Labels      map[string]string `json:"labels,omitempty"`
	// Enabled false keeps the task listed and runnable by hand.
	Enabled  bool     `json:"enabled"`
	Schedule Schedule `json:"schedule"`
	Job      Use      `json:"job"`
	// Params is a JSON object; strings in it may be templates over the due time.
	Params json.RawMessage `json:"params,omitempty"`
	// ParamsFrom names a ParamProvider, nil for none.
	ParamsFrom *Use `json:"params_from,omitempty"`
	// Strategy picks the node of an attempt; empty means StrategyLeastTasks.
	Strategy Strategy `json:"strategy,omitempty"`
	// Nodes are labels that a node must have, all of them, to run the task.
	Nodes map[string]string `json:"nodes,omitempty"`
	// ConfirmTimeout is how long another node may take to say that it has an
	// attempt, which then goes to the next one; 0 means the default of 30 s.
	ConfirmTimeout time.Duration `json:"confirm_timeout,omitempty"`
	// StartDeadline is how long after its due time an instance may begin until
	// it counts as not started, which is told and changes nothing; 0 = no limit.
	StartDeadline time.Duration `json:"start_deadline,omitempty"`
	// Retention is how long finished instances are kept, 0 for as long as the app
	// says.
	Retention time.Duration `json:"retention,omitempty"`
	// Timeout of one attempt, 0 for none.
	Timeout time.Duration `json:"timeout,omitempty"`
	// Grace is how long a job may take to end after its timeout or a cancel.
	Grace time.Duration `json:"grace"`
	// WarnAfter is how long an attempt may run before people are told that it is
	// slow, which ends nothing; 0 = never.
	WarnAfter time.Duration `json:"warn_after,omitempty"`
	Retry     Retry         `json:"retry"`
	// Concurrency is how many instances may run at once, cluster-wide; 0 means
	// no limit and goes with OverlapAllow only.
	Concurrency int     `json:"concurrency"`
	Overlap     Overlap `json:"overlap"`
	// QueueLimit bounds the due times that wait under OverlapQueue.
	QueueLimit int     `json:"queue_limit,omitempty"`
	Misfire    Misfire `json:"misfire"`
	Notify     Notify  `json:"notify"`
	// Source tells where the definition comes from: "file:line".
	Source string `json:"source,omitempty"`
}

// SourceConsole is the source of tasks that people have made while hosts run,
// over the API or in the console. They are in the database only.
const SourceConsole = "console"

// Schedule says when a task is due. Exactly one of Cron, Every, Delay, At and
// Trigger is set; the rest narrows it.
type Schedule struct {
	Cron string `json:"cron,omitempty"`
	// Every is a fixed rate. Due times are Anchor + k*Every; without an Anchor
	// they are aligned to 1970-01-01T00:00:00Z, and with RepeatCount to the
	// moment when the task was first seen.
	Every  time.Duration `json:"every,omitempty"`
	Anchor time.Time     `json:"anchor,omitzero"`
	// RepeatCount bounds the due times of Every to 1 + RepeatCount; nil = no end.
	RepeatCount *int `json:"repeat_count,omitempty"`
	// Delay is a fixed delay: the next due time is so long after the end of the
	// run before, its retries included, or as soon after that as it is open and
	// no blackout; OnClosed, OnBlackout and Jitter have no say.
	Delay   time.Duration `json:"delay,omitempty"`
	At      time.Time     `json:"at,omitzero"`
	Trigger *Use          `json:"trigger,omitempty"`
	// Timezone is an IANA name, never empty.
	Timezone string `json:"timezone"`
	// From and Until bound the due times: From <= due < Until.
	From  time.Time `json:"from,omitzero"`
	Until time.Time `json:"until,omitzero"`
	// Calendar names the calendar on whose closed days the task is not due;
	// OnClosed says what becomes of such a due time.
	Calendar string   `json:"calendar,omitempty"`
	OnClosed OnClosed `json:"on_closed,omitempty"`
	// Calendars names what a plugin trigger gets to see.
	Calendars []string `json:"calendars,omitempty"`
	// Blackouts are times in which the task is not due; OnBlackout says what
	// becomes of such a due time.
	Blackouts  []Blackout `json:"blackout,omitempty"`
	OnBlackout OnBlackout `json:"on_blackout,omitempty"`
	// Jitter puts each due time off by less than this, always by the same for
	// the same task and due time, and never up to the next due time. What comes
	// out is the due time: rows, previews and From and Until know no other.
	Jitter time.Duration `json:"jitter,omitempty"`
	// Version is a hash of all that decides the due times, the days of the
	// calendars included. When it changes the next due time is computed anew.
	Version string `json:"version"`
}

// CalendarNames returns the calendars that have a say in when the schedule is
// due, each once, in the order in which it names them.
func (s *Schedule) CalendarNames() []string {
	names := append([]string{s.Calendar}, s.Calendars...)
	for _, b := range s.Blackouts {
		names = append(names, b.Calendar)
	}
	var each []string
	for _, name := range names {
		if name != "" && !slices.Contains(each, name) {
			each = append(each, name)
		}
	}
	return each
}

// OnClosed is what becomes of a due time on a closed day.
type OnClosed string

// Policies for closed days. Previous and Next move it to the nearest open day
// at the same local time; two due times that fall together are one.
const (
	ClosedSkip     OnClosed = "skip"
	ClosedPrevious OnClosed = "previous"
	ClosedNext     OnClosed = "next"
)

// Overlap is what becomes of a due time while Concurrency is used up.
type Overlap string

// Overlap policies.
const (
	// OverlapSkip records it as SKIPPED.
	OverlapSkip Overlap = "skip"
	// OverlapDefer lets it wait for the next due time of the task; if it cannot
	// start then either, the newer one waits and the older one is SKIPPED.
	OverlapDefer Overlap = "defer"
	// OverlapQueue starts it as soon as there is a place, oldest first.
	OverlapQueue Overlap = "queue"
	// OverlapReplace cancels the oldest running instance and starts after it.
	OverlapReplace Overlap = "replace"
	// OverlapAllow starts it all the same.
	OverlapAllow Overlap = "allow"
)

// Strategy is how the node of an attempt is picked among those that can run it.
type Strategy string

// Strategies.
const (
	// StrategyLeastTasks takes the node on which least runs and waits.
	StrategyLeastTasks Strategy = "least-tasks"
	// StrategyRoundRobin takes one node after the other.
	StrategyRoundRobin Strategy = "round-robin"
	// StrategyConsistentHash takes the same node for as long as it is there.
	StrategyConsistentHash Strategy = "consistent-hash"
	// StrategyBroadcast takes all nodes: a due time has an instance for each.
	StrategyBroadcast Strategy = "broadcast"
)

// Misfire is what becomes of due times noticed later than Threshold.
type Misfire struct {
	Policy    MisfirePolicy `json:"policy"`
	Threshold time.Duration `json:"threshold"`
	// Window and Cap bound MisfireAll: older due times, and more than Cap of
	// them, are recorded as MISSED.
	Window time.Duration `json:"window,omitempty"`
	Cap    int           `json:"cap,omitempty"`
}

// MisfirePolicy names one of the three policies.
type MisfirePolicy string

// Misfire policies.
const (
	// MisfireSkip records them as MISSED.
	MisfireSkip MisfirePolicy = "skip"
	// MisfireOnce runs the newest one and records the others as MISSED.
	MisfireOnce MisfirePolicy = "once"
	// MisfireAll runs all of them within Window and Cap, oldest first.
	MisfireAll MisfirePolicy = "all"
)

// Notify says who hears of a task's troubles.
type Notify struct {
	// To names notifiers of the configuration; none means silence.
	To []string `json:"to,omitempty"`
	// On lists events: failed, attempt, timeout, lost, missed, skipped, slow, late,
	// overdue, parked, recovered.
	On []string `json:"on,omitempty"`
	// After is how many failures in a row it takes, at least 1.
	After int `json:"after,omitempty"`
}

// TaskState is what changes while a task lives; the rest of its ax_task row.
type TaskState struct {
	// NextAt is the next due time that has no row yet; zero = never again.
	NextAt time.Time
	// PrevAt is the newest due time that has a row.
	PrevAt time.Time
	// Planned holds further due times after NextAt, in rising order, fetched
	// ahead from a trigger plugin. PlanVersion is the Schedule.Version they
	// belong to. PlanDone: no due time follows the last one of Planned.
	Planned     []time.Time
	PlanVersion string
	PlanDone    bool
	// AnchorAt is when the schedule was first seen, in its present version.
	AnchorAt time.Time
	Paused   bool
	// PausedUntil ends the pause by itself; zero = a person must resume.
	PausedUntil time.Time
	// Parked says why the task cannot be scheduled now; empty if it can.
	Parked string
	// Failures counts failed instances in a row.
	Failures int
}

// TaskRow is a whole row of ax_task.
type TaskRow struct {
	Task
	TaskState
	CreatedAt time.Time
	UpdatedAt time.Time
	CreatedBy string
	UpdatedBy string
	// Revision grows by one at every change of the definition.
	Revision int64
}
