package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/axsched/ax/pluginapi"
	"github.com/axsched/ax/plugins/internal/notice"
	"github.com/axsched/ax/plugins/internal/webcall"
)

// Values of the setting preset; it is empty by default.
const (
	presetWeCom     = "wecom"
	presetFeishu    = "feishu"
	presetTeams     = "teams"
	presetPagerDuty = "pagerduty"
)

// receiver is how the other side wants messages.
type receiver interface {
	// body makes the body of a request.
	body(msg pluginapi.Message) ([]byte, error)
	// judge reads the body of an answer of any status; nil leaves the verdict
	// to the status. What a code says is a *webcall.RefusalError.
	judge(answer *webcall.Answer) error
}

func (s *sender) newReceiver(cfg *settings) (receiver, error) {
	switch cfg.Preset {
	case presetWeCom:
		return weCom{cfg.Lang}, nil
	case presetFeishu:
		return feishu{cfg.Lang, cfg.Secret, s.now}, nil
	case presetTeams:
		return teams{cfg.Lang}, nil
	case presetPagerDuty:
		return pagerDuty{cfg.Secret}, nil
	}
	return newTemplate(cfg)
}

// newPaces makes the pace of each kind of receiver. One that is not known has
// no limit that we could reach, but may close for a while.
func newPaces() map[string]*notice.Paces {
	const unlimited = 1000 // calls under way at a time
	return map[string]*notice.Paces{
		"":              notice.NewPaces(unlimited, 0),
		presetPagerDuty: notice.NewPaces(unlimited, 0),
		presetWeCom:     notice.NewPaces(20, time.Minute),
		presetFeishu:    notice.NewPaces(5, 3*time.Second), // 100 a minute, 5 a second
		presetTeams:     notice.NewPaces(4, time.Second),
	}
}

// encode writes JSON in which < is one byte and not six.
func encode(value any) ([]byte, error) {
	var raw bytes.Buffer
	encoder := json.NewEncoder(&raw)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		return nil, fmt.Errorf("encode the message: %w", err)
	}
	return bytes.TrimSpace(raw.Bytes()), nil
}

// encodeWithin encodes what layout makes of n. If that is more than limit
// bytes, the end of the details gives way.
func encodeWithin(limit int, n notice.Notice, layout func(notice.Notice) any) ([]byte, error) {
	n, fits := n.Shrink(func(n notice.Notice) bool {
		raw, err := encode(layout(n))
		return err != nil || len(raw) <= limit
	})
	if !fits {
		return nil, errors.New("the message is too long even without its details")
	}
	return encode(layout(n))
}

// marked is a notice with a sign for its severity in the title.
func marked(msg pluginapi.Message, lang string) notice.Notice {
	n := notice.Of(msg, lang)
	n.Title = notice.Mark(msg) + " " + n.Title
	return n
}
