package alert

import (
	"fmt"
	"strconv"
	"strings"
	"text/template"
	"time"

	"github.com/axsched/ax/pluginapi"
)

// View is what the templates of a message see. Times are in the zone of the
// receiver or else of the task.
type View struct {
	ID, App, Node string
	// Task is the name of the task, or of what else the message is about; empty if
	// it is about several.
	Task string
	// Event, as in notify.on, and Severity: info, warning or error.
	Event, Severity string
	// Title is the default title, Opening the first sentence of the default text,
	// More are the sentences about other events.
	Title, Opening string
	More           []string
	// Tasks are the tasks of a message about several, and TasksMore how many are
	// not listed. Like is how many others said the same shortly before.
	Tasks     []TaskView
	TasksMore int
	Like      int
	// Count events from First to Last stand behind the message; Failures of them
	// are failures, which took so many Attempts on the Hosts.
	Count, Failures, Attempts int
	First, Last               time.Time
	Hosts                     []string
	// Streak is how many failures in a row there are by now.
	Streak int
	// Instance, Attempt and Host are of the newest run.
	Instance string
	Attempt  int
	Host     string
	// Error is a digest of the newest error.
	Error string
	// Held: quiet hours or a silence kept the message back.
	Held bool
}

// TaskView is one of several tasks.
type TaskView struct {
	Name, What, Event string
	Count             int
}

// templateFuncs are the functions that templates have besides those of package
// text/template.
var templateFuncs = template.FuncMap{
	"join": func(list []string, sep string) string { return strings.Join(list, sep) },
	"date": func(layout string, t time.Time) string { return t.Format(layout) },
	"cut":  func(limit int, s string) string { return cut(s, max(limit, len(cutMark))) },
}

// ParseTemplate reads a template of a message.
func ParseTemplate(text string) (*template.Template, error) {
	t, err := template.New("message").Funcs(templateFuncs).Option("missingkey=error").Parse(text)
	if err != nil {
		return nil, err
	}
	for _, part := range t.Templates() {
		if part.Tree == nil {
			continue
		}
		if err := bounded(part.Root); err != nil {
			return nil, err
		}
	}
	// A field that does not exist is found only when it is filled in.
	full := View{Tasks: []TaskView{{}}, More: []string{""}, Hosts: []string{""}, Error: "e", Instance: "1"}
	for _, v := range []View{full, {}} {
		if err := t.Execute(new(strings.Builder), v); err != nil {
			return nil, err
		}
	}
	return t, nil
}

// DefaultTemplates returns the texts of the templates of a language.
func DefaultTemplates(language string) (title, text string) {
	return "{{.Title}}", wordsOf(language).text
}

const (
	// maxTitle and maxText bound what a template makes, in bytes.
	maxTitle = 300
	maxText  = 16 << 10
)

// scene is what a message is made with.
type scene struct {
	node     string
	receiver *Receiver
	zone     func(name string) *time.Location
}

// render makes the message of a row that is about to leave. others are the rows
// that it tells of as well.
func (sc *scene) render(r *row, others []*row) {
	w := wordsOf(sc.receiver.Language)
	zone := sc.receiver.Zone
	if zone == nil {
		zone = sc.zone(r.facts.Zone)
	}
	count, first, last := r.Count, r.FirstAt, r.LastAt
	for _, o := range others {
		count += o.Count
		first, last = soonest(first, o.FirstAt), newest(last, o.LastAt)
	}
	v := sc.view(w, r, zone)
	v.Count, v.First, v.Last = count, first.In(zone), last.In(zone)
	title, text := fill(sc.receiver.Title, "{{.Title}}", v), fill(sc.receiver.Text, w.text, v)
	r.msg = pluginapi.Message{
		ID: v.ID, App: r.App, Node: sc.node, Task: v.Task, Event: v.Event, Severity: v.Severity,
		Title: cut(strings.Join(strings.Fields(title), " "), maxTitle), Text: cut(strings.TrimSpace(text), maxText),
		Count: count, First: first, Last: last, LastError: w.error(r.facts.Error), Zone: zone.String(),
	}
	if len(v.Tasks) == 0 {
		r.msg.InstanceID = v.Instance
	}
	for _, t := range v.Tasks {
		r.msg.Tasks = append(r.msg.Tasks, t.Name)
	}
}

