package secrets

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
)

const schema = `{"type":"object","properties":{
	"url":{"type":"string"},"token":{"type":"string","writeOnly":true},
	"headers":{"type":"object","writeOnly":true,"additionalProperties":{"type":"string"}},
	"auth":{"type":"object","properties":{"user":{"type":"string"},"password":{"type":"string","writeOnly":true}}},
	"keys":{"type":"array","items":{"type":"object","properties":{"secret":{"writeOnly":true}}}},"far":{"$ref":"#/x"}},
	"additionalProperties":{"writeOnly":true}}`

func TestHide(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ settings, shown string }{
		{`{"url":"u","token":"t0","n":12345678901234567890}`, `{"url":"u","token":"[secret]","n":12345678901234567890}`},
		{`{"headers":{"B":"x","A":"y"},"token":""}`, `{"headers":{"B":"[secret]","A":"[secret]"},"token":""}`},
		{`{"auth":{"password":"p","user":"u"}}`, `{"auth":{"password":"[secret]","user":"u"}}`},
		{`{"keys":[{"secret":"a","id":"1"},{"id":"2"}],"far":["x",true,null]}`, `{"keys":[{"secret":"[secret]","id":"1"},{"id":"2"}],"far":["[secret]",true,null]}`},
		{`{"more":{"deep":["x"]}}`, `{"more":{"deep":["[secret]"]}}`},
		{`{}`, `{}`},
	} {
		shown := Hide(json.RawMessage(schema), json.RawMessage(test.settings), true)
		if string(shown) != test.shown {
			t.Errorf("%s is shown as %s, want %s", test.settings, shown, test.shown)
		}
	}
}

func TestHideWithoutSchema(t *testing.T) {
	t.Parallel()
	const settings, want = `{"a":"x","b":[1,"y"]}`, `{"a":"[secret]","b":[1,"[secret]"]}`
	for _, schema := range []string{"{", `[`} {
		if got := Hide(json.RawMessage(schema), json.RawMessage(settings), true); string(got) != want {
			t.Errorf("schema %s: %s", schema, got)
		}
	}
	if got := Hide(nil, json.RawMessage(settings), false); string(got) != want {
		t.Errorf("%s", got)
	}
	if got := Hide(nil, json.RawMessage(settings), true); string(got) != settings {
		t.Errorf("a component without settings of its own: %s", got)
	}
	if got := Hide(nil, json.RawMessage(`{"a":`), true); string(got) != "{}" {
		t.Errorf("no JSON: %s", got)
	}
}

func TestFill(t *testing.T) {
	t.Parallel()
	set := Set{"t": `t"0`, "pass": "p"}
	for _, test := range []struct{ settings, filled string }{
		{`{"url":"u","token":"${secret:t}","n":12345678901234567890}`, `{"url":"u","token":"t\"0","n":12345678901234567890}`},
		{`{"headers":{"Accept":"text/html"},"more":{"deep":"x"}}`, `{"headers":{"Accept":"text/html"},"more":{"deep":"x"}}`},
		{`{"headers":{"A":"Bearer ${secret:pass}, ${secret:pass}","B":""}}`, `{"headers":{"A":"Bearer p, p","B":""}}`},
		{`{"keys":[{"secret":"${secret:pass}","id":"1"}],"far":["x","${secret:pass}"]}`, `{"keys":[{"secret":"p","id":"1"}],"far":["x","p"]}`},
		{`{}`, `{}`},
		{``, ``},
	} {
		got, err := set.Fill(json.RawMessage(schema), json.RawMessage(test.settings), true)
		if err != nil || string(got) != test.filled {
			t.Errorf("%s is filled as %s (%v), want %s", test.settings, got, err, test.filled)
		}
		if err := set.Missing(json.RawMessage(test.settings)); err != nil {
			t.Errorf("%s: %v", test.settings, err)
		}
	}
}

func TestFillRefuses(t *testing.T) {
	t.Parallel()
	set := Set{"t": "t0", "a": "a0"}
	for _, test := range []struct{ settings, field, want string }{
		{`{"token":"hunter2"}`, "token", "a secret is not written down here"},
		{`{"auth":{"password":"[secret]","user":"u"}}`, "auth.password", "a secret is not written down here"},
		{`{"keys":[{"id":"1"},{"secret":"x"}]}`, "keys[1].secret", "a secret is not written down here"},
		{`{"more":"x"}`, "more", "a secret is not written down here"},
		{`{"headers":{"Accept":"text/html","X-Api-Key":"k"}}`, "headers.X-Api-Key", "a secret is not written down here"},
		{`{"headers":{"Cookies":["k"]}}`, "headers.Cookies[0]", "a secret is not written down here"},
		{`{"url":"https://x.example/${secret:t}"}`, "url", "settings that the plugin keeps secret"},
		{`{"auth":{"user":"${secret:t}"}}`, "auth.user", "settings that the plugin keeps secret"},
		{`{"token":"${secret:T}"}`, "token", `there is no secret "T": secrets: in the configuration of this host has a, t`},
		{`{"token":"${secret:t} ${secret:}"}`, "token", `there is no secret ""`},
	} {
		got, err := set.Fill(json.RawMessage(schema), json.RawMessage(test.settings), true)
		field, ok := errors.AsType[*FieldError](err)
		if !ok || got != nil || field.Field != test.field || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %s, %v", test.settings, got, err)
		}
	}
	for schema, settings := range map[string]string{"{": "{}", "{}": "{"} {
		if got, err := set.Fill(json.RawMessage(schema), json.RawMessage(settings), true); err == nil {
			t.Errorf("schema %s, settings %s: %s", schema, settings, got)
		}
	}
	if err := (Set{}).Missing(json.RawMessage(`{"a":"${secret:t}"}`)); err == nil || !strings.Contains(err.Error(), "has none") {
		t.Errorf("a secret of a host without any: %v", err)
	}
}

func TestWhatPeopleMade(t *testing.T) {
	t.Parallel()
	const settings = `{"url":"u","token":"plain","headers":{"Accept":"text/html","Cookie":"c","X":"${secret:t}"},"password":"p","a":["b"]}`
	for known, want := range map[bool]string{
		true:  `{"url":"u","token":"[secret]","headers":{"Accept":"text/html","Cookie":"[secret]","X":"${secret:t}"},"password":"[secret]","a":["[secret]"]}`,
		false: `{"url":"u","token":"[secret]","headers":{"Accept":"text/html","Cookie":"[secret]","X":"${secret:t}"},"password":"[secret]","a":["b"]}`,
	} {
		of := schema
		if !known {
			of = ""
		}
		if got := HideMade(json.RawMessage(of), json.RawMessage(settings), known); string(got) != want {
			t.Errorf("known %v: %s", known, got)
		}
	}
	got, err := Set{"t": "t0"}.Fill(nil, json.RawMessage(`{"url":"${secret:t}","n":"x"}`), false)
	if err != nil || string(got) != `{"url":"t0","n":"x"}` {
		t.Errorf("without a schema: %s, %v", got, err)
	}
	if _, err := (Set{}).Fill(nil, json.RawMessage(`{"db":{"password":"x"}}`), false); err == nil {
		t.Error("a password is taken")
	}
}
