package main

import (
	"errors"
	"fmt"
	"net/url"
	"text/template"

	"github.com/axsched/ax/pluginapi"
	"github.com/axsched/ax/plugins/internal/notice"
	"github.com/axsched/ax/plugins/internal/webcall"
)

// Kinds of message, as DingTalk calls them.
const (
	typeText       = "text"
	typeMarkdown   = "markdown"
	typeActionCard = "actionCard"
)

const atAlways = "always"

// settings are what a receiver gives in `with:`.
type settings struct {
	URL       string             `json:"url" ax:"required,secret,format=uri" doc:"Webhook URL of the robot, with its access_token. Only its host is shown in errors."`
	Secret    string             `json:"secret" ax:"secret" doc:"Key of the robot (SEC…), if its security setting is the signature."`
	Keyword   string             `json:"keyword" doc:"A word that the robot demands, if its security setting is keywords. It is added to titles without it."`
	Type      string             `json:"type" ax:"enum=text|markdown|actionCard,default=markdown" doc:"Kind of message. An actionCard has a button for link, but mentions nobody."`
	Link      string             `json:"link" doc:"Go text/template of the URL behind the button of an actionCard: https://ax.example.com/{{.InstanceID}}"`
	AtMobiles []string           `json:"at_mobiles" ax:"pattern=^[+0-9-]+$" doc:"Mobile numbers of members to mention."`
	AtUserIDs []string           `json:"at_user_ids" ax:"min=1" doc:"User ids of members to mention."`
	AtAll     bool               `json:"at_all" doc:"Mention everybody."`
	AtOn      string             `json:"at_on" ax:"enum=error|always,default=error" doc:"error mentions in messages about errors only."`
	Lang      string             `json:"lang" ax:"enum=en|zh,default=en" doc:"Language of the message: English or Chinese."`
	Timeout   pluginapi.Duration `json:"timeout" ax:"default=10s,min=1ms,max=5m" doc:"For one request."`
}

// check reports all faults that the schema cannot express, none of which
// quotes a secret.
func (s *settings) check() (*url.URL, *template.Template, error) {
	u, err := webcall.ParseURL(s.URL)
	if err != nil {
		err = fmt.Errorf("url: %w", err)
	}
	errs := []error{err}
	link, err := s.parseLink()
	errs = append(errs, err)
	if s.Type == typeActionCard && (s.AtAll || len(s.AtMobiles)+len(s.AtUserIDs) > 0) {
		errs = append(errs, errors.New("at_all, at_mobiles, at_user_ids: an actionCard mentions nobody; choose type: markdown"))
	}
	return u, link, errors.Join(errs...)
}

// parseLink tries the link out, so that a misspelt field shows before there is
// trouble to report. It is nil where no link is needed.
func (s *settings) parseLink() (*template.Template, error) {
	if s.Type != typeActionCard {
		return nil, nil
	}
	if s.Link == "" {
		return nil, errors.New("link: is required for an actionCard")
	}
	link, err := template.New("link").Funcs(template.FuncMap{"in": notice.In}).Parse(s.Link)
	if err != nil {
		return nil, err
	}
	_, err = execute(link, pluginapi.Message{ID: "1", InstanceID: "1", App: "app", Task: "task"})
	return link, err
}

// mentions says whether a message mentions those whom the settings name.
func (s *settings) mentions(msg pluginapi.Message) bool {
	return s.AtOn == atAlways || notice.IsError(msg)
}
