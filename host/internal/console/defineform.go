package console

import (
	"context"
	"net/url"
	"slices"
	"strings"

	"github.com/axsched/ax/host/internal/api"
	"github.com/axsched/ax/host/internal/secrets"
)

// defineForm is the form in which a task is made or changed.
type defineForm struct {
	// Name is the task that is changed, empty for a new one; Version is the one of
	// its definition that the form was made of.
	Name    string
	Version int64
	// YAML is the whole definition where it is edited as a text; then there are no
	// inputs.
	YAML   string
	AsText bool

	About, Limits, Policies []setting
	// Due are the inputs of the kinds of schedule, When the kind that counts.
	Due          []setting
	When         string
	Params       setting
	Job, Trigger *componentForm
	Jobs, Timers []api.ComponentSchema
	Notifiers    []chosen
	Enabled      bool
	More         string
	MoreFault    string
	Faults       []api.TaskFault // those that belong to no input
	Check        *api.TaskCheck
	Commands     bool // the job runs commands, for which not everybody may ask
	NotifyFault  string
	Secrets      []string // names
}

// chosen is a box that can be checked.
type chosen struct {
	Name    string
	Checked bool
}

// componentForm is the part of a form about a component.
type componentForm struct {
	Key  string // job or trigger
	Use  string
	Text string // what the plugin says about it
	// Known: its settings have inputs; else Raw is what they are, as YAML.
	Known    bool
	Missing  bool
	Settings []setting
	Raw      setting
	Fault    string
}

// newForm makes an empty form of what the host offers, for a job and a trigger.
func (s *console) newForm(ctx context.Context, p *page, job, trigger string) (*defineForm, error) {
	components, err := s.backend.Components(ctx)
	if err != nil {
		return nil, err
	}
	f := &defineForm{When: "cron", Enabled: true, Secrets: s.backend.Secrets()}
	for _, c := range components {
		switch c.Kind {
		case "job":
			f.Jobs = append(f.Jobs, c)
		case "trigger":
			f.Timers = append(f.Timers, c)
		}
	}
	calendars, err := s.backend.ListCalendars(ctx)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, c := range calendars {
		names = append(names, c.Name)
	}
	notifiers, err := s.backend.Notifiers(ctx)
	if err != nil {
		return nil, err
	}
	for _, n := range notifiers {
		if n.Use != "" {
			f.Notifiers = append(f.Notifiers, chosen{Name: n.Name})
		}
	}
	f.layOut(p, names)
	f.Job, f.Trigger = newComponentForm("job", job, f.Jobs), newComponentForm("trigger", trigger, f.Timers)
	f.Commands = isCommand(job)
	return f, nil
}

// isCommand reports whether a job runs commands on the machines of the hosts.
func isCommand(use string) bool { return use == "exec" || strings.HasSuffix(use, "/exec") }

// layOut makes the inputs that all tasks have.
func (f *defineForm) layOut(p *page, calendars []string) {
	f.About = []setting{
		{Key: "name", Kind: "line", Label: p.T("Name"), Required: true, Text: p.T("Letters, digits, dots, dashes and underscores; it stays as it is.")},
		{Key: "group", Kind: "line", Label: p.T("Group")},
		{Key: "description", Kind: "line", Label: p.T("Description")},
		{Key: "labels", Kind: "yaml", Label: p.T("Labels"), Text: p.T("One a line, such as team: billing")},
	}
	f.Due = []setting{
		{Key: "cron", Kind: "line", Label: p.T("Cron expression"), Default: "0 30 3 * * ?", Text: p.T("Second, minute, hour, day, month, weekday; or five fields without the second")},
		{Key: "every", Kind: "line", Label: p.T("Every"), Default: "15m"},
		{Key: "delay", Kind: "line", Label: p.T("Time after the end of each run"), Default: "10m"},
		{Key: "at", Kind: "line", Label: p.T("Once, at"), Default: "2026-12-24 18:00"},
	}
	f.Limits = []setting{
		{Key: "timezone", Kind: "line", Label: p.T("Time zone"), Default: "Asia/Shanghai"},
		{Key: "calendar", Kind: "choice", Label: p.T("Calendar"), Choices: calendars, Text: p.T("It is not due on the closed days of this one.")},
		{Key: "on_closed", Kind: "choice", Label: p.T("On closed days"), Choices: []string{"skip", "previous", "next"}},
		{Key: "from", Kind: "line", Label: p.T("From"), Default: "2026-12-01"},
		{Key: "until", Kind: "line", Label: p.T("Until"), Default: "2027-01-01"},
		{Key: "jitter", Kind: "line", Label: p.T("Put off by up to"), Default: "5m"},
	}
	f.Policies = []setting{
		{Key: "timeout", Kind: "line", Label: p.T("Timeout"), Default: "10m", Text: p.T("Of one attempt")},
		{Key: "retry.count", Kind: "number", Label: p.T("Retries"), Default: "2"},
		{Key: "overlap", Kind: "choice", Label: p.T("While a run goes on"), Choices: []string{"skip", "defer", "queue", "replace", "allow"}},
		{Key: "concurrency", Kind: "number", Label: p.T("At once"), Default: "1"},
		{Key: "misfire.policy", Kind: "choice", Label: p.T("Due times missed while no host ran"), Choices: []string{"skip", "once", "all"}},
	}
	f.Params = setting{Key: "params", Kind: "yaml", Label: p.T("Parameters"), Text: p.T("YAML, or a JSON object; texts may be templates such as {{.ScheduledAt}}")}
}

