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
	"github.com/axsched/ax/plugins/internal/webcall"
)

// custom is a receiver that wants what a template says.
type custom struct{ template *template.Template }

// newTemplate makes a receiver of settings and tries a template out, so that a
// misspelt field or a forgotten json shows before there is trouble to report.
func newTemplate(cfg *settings) (receiver, error) {
	if cfg.Template == "" {
		return plain{}, nil
	}
	parsed, err := template.New("template").Funcs(template.FuncMap{"json": jsonText, "in": notice.In}).Parse(cfg.Template)
	if err != nil {
		return nil, err
	}
	c := custom{parsed}
	body, err := c.body(notice.Sample())
	if err != nil {
		return nil, err
	}
	if isJSON(cfg.ContentType) && !json.Valid(body) {
		return nil, errors.New("template: does not make valid JSON from texts with quotes and line breaks: write {{json .Text}} instead of \"{{.Text}}\"")
	}
	return c, nil
}

func (c custom) body(msg pluginapi.Message) ([]byte, error) {
	var body bytes.Buffer
	err := c.template.Execute(&body, msg)
	return body.Bytes(), err
}

func (custom) judge(*webcall.Answer) error { return nil }

// plain is a receiver that wants the message itself.
type plain struct{}

func (plain) body(msg pluginapi.Message) ([]byte, error) { return json.Marshal(msg) }

func (plain) judge(*webcall.Answer) error { return nil }

func isJSON(contentType string) bool {
	kind, _, err := mime.ParseMediaType(contentType)
	return err == nil && (kind == "application/json" || strings.HasSuffix(kind, "+json"))
}

func jsonText(value any) (string, error) {
	raw, err := json.Marshal(value)
	return string(raw), err
}
