package main

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"strings"
	"time"

	"github.com/axsched/ax/pluginapi"
	"github.com/axsched/ax/plugins/internal/notice"
	"github.com/axsched/ax/plugins/internal/webcall"
)

const (
	// maxPagerDuty is what the events API takes, in bytes of JSON.
	maxPagerDuty = 512_000
	// maxSummary is the length of a summary, in runes.
	maxSummary = 1024
)

// pagerDuty is the events API of PagerDuty, version 2. All that is told of a
// task is one alert, which its recovery resolves.
type pagerDuty struct{ key string }

// pagerEvent is the body of a request.
type pagerEvent struct {
	Key      string       `json:"routing_key"`
	Action   string       `json:"event_action"`
	DedupKey string       `json:"dedup_key"`
	Client   string       `json:"client"`
	Payload  pagerPayload `json:"payload"`
}

type pagerPayload struct {
	Summary   string         `json:"summary"`
	Source    string         `json:"source"`
	Severity  string         `json:"severity"` // info, warning or error, as our messages have it
	Timestamp string         `json:"timestamp,omitempty"`
	Component string         `json:"component,omitempty"`
	Group     string         `json:"group,omitempty"`
	Class     string         `json:"class"`
	Details   map[string]any `json:"custom_details"`
}

func (p pagerDuty) body(msg pluginapi.Message) ([]byte, error) {
	return encodeWithin(maxPagerDuty, notice.Of(msg, notice.English), func(n notice.Notice) any {
		e := pagerEvent{Key: p.key, Action: "trigger", DedupKey: dedupKey(msg), Client: "ax"}
		if notice.Recovered(msg) {
			e.Action = "resolve"
		}
		e.Payload = pagerPayload{
			Summary: notice.Cut(cmp.Or(n.Title, msg.Event), maxSummary), Source: cmp.Or(msg.Node, msg.App, "ax"),
			Severity: cmp.Or(msg.Severity, "info"), Component: msg.Task, Group: msg.App, Class: msg.Event,
			Details: map[string]any{"text": n.Prose, "error": n.Error, "count": msg.Count, "instance_id": msg.InstanceID},
		}
		if !msg.Last.IsZero() {
			e.Payload.Timestamp = msg.Last.Format(time.RFC3339)
		}
		return e
	})
}

// dedupKey is the same for all messages about a task; one about none, or a
// test, is an alert of its own.
func dedupKey(msg pluginapi.Message) string {
	parts := []string{"task", msg.App, msg.Task}
	if msg.Task == "" || msg.Event == "test" {
		parts = []string{"message", msg.App, msg.ID}
	}
	sum := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
	return "ax-" + hex.EncodeToString(sum[:])
}

// judge reads what is wrong with an event; other statuses speak for themselves.
func (pagerDuty) judge(answer *webcall.Answer) error {
	r := &webcall.RefusalError{Key: "status", Code: answer.StatusCode}
	switch {
	case answer.StatusCode == http.StatusTooManyRequests && answer.Header.Get("Retry-After") == "":
		r.Text, r.Blocked = "too many events", time.Minute
		return r
	case answer.StatusCode == http.StatusBadRequest && json.Valid([]byte(answer.Text)):
		var said struct {
			Message string   `json:"message"`
			Errors  []string `json:"errors"`
		}
		_ = json.Unmarshal([]byte(answer.Text), &said) // as much as there is of it
		r.Text = notice.OneLine(notice.Join(append([]string{said.Message}, said.Errors...), ": "), maxQuote)
		r.Trouble = webcall.Trouble{Cure: "secret: is it the integration key of a service?", Permanent: true}
		return r
	}
	return nil
}
