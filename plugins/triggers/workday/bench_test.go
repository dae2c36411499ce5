package main

import (
	"io"
	"testing"
	"time"

	"github.com/axsched/ax/pluginapi/calendar"
)

func BenchmarkNext(b *testing.B) {
	days, err := calendar.New(calendar.Spec{
		Name: "week", Weekly: mondayToFriday, Closed: []calendar.Rule{calendar.EveryYear(time.May, 1)},
	})
	if err != nil {
		b.Fatal(err)
	}
	for name, settings := range map[string]string{
		"every":   `{"calendar":"week","time":"10:00"}`,
		"nth":     `{"calendar":"week","mode":"nth","n":-1}`,
		"next":    `{"calendar":"week","mode":"next","day":15}`,
		"before":  `{"calendar":"week","mode":"before"}`,
		"after":   `{"calendar":"week","mode":"after"}`,
		"cron":    `{"calendar":"week","mode":"cron","cron":"0 0 10 * * ?"}`,
		"shifted": `{"calendar":"week","mode":"cron","cron":"0 0 10 * * ?","on_closed":"next"}`,
	} {
		b.Run(name, func(b *testing.B) {
			due, err := build(settings, time.UTC, map[string]*calendar.Calendar{"week": days}, io.Discard)
			if err != nil {
				b.Fatal(err)
			}
			after := time.Date(2026, time.February, 12, 12, 0, 0, 0, time.UTC)
			for b.Loop() {
				if _, err := due.Next(b.Context(), after); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
