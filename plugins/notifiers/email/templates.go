package main

import (
	_ "embed"
	"errors"
	"fmt"
	html "html/template"
	"io"
	"strings"
	text "text/template"

	"github.com/axsched/ax/pluginapi"
	"github.com/axsched/ax/plugins/internal/notice"
)

const defaultSubject = `[{{.App}}] {{.Notice.Title}}`

//go:embed default.txt
var defaultText string

//go:embed default.html
var defaultHTML string

// page is what templates see.
type page struct {
	pluginapi.Message
	Notice notice.Notice
	Colour string // #RRGGBB by severity
	Lang   string
}

// words are the three texts of a letter.
type words struct{ subject, plain, html string }

type templates struct {
	subject, plain *text.Template
	html           *html.Template
}

// newTemplates parses the templates of settings and tries them out, so that a
// misspelt field shows before there is trouble to report.
func newTemplates(cfg *settings) (*templates, error) {
	functions := map[string]any{"in": notice.In}
	var t templates
	var errs [3]error
	t.subject, errs[0] = text.New("subject").Funcs(functions).Parse(orElse(cfg.Subject, defaultSubject))
	t.plain, errs[1] = text.New("text").Funcs(functions).Parse(orElse(cfg.Text, defaultText))
	t.html, errs[2] = html.New("html").Funcs(functions).Parse(orElse(cfg.HTML, defaultHTML))
	if err := errors.Join(errs[:]...); err != nil {
		return nil, err
	}
	sample := notice.Sample()
	_, err := t.execute(page{sample, notice.Of(sample, cfg.Lang), notice.Colour(sample), cfg.Lang})
	return &t, err
}

func orElse(given, fallback string) string {
	if given == "" {
		return fallback
	}
	return given
}

func (t *templates) execute(p page) (words, error) {
	var subject, plain, html strings.Builder
	for _, part := range []struct {
		template interface{ Execute(io.Writer, any) error }
		into     *strings.Builder
	}{{t.subject, &subject}, {t.plain, &plain}, {t.html, &html}} {
		if err := part.template.Execute(part.into, p); err != nil {
			return words{}, fmt.Errorf("make the letter: %w", err)
		}
	}
	return words{subject.String(), plain.String(), html.String()}, nil
}
