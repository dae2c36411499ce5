package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"mime"
	"strings"
	"text/template"
	"time"

	"github.com/axsched/ax/pluginapi"
)

// bodyMaker makes the body of a request.
type bodyMaker func(msg pluginapi.Message) ([]byte, error)

// newBody makes a bodyMaker of settings and tries a template out, so that a
// misspelt field or a forgotten json shows before there is trouble to report.
func newBody(cfg *settings) (bodyMaker, error) {
	if cfg.Template == "" {
		return func(msg pluginapi.Message) ([]byte, error) { return json.Marshal(msg) }, nil
	}
	t, err := template.New("template").Funcs(template.FuncMap{"json": jsonText, "in": inZone}).Parse(cfg.Template)
	if err != nil {
		return nil, err
	}
	render := func(msg pluginapi.Message) ([]byte, error) {
		var body bytes.Buffer
		err := t.Execute(&body, msg)
		return body.Bytes(), err
	}
	body, err := render(sample())
	if err != nil {
		return nil, err
	}
	if isJSON(cfg.ContentType) && !json.Valid(body) {
		return nil, errors.New("template: does not make valid JSON from texts with quotes and line breaks: write {{json .Text}} instead of \"{{.Text}}\"")
	}
	return render, nil
}

func isJSON(contentType string) bool {
	kind, _, err := mime.ParseMediaType(contentType)
	return err == nil && (kind == "application/json" || strings.HasSuffix(kind, "+json"))
}

func jsonText(value any) (string, error) {
	raw, err := json.Marshal(value)
	return string(raw), err
}

// inZone moves an instant to a zone by its IANA name. An unknown one means
// UTC, since a message must get through.
func inZone(zone string, at time.Time) time.Time {
	location, err := time.LoadLocation(zone)
	if err != nil {
		return at.UTC()
	}
	return at.In(location)
}

// sample is a message whose texts hold whatever makes templates stumble.
func sample() pluginapi.Message {
	text := func(name string) string { return fmt.Sprintf("%s with \"quotes\", \\, a tab\t and\nlines", name) }
	at := time.Date(2026, 3, 1, 10, 0, 0, 0, time.UTC)
	return pluginapi.Message{
		ID: "0", App: "app", Node: "node", Task: text("task"), Event: "test", Severity: "info",
		Title: text("title"), Text: text("text"), Count: 2, First: at, Last: at,
		LastError: text("error"), InstanceID: "0", Zone: "Asia/Shanghai",
	}
}
