package main

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"
)

// The environment is what the documentation says and nothing else, whatever
// the host was started with.
func TestEnvironment(t *testing.T) {
	t.Parallel()
	b := newBench(t, `{"command": ["env"], "env": {"LANG": "de_DE.UTF-8", "REGION": "eu"}}`)
	b.run.Params = map[string]any{
		"date": "2026-03-01", "max-rows": 1e21, "half": 0.5, "dry run": true, "none": nil, "日": "sun",
		"list": []any{"a", 1.0},
	}
	b.must(t)
	got := map[string]string{}
	for line := range strings.Lines(b.out.String()) {
		name, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "=")
		got[name] = value
	}
	want := map[string]string{
		"PATH": defaultPath, "LANG": "de_DE.UTF-8", "SHELL": "/bin/sh", "HOME": "/",
		"USER": ownAccount(hostEnv).name, "LOGNAME": ownAccount(hostEnv).name,
		"TZ": "Asia/Shanghai", "REGION": "eu",
		"AX_TASK": "sync", "AX_INSTANCE_ID": b.run.InstanceID, "AX_ATTEMPT": "2", "AX_FENCE": "7", "AX_NODE": "n1",
		"AX_SCHEDULED_AT": "2026-03-01T10:00:00+08:00", "AX_TRACE_ID": "4bf92f3577b34da6a3ce929d0e0e4736",
		"TRACEPARENT":   b.run.TraceParent(),
		"AX_PARAM_DATE": "2026-03-01", "AX_PARAM_MAX_ROWS": "1000000000000000000000", "AX_PARAM_HALF": "0.5",
		"AX_PARAM_DRY_RUN": "true", "AX_PARAM_NONE": "", "AX_PARAM__": "sun",
		"AX_PARAMS": `{"date":"2026-03-01","dry run":true,"half":0.5,"list":["a",1],"max-rows":1e+21,"none":null,"日":"sun"}`,
	}
	if !maps.Equal(got, want) {
		t.Errorf("environment\n%v\nwant\n%v", got, want)
	}
}

func TestBaseEnvTakesLittleFromTheHost(t *testing.T) {
	t.Parallel()
	host := func(name string) string {
		return map[string]string{"PATH": "/opt/bin", "LANG": "fr_FR.UTF-8", "TMPDIR": "/scratch", "AWS_SECRET": "s3cret"}[name]
	}
	vars := baseEnv(host, account{name: "app", home: "/home/app"}, time.Local)
	want := map[string]string{
		"PATH": "/opt/bin", "LANG": "fr_FR.UTF-8", "TMPDIR": "/scratch", "SHELL": "/bin/sh",
		"HOME": "/home/app", "USER": "app", "LOGNAME": "app",
	}
	if !maps.Equal(vars, want) {
		t.Errorf("environment %v, want %v", vars, want)
	}
}

func TestLargeParamsAreNotPassed(t *testing.T) {
	t.Parallel()
	b := newBench(t, `{"shell": "echo ${AX_PARAMS-unset} ${AX_PARAM_BIG-unset} ${AX_PARAM_ODD-unset} $AX_PARAM_SMALL"}`)
	b.run.Params = map[string]any{"big": strings.Repeat("x", 200<<10), "odd": "a\x00b", "small": "here"}
	if got := b.must(t).Message; got != "unset unset unset here" {
		t.Errorf("message %q", got)
	}
	for _, name := range []string{"AX_PARAMS", "AX_PARAM_BIG", "AX_PARAM_ODD"} {
		if !strings.Contains(b.log.String(), "name="+name+" ") {
			t.Errorf("log does not tell of %s: %s", name, b.log)
		}
	}
}

func TestParamsInArguments(t *testing.T) {
	t.Parallel()
	b := newBench(t, `{"command": ["printf", "[%s]\\n", "${params.evil}", "--date=${params.date}", "${params.n}${params.list}", "$HOME ${other}"]}`)
	b.run.Params = map[string]any{"evil": "a b; $(reboot) 'q' *", "date": "2026-03-01", "n": 3.0, "list": []any{1.0, "x"}}
	b.must(t)
	want := []string{"[a b; $(reboot) 'q' *]", "[--date=2026-03-01]", `[3[1,"x"]]`, "[$HOME ${other}]"}
	if got := strings.Split(strings.TrimSpace(b.out.String()), "\n"); !slices.Equal(got, want) {
		t.Errorf("arguments %q, want %q", got, want)
	}
}
