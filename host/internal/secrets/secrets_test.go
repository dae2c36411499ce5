package secrets

import (
	"encoding/json"
	"errors"
	"testing"
)

const schema = `{"type":"object","properties":{
	"url":{"type":"string"},"token":{"type":"string","writeOnly":true},
	"headers":{"type":"object","writeOnly":true,"additionalProperties":{"type":"string"}},
	"auth":{"type":"object","properties":{"user":{"type":"string"},"password":{"type":"string","writeOnly":true}}},
	"keys":{"type":"array","items":{"type":"object","properties":{"secret":{"writeOnly":true}}}},"far":{"$ref":"#/x"}},
	"additionalProperties":{"writeOnly":true}}`

func TestHideAndRestore(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ settings, shown string }{
		{`{"url":"u","token":"t0","n":12345678901234567890}`, `{"url":"u","token":"[secret]","n":12345678901234567890}`},
		{`{"headers":{"B":"x","A":"y"},"token":""}`, `{"headers":{"B":"[secret]","A":"[secret]"},"token":""}`},
		{`{"auth":{"password":"p","user":"u"}}`, `{"auth":{"password":"[secret]","user":"u"}}`},
		{`{"keys":[{"secret":"a","id":"1"},{"id":"2"}],"far":["x",true,null]}`, `{"keys":[{"secret":"[secret]","id":"1"},{"id":"2"}],"far":["[secret]",true,null]}`},
		{`{"more":{"deep":["x"]}}`, `{"more":{"deep":["[secret]"]}}`},
		{`{}`, `{}`},
	} {
		shown := Hide(json.RawMessage(schema), json.RawMessage(test.settings), false)
		if string(shown) != test.shown {
			t.Errorf("%s is shown as %s, want %s", test.settings, shown, test.shown)
		}
		if back, err := Restore(shown, json.RawMessage(test.settings)); err != nil || string(back) != test.settings {
			t.Errorf("%s comes back as %s (%v)", test.settings, back, err)
		}
	}
}

func TestHideWithoutSchema(t *testing.T) {
	t.Parallel()
	const settings, want = `{"a":"x","b":[1,"y"]}`, `{"a":"[secret]","b":[1,"[secret]"]}`
	for _, schema := range []string{"{", `[`} {
		if got := Hide(json.RawMessage(schema), json.RawMessage(settings), false); string(got) != want {
			t.Errorf("schema %s: %s", schema, got)
		}
	}
	if got := Hide(nil, json.RawMessage(settings), true); string(got) != want {
		t.Errorf("%s", got)
	}
	if got := Hide(nil, json.RawMessage(settings), false); string(got) != settings {
		t.Errorf("a component without settings of its own: %s", got)
	}
	if got := Hide(nil, json.RawMessage(`{"a":`), false); string(got) != "{}" {
		t.Errorf("no JSON: %s", got)
	}
}

func TestChangedSecrets(t *testing.T) {
	t.Parallel()
	old := json.RawMessage(`{"token":"t0","auth":{"password":"p"},"list":["a"]}`)
	if got, err := Restore(json.RawMessage(`{"token":"new","auth":{"password":"[secret]","user":"u"}}`), old); err != nil || string(got) != `{"token":"new","auth":{"password":"p","user":"u"}}` {
		t.Errorf("%s %v", got, err)
	}
	for settings, field := range map[string]string{
		`{"other":"[secret]"}`: "other", `{"auth":{"key":"[secret]"}}`: "auth.key", `{"list":["[secret]","[secret]"]}`: "list[1]", `{"auth":"[secret]"}`: "auth",
	} {
		_, err := Restore(json.RawMessage(settings), old)
		if lost, ok := errors.AsType[*LostError](err); !ok || lost.Field != field {
			t.Errorf("%s: %v", settings, err)
		}
	}
	if _, err := Restore(json.RawMessage(`{"a":"[secret]"}`), nil); err == nil {
		t.Error("a mark without anything before it is taken")
	}
}
