package api

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/axsched/ax/host/internal/preview"
)

// DefinitionBackend is what the API asks of the host about the definitions of
// tasks. Those that people make have the keys of a task in the configuration, as
// YAML or JSON, and are held to the same rules: their faults are an *Invalid whose
// places are "body" and the key, such as body.job.with.command[0].
type DefinitionBackend interface {
	// Definition returns how a task is defined, also one of the configuration.
	Definition(ctx context.Context, name string) (Definition, error)
	// CheckTask says what a definition would do, and keeps nothing. replaces names
	// the task that it would replace, empty for none. Faults are a part of the
	// answer.
	CheckTask(ctx context.Context, text []byte, replaces string) (TaskCheck, error)
	// CreateTask makes a task. A name that is in use is a *Conflict.
	CreateTask(ctx context.Context, text []byte, actor string) (Definition, error)
	// ReplaceTask defines a task anew that people have made, DeleteTask removes one.
	// A task of the configuration is a *Conflict, another version than the one of
	// the edit a *Stale.
	ReplaceTask(ctx context.Context, name string, text []byte, e Edit) (Definition, error)
	DeleteTask(ctx context.Context, name string, e Edit) error
	// Components returns what the plugins of this host offer, by name.
	Components(ctx context.Context) ([]ComponentSchema, error)
}

// Edit is a change of a definition.
type Edit struct {
	// Version is the one that the editor has seen; 0 stands for any.
	Version int64
	Actor   string
}

// Definition is how a task is defined.
type Definition struct {
	Name      string          `json:"name"`
	Version   int64           `json:"version" doc:"Grows with each change of the definition; If-Match takes it"`
	Source    string          `json:"source" doc:"\"console\" for a task that people have made and can change here; else file:line"`
	YAML      string          `json:"yaml" doc:"As an entry of tasks: in the configuration; secrets are named, and [secret] stands for those of a file"`
	Task      json.RawMessage `json:"task" doc:"The same as an object"`
	UpdatedAt time.Time       `json:"updated_at,omitzero" required:"false"`
	UpdatedBy string          `json:"updated_by,omitempty"`
	Warnings  []TaskFault     `json:"warnings,omitempty" nullable:"false" doc:"What may be meant, but probably is not"`
}

// SourceConsole is the source of tasks that people have made.
const SourceConsole = "console"

// TaskFault is one thing about a definition.
type TaskFault struct {
	Field   string `json:"field,omitempty" doc:"The key that it is about, such as job.with.command[0]; absent for the whole"`
	Message string `json:"message"`
}

// BodyField is where a fault is in a request whose body is a definition.
func BodyField(field string) string {
	if field == "" {
		return "body"
	}
	return "body." + field
}

// TaskCheck says what a definition would do.
type TaskCheck struct {
	Name     string           `json:"name,omitempty"`
	Faults   []TaskFault      `json:"faults" nullable:"false" doc:"What is wrong with it; it is good if there are none"`
	Warnings []TaskFault      `json:"warnings" nullable:"false" doc:"What may be meant, but probably is not"`
	Words    *preview.Words   `json:"words,omitempty" doc:"The schedule in plain language"`
	Timezone string           `json:"timezone,omitempty"`
	Times    []time.Time      `json:"times" nullable:"false" doc:"When it would be due next"`
	Beyond   []preview.Beyond `json:"beyond,omitempty" nullable:"false" doc:"Those in years for which a calendar has no list"`
	Note     string           `json:"note,omitempty" doc:"Why the times are not known"`
	YAML     string           `json:"yaml,omitempty" doc:"What get-definition would show of it, if nothing is wrong with it"`
}

// ComponentSchema is a component with what its settings may be.
type ComponentSchema struct {
	Kind        string          `json:"kind"`
	Name        string          `json:"name"`
	Plugin      string          `json:"plugin"`
	Description string          `json:"description,omitempty"`
	Schema      json.RawMessage `json:"schema,omitempty" doc:"JSON Schema of its settings; writeOnly ones are secret"`
}

// ComponentList is a page of components.
type ComponentList struct {
	Components []ComponentSchema `json:"components" nullable:"false"`
	Next       string            `json:"next,omitempty" doc:"Value of after for the next page; absent on the last one"`
}

func (s *server) definitionRoutes() {
	tags := []string{"tasks"}
	register(s, huma.Operation{
		OperationID: "get-definition", Method: http.MethodGet, Path: Base + "/tasks/{name}/definition", Tags: tags,
		Summary: "Show how a task is defined", Errors: []int{http.StatusNotFound},
	}, s.getDefinition)
	register(s, huma.Operation{
		OperationID: "check-task", Method: http.MethodPost, Path: Base + "/tasks/check", Tags: tags,
		Summary: "Say what a definition would do, and keep nothing",
	}, s.checkTask)
	register(s, huma.Operation{
		OperationID: "create-task", Method: http.MethodPost, Path: Base + "/tasks", Tags: tags, DefaultStatus: http.StatusCreated,
		Summary:     "Make a task",
		Description: "The body has the keys of a task in the configuration. It is kept in the database and known to all hosts of the app. A shell command needs an administrator.",
		Errors:      []int{http.StatusForbidden, http.StatusConflict, http.StatusUnprocessableEntity},
	}, s.createTask)
	register(s, huma.Operation{
		OperationID: "replace-task", Method: http.MethodPut, Path: Base + "/tasks/{name}", Tags: tags,
		Summary:     "Define a task anew that was made here",
		Description: "If-Match tells which version is replaced; \"*\" stands for any.",
		Errors:      editErrors(),
	}, s.replaceTask)
	register(s, huma.Operation{
		OperationID: "delete-task", Method: http.MethodDelete, Path: Base + "/tasks/{name}", Tags: tags, DefaultStatus: http.StatusNoContent,
		Summary:     "Delete a task that was made here",
		Description: "Its history stays. If-Match tells which version is deleted; \"*\" stands for any.",
		Errors:      editErrors(),
	}, s.deleteTask)
	register(s, huma.Operation{
		OperationID: "list-components", Method: http.MethodGet, Path: Base + "/components", Tags: []string{"host"},
		Summary: "List what plugins offer, with the schemas of the settings",
	}, s.listComponents)
	for path, method := range map[string]string{"/tasks/check": http.MethodPost, "/tasks": http.MethodPost, "/tasks/{name}": http.MethodPut} {
		s.describeBody(Base+path, method)
	}
}

