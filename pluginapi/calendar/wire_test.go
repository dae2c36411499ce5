package calendar

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestWireRoundTrip(t *testing.T) {
	t.Parallel()
	cn := china(t)
	calendars := map[string]*Calendar{
		"china": cn,
		"empty": build(t, Spec{Name: "empty"}),
		"none":  build(t, Spec{Name: "none", Weekly: []time.Weekday{}}),
		"layered": build(t, Spec{
			Name:    "<layered> \u2028 \"公司\"",
			Closed:  []Rule{EveryMonth(-1), EveryYear(time.February, 29), rule(t, "2025-01-01..2026-12-31", "a & b")},
			Open:    []Rule{rule(t, "2026-02-16", "on duty")},
			Extends: []*Calendar{cn},
		}),
	}
	for name, want := range calendars {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := Unmarshal(want.Marshal())
			if err != nil {
				t.Fatal(err)
			}
			if got.Hash() != want.Hash() || !bytes.Equal(got.Marshal(), want.Marshal()) || got.Name() != want.Name() {
				t.Errorf("got %s\nwant %s", got.Marshal(), want.Marshal())
			}
			for d := date(t, "2023-06-01"); d.Year < 2029; d = d.AddDays(1) {
				if g, w := got.Explain(d), want.Explain(d); g != w {
					t.Fatalf("got %+v, want %+v", g, w)
				}
			}
		})
	}
	if size := len(cn.Marshal()); size > 5000 {
		t.Errorf("three years take %d bytes on the wire", size)
	}
}

func TestHash(t *testing.T) {
	t.Parallel()
	cn := china(t)
	closed := cn.own().closed.rules
	reversed := slices.Clone(closed)
	slices.Reverse(reversed)
	spec := Spec{Name: "cn", Weekly: mondayToFriday, Closed: closed, Open: cn.own().open.rules}
	same := spec
	same.Closed = reversed
	if build(t, same).Hash() != cn.Hash() {
		t.Error("the order of rules changes the hash")
	}
	fewer := spec
	fewer.Closed = closed[1:]
	if build(t, fewer).Hash() == cn.Hash() {
		t.Error("a missing rule does not change the hash")
	}
	everyDay := spec
	everyDay.Weekly = nil
	if build(t, everyDay).Hash() == cn.Hash() {
		t.Error("the weekly pattern does not change the hash")
	}
}

func TestMarshalIsACopy(t *testing.T) {
	t.Parallel()
	c := build(t, Spec{Name: "a"})
	clear(c.Marshal())
	if _, err := Unmarshal(c.Marshal()); err != nil {
		t.Errorf("the calendar was changed through its wire form: %v", err)
	}
}

func TestUnmarshalRefuses(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                      "decoding calendar",
		`{"v":2,"layers":[]}`:   "expected version 1, got 2",
		`{"v":1,"layers":[]}`:   "no layers",
		`{"v":1,"what":0}`:      "unknown field",
		`{"v":1,"layers":[{}]}`: "name is empty",
		`{"v":1,"layers":[{"name":"a","closed":[{"d":"x"}]}]}`: `layer "a"`,
		`{"v":1,"layers":[{"name":"a","weekly":[9]}]}`:         "no weekday 9",
	} {
		if _, err := Unmarshal([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Unmarshal(%s): got error %v, want one with %q", text, err, want)
		}
	}
}
