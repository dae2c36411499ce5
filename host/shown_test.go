package host

import (
	"encoding/json"
	"maps"
	"testing"

	"github.com/axsched/ax/host/internal/ax"
	"github.com/axsched/ax/host/internal/redact"
)

// TestShownSchedule: the settings of a trigger are told without its secrets, and
// not at all where nobody knows which these are.
func TestShownSchedule(t *testing.T) {
	t.Parallel()
	redactor := &redact.Redactor{}
	redactor.Set([]string{"hunter2"})
	s := newShowing(catalog{}, redactor)
	s.secret["poll"] = map[string]bool{"token": true, "url": false}
	s.secret["gone"] = nil
	with := json.RawMessage(`{"token":"literal","url":"https://x/?key=hunter2","n":3}`)
	for trigger, want := range map[string]string{
		"poll": `{"n":3,"token":"[secret]","url":"https://x/?key=[secret]"}`, "gone": "",
	} {
		from := ax.Schedule{Trigger: &ax.Use{Name: trigger, With: with}}
		if got := s.schedule(from); string(got.Trigger.With) != want || got.Trigger.Name != trigger {
			t.Errorf("%s: %s, want %s", trigger, got.Trigger.With, want)
		}
		if string(from.Trigger.With) != string(with) {
			t.Errorf("%s: the schedule itself was changed", trigger)
		}
	}
	if plain := (ax.Schedule{Cron: "@daily"}); s.schedule(plain).Cron != "@daily" {
		t.Error("a schedule without trigger is changed")
	}
}

func TestSecretSettings(t *testing.T) {
	t.Parallel()
	schema := `{"type":"object","properties":{
		"url":{"type":"string"}, "token":{"type":"string","writeOnly":true},
		"login":{"type":"object","properties":{"password":{"writeOnly":true}}}, "other":{"$ref":"#/$defs/x"}}}`
	want := map[string]bool{"url": false, "token": true, "login": true, "other": true}
	if got := secretSettings(json.RawMessage(schema)); !maps.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if got := secretSettings(nil); got == nil || len(got) > 0 {
		t.Errorf("without a schema: %v", got)
	}
	if got := secretSettings(json.RawMessage("[")); got != nil {
		t.Errorf("of a broken schema: %v", got)
	}
}
