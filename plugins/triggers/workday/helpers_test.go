package main

import (
	"bytes"
	"encoding/json"
	"io"
	"log/slog"
	"os"
	"testing"
	"time"

	"github.com/axsched/ax/pluginapi"
	"github.com/axsched/ax/pluginapi/calendar"
)

var mondayToFriday = []time.Weekday{time.Monday, time.Tuesday, time.Wednesday, time.Thursday, time.Friday}

// chinaDays are the published days of 2024 to 2026.
func chinaDays(t *testing.T) (closed, open []calendar.Rule) {
	t.Helper()
	data, err := os.ReadFile("testdata/cn-2024-2026.csv")
	if err != nil {
		t.Fatal(err)
	}
	closed, open, err = calendar.ParseCSV(bytes.NewReader(data), "cn.csv")
	if err != nil {
		t.Fatal(err)
	}
	return closed, open
}

// calendars are those that the tests name.
func calendars(t *testing.T) map[string]*calendar.Calendar {
	t.Helper()
	closed, open := chinaDays(t)
	specs := []calendar.Spec{
		{Name: "cn", Weekly: mondayToFriday, Closed: closed, Open: open},
		{Name: "week", Weekly: mondayToFriday},
		{Name: "closed", Weekly: []time.Weekday{}},
		{Name: "no month end", Closed: []calendar.Rule{calendar.EveryMonth(-1)}},
	}
	all := map[string]*calendar.Calendar{}
	for _, spec := range specs {
		c, err := calendar.New(spec)
		if err != nil {
			t.Fatal(err)
		}
		all[spec.Name] = c
	}
	return all
}

func zone(t *testing.T, name string) *time.Location {
	t.Helper()
	loc, err := time.LoadLocation(name)
	if err != nil {
		t.Fatal(err)
	}
	return loc
}

func build(settings string, loc *time.Location, all map[string]*calendar.Calendar, log io.Writer) (pluginapi.Trigger, error) {
	built, err := component().Build(json.RawMessage(settings), pluginapi.Env{
		Zone: loc, Calendars: all, Seed: 1, Log: slog.New(slog.NewTextHandler(log, nil)),
	})
	if err != nil {
		return nil, err
	}
	return built.(pluginapi.Trigger), nil
}

func trigger(t *testing.T, settings, zoneName string) pluginapi.Trigger {
	t.Helper()
	built, err := build(settings, zone(t, zoneName), calendars(t), io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	return built
}

// expect asks once for each wanted time, from the answer before; "never"
// stands for the zero time.
func expect(t *testing.T, trigger pluginapi.Trigger, after string, want []string) {
	t.Helper()
	at, err := time.Parse(time.RFC3339, after)
	if err != nil {
		t.Fatal(err)
	}
	for i, text := range want {
		got, err := trigger.Next(t.Context(), at)
		if err != nil {
			t.Fatal(err)
		}
		answer := "never"
		if !got.IsZero() {
			answer = got.Format(time.RFC3339)
		}
		if answer != text {
			t.Fatalf("time %d after %s: got %s, want %s", i+1, after, answer, text)
		}
		at = got
	}
}
