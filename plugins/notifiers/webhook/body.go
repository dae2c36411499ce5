package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"mime"
	"strings"
	"text/template"

	"github.com/axsched/ax/pluginapi"
	"github.com/axsched/ax/plugins/internal/notice"
)

// bodyMaker makes the body of a request.
type bodyMaker func(msg pluginapi.Message) ([]byte, error)

// newBody makes a bodyMaker of settings and tries a template out, so that a
// misspelt field or a forgotten json shows before there is trouble to report.
func newBody(cfg *settings) (bodyMaker, error) {
	if cfg.Template == "" {
		return func(msg pluginapi.Message) ([]byte, error) { return json.Marshal(msg) }, nil
	}
	t, err := template.New("template").Funcs(template.FuncMap{"json": jsonText, "in": notice.In}).Parse(cfg.Template)
	if err != nil {
		return nil, err
	}
	render := func(msg pluginapi.Message) ([]byte, error) {
		var body bytes.Buffer
		err := t.Execute(&body, msg)
		return body.Bytes(), err
	}
	body, err := render(notice.Sample())
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