func editErrors() []int {
	return []int{
		http.StatusForbidden, http.StatusNotFound, http.StatusConflict, http.StatusPreconditionFailed,
		http.StatusUnprocessableEntity, http.StatusPreconditionRequired,
	}
}

// describeBody tells in the document that a definition may be JSON as well.
func (s *server) describeBody(path, method string) {
	item := s.api.OpenAPI().Paths[path]
	op := item.Post
	if method == http.MethodPut {
		op = item.Put
	}
	text := &huma.Schema{Type: huma.TypeString}
	object := &huma.Schema{
		Type: huma.TypeObject, Required: []string{"name", "job"}, AdditionalProperties: true,
		Description: "A task with the keys of the configuration: name, job and one of cron, every, delay, at or trigger, and more.",
		Properties: map[string]*huma.Schema{
			"name": {Type: huma.TypeString},
			"job": {Type: huma.TypeObject, Required: []string{"use"}, AdditionalProperties: true, Properties: map[string]*huma.Schema{
				"use": {Type: huma.TypeString}, "with": {Type: huma.TypeObject, AdditionalProperties: true},
			}},
		},
		Examples: []any{map[string]any{
			"name": "disk-space", "cron": "0 0 10 ? * MON-FRI", "timezone": "Asia/Shanghai",
			"job": map[string]any{"use": "exec", "with": map[string]any{"command": []string{"df", "-h"}}},
		}},
	}
	op.RequestBody.Required = true
	op.RequestBody.Content = map[string]*huma.MediaType{"application/yaml": {Schema: text}, "application/json": {Schema: object}}
}

// Written is the part of an input that holds a definition; see Named.
type Written struct {
	RawBody []byte `contentType:"application/yaml"`
}

// definitionReply carries a definition with its version.
type definitionReply struct {
	ETag     string `header:"ETag"`
	Location string `header:"Location"`
	Body     Definition
}

func versioned(d Definition, err error) (*definitionReply, error) {
	if err != nil {
		return nil, err
	}
	return &definitionReply{ETag: tagOf(d.Version), Body: d}, nil
}

type checkInput struct {
	Replaces string `query:"replaces" maxLength:"255" doc:"The task that it would replace"`
	Written
}

func (s *server) checkTask(ctx context.Context, in *checkInput) (*reply[TaskCheck], error) {
	check, err := s.backend.CheckTask(ctx, in.RawBody, in.Replaces)
	if err != nil {
		return nil, err
	}
	check.Faults, check.Warnings, check.Times = orEmpty(check.Faults), orEmpty(check.Warnings), orEmpty(check.Times)
	return &reply[TaskCheck]{check}, nil
}

type createInput struct {
	Acting
	Written
}

func (s *server) createTask(ctx context.Context, in *createInput) (*definitionReply, error) {
	made, err := versioned(s.backend.CreateTask(ctx, in.RawBody, in.Actor))
	if err == nil {
		made.Location = Base + "/tasks/" + url.PathEscape(made.Body.Name)
	}
	return made, err
}

type replaceInput struct {
	Named
	Acting
	Expecting
	Written
}

func (s *server) replaceTask(ctx context.Context, in *replaceInput) (*definitionReply, error) {
	version, err := in.version()
	if err != nil {
		return nil, err
	}
	return versioned(s.backend.ReplaceTask(ctx, in.Name, in.RawBody, Edit{version, in.Actor}))
}

type deleteInput struct {
	Named
	Acting
	Expecting
}

func (s *server) deleteTask(ctx context.Context, in *deleteInput) (*struct{}, error) {
	version, err := in.version()
	if err != nil {
		return nil, err
	}
	return nil, s.backend.DeleteTask(ctx, in.Name, Edit{version, in.Actor})
}

type definitionQuery struct {
	Named
	Conditional
}

func (s *server) getDefinition(ctx context.Context, in *definitionQuery) (*tagged[Definition], error) {
	d, err := s.backend.Definition(ctx, in.Name)
	return tag(d, tagOf(d.Version), in.Conditional, err)
}

type componentQuery struct {
	Kind string `query:"kind" enum:"job,trigger,notifier,params,listener" doc:"Only of this kind"`
	Paging
}

func (s *server) listComponents(ctx context.Context, in *componentQuery) (*reply[ComponentList], error) {
	all, err := s.backend.Components(ctx)
	if err != nil {
		return nil, err
	}
	var list []ComponentSchema
	for _, c := range all {
		if in.Kind == "" || c.Kind == in.Kind {
			list = append(list, c)
		}
	}
	rows, next := paged(list, in.Paging, func(c ComponentSchema) string { return c.Kind + " " + c.Plugin + "/" + c.Name })
	return &reply[ComponentList]{ComponentList{rows, next}}, nil
}