// fill executes a template. One that fails, which ParseTemplate cannot foresee,
// gives way to the default: a message in other words is better than none.
func fill(t *template.Template, standard string, v View) string {
	var b strings.Builder
	if t != nil && t.Execute(&b, v) == nil {
		return b.String()
	}
	b.Reset()
	template.Must(template.New("default").Funcs(templateFuncs).Parse(standard)).Execute(&b, v) //nolint:errcheck // tested with every kind of message
	return b.String()
}

func (sc *scene) view(w *words, r *row, zone *time.Location) View {
	f, lead := &r.facts, r.facts.lead()
	v := View{
		ID: strconv.FormatInt(r.ID, 10), App: r.App, Node: sc.node, Task: r.TaskName, Event: lead.Event, Severity: severity(lead.Event),
		TasksMore: f.TasksMore, Like: f.Like, Attempts: f.Attempts, Hosts: f.Hosts,
		Instance: f.Run.Instance, Attempt: f.Run.Attempt, Host: f.Run.Node, Error: w.error(f.Error), Held: f.Held,
	}
	for i := range f.Tallies {
		t := &f.Tallies[i]
		if isFailure(t.Event) {
			v.Failures += t.Count
		}
		if t.Event != lead.Event {
			v.More = append(v.More, w.sentence(t, zone))
		}
	}
	if isFailure(lead.Event) {
		v.Streak = f.Streak
	}
	if len(f.Tasks) > 0 {
		sc.several(w, r, &v)
		return v
	}
	v.Title = w.title(r, lead)
	v.Opening = w.opening(r) + w.sentence(lead, zone)
	return v
}

// title names one task and what became of it.
func (w *words) title(r *row, lead *tally) string {
	space := " "
	title := w.name(r) + space + w.tallyPhrase(lead)
	if lead.Event == recovered {
		sep := ", "
		if !w.isEnglish() {
			sep = "："
		}
		title += sep + w.fixedAfter(lead)
	} else if others := r.Count - lead.Count; others > 0 {
		what := number(others, "other event")
		if !w.isEnglish() {
			what = fmt.Sprintf("%d 个事件", others)
		}
		title += fmt.Sprintf(w.others, what)
	}
	if r.facts.Like > 0 {
		title = fmt.Sprintf(w.like, title, r.facts.Like)
	}
	return title
}

// opening begins the first sentence.
func (w *words) opening(r *row) string {
	switch {
	case !w.isEnglish() && r.facts.Subject:
		return "应用 " + r.App + "：" + w.name(r) + " "
	case !w.isEnglish():
		return "应用 " + r.App + " 的任务 " + r.TaskName + " "
	case r.facts.Subject:
		return "The " + r.TaskName + " of app " + r.App + " " // the name says what it is
	}
	return "Task " + r.TaskName + " of app " + r.App + " "
}

// several fills in what a message about several tasks shows.
func (sc *scene) several(w *words, r *row, v *View) {
	f := &r.facts
	for _, t := range f.Tasks {
		v.Tasks = append(v.Tasks, TaskView{Name: t.Name, Event: t.Event, Count: t.Count, What: w.phrase(t.Event, t.Count)})
	}
	n := len(f.Tasks) + f.TasksMore
	v.Task, v.More, v.Attempts = "", nil, 0
	switch {
	case f.Summary:
		v.Title, v.Error = fmt.Sprintf(w.summary, n), ""
	case isFailure(v.Event):
		v.Title = fmt.Sprintf(w.sameError, n)
	default:
		v.Title = fmt.Sprintf(w.sameOther, n, w.phrase(v.Event, 1))
	}
	v.Opening = v.Title + ":"
	if !w.isEnglish() {
		v.Opening = v.Title + "："
	}
	if w.isEnglish() {
		v.Opening = "App " + r.App + ", " + v.Opening
	} else {
		v.Opening = "应用 " + r.App + "，" + v.Opening
	}
}

// TestMessage makes a message with which a person tries out a notifier.
func (m *Manager) TestMessage(notifier string, now time.Time) pluginapi.Message {
	title, text := "Test message of ax", "App %s on host %s can reach this receiver, which the configuration calls %s."
	if r := m.cfg.Settings().Receivers[notifier]; r != nil && r.Language == Chinese {
		title, text = "ax 测试消息", "主机 %[2]s 上的应用 %[1]s 可以联系到此接收者（配置中的名称：%[3]s）。"
	}
	return pluginapi.Message{
		ID: strconv.FormatInt(m.cfg.IDs.Next(now), 10), App: m.cfg.App, Node: m.cfg.Node, Event: "test", Severity: "info",
		Title: title, Text: fmt.Sprintf(text, m.cfg.App, m.cfg.Node, notifier), Count: 1, First: now, Last: now,
	}
}
