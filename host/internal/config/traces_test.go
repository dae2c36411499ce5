package config

import (
	"reflect"
	"testing"
)

// TestTraces: a path is appended where there is none.
func TestTraces(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]Traces{
		"app: a\n": {Percent: 100},
		"app: a\ntraces: {url: 'http://127.0.0.1:4318', percent: 5}\n":                        {URL: "http://127.0.0.1:4318/v1/traces", Percent: 5},
		"app: a\ntraces: {url: 'https://t.example/otlp/v1/traces', headers: {Key: secret}}\n": {URL: "https://t.example/otlp/v1/traces", Percent: 100, Headers: map[string]string{"Key": "secret"}},
	} {
		cfg := load(t, map[string]string{"config.yaml": text})
		if !reflect.DeepEqual(cfg.Traces, want) {
			t.Errorf("%s: got %+v, want %+v", text, cfg.Traces, want)
		}
	}
}
