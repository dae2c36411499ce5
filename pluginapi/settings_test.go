package pluginapi

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"
)

func decodeAll[C any](t testing.TB, raw string) (C, error) {
	t.Helper()
	s, err := settingsShape[C]()
	if err != nil {
		t.Fatal(err)
	}
	return decodeSettings[C](s, json.RawMessage(raw))
}

func TestDecodeSettings(t *testing.T) {
	t.Parallel()
	local := server{Host: "localhost", Port: 80}
	defaults := allSettings{
		Hour: 2, Mode: "safe", Code: "AB", Wait: Duration(90 * time.Second), Factor: 1.5, On: true,
		Days: []string{"mon", "tue"}, Server: local,
	}
	change := func(f func(*allSettings)) allSettings {
		s := defaults
		f(&s)
		return s
	}
	tests := map[string]struct {
		raw  string
		want allSettings
	}{
		"defaults":        {`{"code":"AB"}`, defaults},
		"zero is a value": {`{"code":"AB","hour":0,"on":false}`, change(func(s *allSettings) { s.Hour, s.On = 0, false })},
		"whole floats":    {`{"code":"AB","hour":3.0,"retries":2e1}`, change(func(s *allSettings) { s.Hour, s.Retries = 3, 20 })},
		"part of a struct": {`{"code":"AB","server":{"port":8080}}`, change(func(s *allSettings) {
			s.Server.Port = 8080
		})},
		"pointer": {`{"code":"AB","backup":{}}`, change(func(s *allSettings) { s.Backup = &local })},
		"defaults in lists": {`{"code":"AB","hosts":[{"host":"a"},{"port":1}]}`, change(func(s *allSettings) {
			s.Hosts = []server{{"a", 80}, {"localhost", 1}}
		})},
		"maps and embedded": {`{"code":"AB","env":{"A":"b"},"extra":{"x":[1,{"y":null}]},"label":"l"}`, change(func(s *allSettings) {
			s.Env = map[string]string{"A": "b"}
			s.Extra = map[string]any{"x": []any{1.0, map[string]any{"y": nil}}}
			s.Label = "l"
		})},
		"time": {`{"code":"AB","at":"2026-01-02T03:04:05Z"}`, change(func(s *allSettings) {
			s.At = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
		})},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := decodeAll[allSettings](t, test.raw)
			if err != nil || !reflect.DeepEqual(got, test.want) {
				t.Errorf("got %+v, %v, want %+v", got, err, test.want)
			}
		})
	}
}

func TestNoSettings(t *testing.T) {
	t.Parallel()
	for _, raw := range []string{"", "null", " ", "{}"} {
		if got, err := decodeAll[server](t, raw); err != nil || got != (server{"localhost", 80}) {
			t.Errorf("%q gave %+v, %v", raw, got, err)
		}
	}
}