func newComponentForm(key, use string, offered []api.ComponentSchema) *componentForm {
	c := &componentForm{Key: key, Use: use, Known: use == "", Missing: use != "", Raw: setting{Key: key + ".with", Name: "with", Kind: "yaml"}}
	for _, o := range offered {
		if o.Name == use || o.Plugin+"/"+o.Name == use {
			c.Text, c.Missing = o.Description, false
			c.Settings, c.Known = settingsOf(o.Schema, key+".with")
		}
	}
	return c
}

// inputs calls do for every input of the form.
func (f *defineForm) inputs(do func(*setting)) {
	for _, list := range [][]setting{f.About, f.Due, f.Limits, f.Policies} {
		each(list, do)
	}
	do(&f.Params)
	for _, c := range []*componentForm{f.Job, f.Trigger} {
		if c.Known {
			each(c.Settings, do)
		} else {
			do(&c.Raw)
		}
	}
}

// show puts a definition into the form.
func (f *defineForm) show(definition string) {
	t := parseTree(definition)
	for _, c := range []*componentForm{f.Job, f.Trigger} {
		t.take(c.Key+".use", "line")
	}
	f.Enabled = true
	if value, there := t.take("enabled", "switch"); there {
		f.Enabled = value == "true"
	}
	f.inputs(func(s *setting) {
		if s.Value, _ = t.take(s.Key, s.Kind); s.Value == secrets.Mark {
			s.Value = "" // of a file's task
		}
	})
	for _, s := range f.Due {
		if s.Value != "" {
			f.When = s.Key
		}
	}
	if f.Trigger.Use != "" {
		f.When = "trigger"
	}
	if to, there := t.take("notify.to", "lines"); there {
		f.choose(strings.Split(to, "\n"))
	}
	prune(t.root)
	f.More = writeYAML(t.root)
}

// choose checks the boxes of notifiers. One that is not configured any more gets a
// box, too.
func (f *defineForm) choose(names []string) {
	for _, name := range names {
		i := slices.IndexFunc(f.Notifiers, func(c chosen) bool { return c.Name == name })
		if i < 0 && name != "" {
			f.Notifiers = append(f.Notifiers, chosen{name, true})
		} else if i >= 0 {
			f.Notifiers[i].Checked = true
		}
	}
}

// fill puts what was sent back into the form, but no secret.
func (f *defineForm) fill(values url.Values) {
	f.inputs(func(s *setting) {
		s.Value = strings.ReplaceAll(values.Get(s.Key), "\r\n", "\n")
		if s.Kind == "secret" && !secrets.Named(s.Value) {
			s.Value = ""
		}
	})
	f.When, f.Enabled = values.Get("when"), values.Get("enabled") != ""
	f.choose(values["notify.to"])
	f.More = strings.ReplaceAll(values.Get("more"), "\r\n", "\n")
}

// blame puts faults beside their inputs, and those without one on top. live leaves
// out what was not filled in yet.
func (f *defineForm) blame(faults []api.TaskFault, live bool) {
	for _, fault := range faults {
		var best *setting
		f.inputs(func(s *setting) {
			if isAt(fault.Field, s.Key) && (best == nil || len(s.Key) > len(best.Key)) {
				best = s
			}
		})
		switch {
		case best != nil && live && best.Value == "":
		case best != nil:
			best.Fault = join(best.Fault, fault.Message)
		case isAt(fault.Field, "notify"):
			f.NotifyFault = join(f.NotifyFault, fault.Message)
		case fault.Field == "more" || f.More != "" && f.inMore(fault.Field):
			f.MoreFault = join(f.MoreFault, fault.Message)
		case fault.Field == "job.use" || fault.Field == "job" || fault.Field == "trigger.use" || fault.Field == "trigger":
			c := f.Job
			if strings.HasPrefix(fault.Field, "trigger") {
				c = f.Trigger
			}
			if !live || c.Use != "" {
				c.Fault = join(c.Fault, fault.Message)
			}
		case live && fault.Field == "":
		default:
			f.Faults = append(f.Faults, fault)
		}
	}
}

// inMore reports whether a key stands among those without an input.
func (f *defineForm) inMore(field string) bool {
	for key := range strings.SplitSeq(f.More, "\n") {
		name, _, found := strings.Cut(key, ":")
		if found && isAt(field, strings.Trim(name, `" `)) && !strings.HasPrefix(key, " ") {
			return true
		}
	}
	return false
}

// isAt reports whether a key is another one, or lies below it.
func isAt(field, key string) bool {
	rest, below := strings.CutPrefix(field, key)
	return below && (rest == "" || rest[0] == '.' || rest[0] == '[')
}

func join(before, text string) string {
	if before == "" {
		return text
	}
	return before + "; " + text
}