func TestSettingsRefused(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]string{
		`{}`:                                        "code: is required",
		`{"code":"AB","hour":24}`:                   "hour: expected at most 23, got 24",
		`{"code":"AB","hour":-1}`:                   "hour: expected at least 0, got -1",
		`{"code":"AB","hour":1.5}`:                  "hour: expected a whole number, got 1.5",
		`{"code":"AB","hour":"2"}`:                  `hour: expected a whole number, got "2"`,
		`{"code":"AB","hour":null}`:                 "hour: expected a whole number, got null",
		`{"code":"AB","hour":1e400}`:                "hour: expected a whole number",
		`{"code":"AB","hour":99999999999999999999}`: "hour: expected a whole number of 64 bits",
		`{"code":"AB","retries":256}`:               "retries: expected a whole number of 8 bits, got 256",
		`{"code":"AB","retries":-1}`:                "retries: expected a whole number of at least 0, got -1",
		`{"code":"AB","mode":"slow"}`:               `mode: expected fast or safe, got "slow"`,
		`{"code":"abc"}`:                            "code: expected a text matching ^[A-Z]{2,3}$, got \"abc\"",
		`{"code":7}`:                                "code: expected a string, got 7",
		`{"code":"AB","wait":90}`:                   "wait: expected a duration with a unit (ms, s, m, h, d or w), such as \"90s\", got 90",
		`{"code":"AB","wait":"90"}`:                 `wait: duration "90": "90" has no unit`,
		`{"code":"AB","wait":"-1s"}`:                `wait: duration "-1s" is negative`,
		`{"code":"AB","wait":"2d"}`:                 `wait: expected at most 1d, got "2d"`,
		`{"code":"AB","on":"yes"}`:                  `on: expected true or false, got "yes"`,
		`{"code":"AB","days":[]}`:                   "days: expected at least 1 elements, got []",
		`{"code":"AB","days":["mon","sun"]}`:        `days[1]: expected mon, tue or wed, got "sun"`,
		`{"code":"AB","days":"mon"}`:                `days: expected a list, got "mon"`,
		`{"code":"AB","env":{"PORT":8080}}`:         "env.PORT: expected a string, got 8080",
		`{"code":"AB","server":{"prt":1}}`:          "server.prt: unknown setting, expected host or port",
		`{"code":"AB","server":[]}`:                 "server: expected a mapping, got []",
		`{"code":"AB","hosts":[{"port":0}]}`:        "hosts[0].port: expected at least 1, got 0",
		`{"code":"AB","Hour":1}`:                    "Hour: unknown setting",
		`{"code":"AB","Hidden":"x"}`:                "Hidden: unknown setting",
		`{"code":"AB","at":"noon"}`:                 "cannot parse",
		`[]`:                                        "settings: expected a mapping, got []",
		`"x"`:                                       "settings: expected a mapping",
		`{`:                                         "not JSON",
		`{} {}`:                                     "text after the value",
		"\xff":                                      "not JSON",
	} {
		got, err := decodeAll[allSettings](t, raw)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s gave %+v, %v, want %q", raw, got, err, want)
		}
	}
}

func TestAllFaultsAreReported(t *testing.T) {
	t.Parallel()
	_, err := decodeAll[allSettings](t, `{"hour":99,"mode":"x","typo":1,"server":{"port":0}}`)
	for _, path := range []string{"code:", "hour:", "mode:", "typo:", "server.port:"} {
		if !strings.Contains(err.Error(), path) {
			t.Errorf("%s is missing in %q", path, err)
		}
	}
}

func TestSecretsStayOutOfErrors(t *testing.T) {
	t.Parallel()
	_, err := decodeAll[allSettings](t, `{"code":"AB","token":"hunter2"}`)
	if err == nil || strings.Contains(err.Error(), "hunter2") || !strings.Contains(err.Error(), "token: expected at least 8 characters") {
		t.Errorf("error %v", err)
	}
}

func TestLongValuesAreShortened(t *testing.T) {
	t.Parallel()
	_, err := decodeAll[allSettings](t, `{"code":"AB","hour":"`+strings.Repeat("日", 1000)+`"}`)
	if err == nil || len(err.Error()) > 200 {
		t.Errorf("error %v", err)
	}
}

func TestBuildOfAComponent(t *testing.T) {
	t.Parallel()
	c := NotifierOf("n", "For a test.", func(s server, _ Env) (Notifier, error) {
		if s.Port != 25 {
			t.Errorf("settings %+v", s)
		}
		return nil, nil
	})
	if err := c.Check(); err != nil {
		t.Error(err)
	}
	if _, err := c.Build(json.RawMessage(`{"port":25}`), Env{}); err != nil {
		t.Error(err)
	}
	if _, err := c.Build(json.RawMessage(`{"port":"x"}`), Env{}); err == nil {
		t.Error("wrong settings were taken")
	}
	if _, err := JobOf[int]("j", "d", nil).Build(nil, Env{}); err == nil {
		t.Error("a component without a schema was built")
	}
}

func FuzzDecodeSettings(f *testing.F) {
	for _, seed := range []string{
		allSchema, `{"code":"AB"}`, `{"code":"AB","extra":{"a":[[[[]]]]},"hosts":[{}]}`, `{"factor":-0}`,
		`{"code":"AB","hour":9007199254740993}`, `null`, `{"code":"AB","days":["mon"],"wait":"1ms"}`,
	} {
		f.Add([]byte(seed))
	}
	s, err := settingsShape[allSettings]()
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		cfg, err := decodeSettings[allSettings](s, raw)
		if err == nil && (cfg.Hour < 0 || cfg.Hour > 23 || len(cfg.Code) < 2 || len(cfg.Days) == 0) {
			t.Errorf("%s was taken as %+v", raw, cfg)
		}
	})
}
