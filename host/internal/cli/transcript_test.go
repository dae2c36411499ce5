package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/axsched/ax/host/internal/api"
	"github.com/axsched/ax/host/internal/api/apitest"
	"github.com/axsched/ax/host/internal/ax"
	"github.com/axsched/ax/host/internal/config"
	"github.com/axsched/ax/host/internal/preview"
	"github.com/axsched/ax/pluginapi/calendar"
)

var update = flag.Bool("update", false, "write the transcripts of testdata anew")

// TestTranscripts runs the command lines of testdata/*.txt against a host with
// the sample and compares what they print. A line of a transcript begins with
// "$ " for a command, "< " for its input, "! " for its errors and "= " for its
// exit code; all else is output.
func TestTranscripts(t *testing.T) {
	t.Parallel()
	paths, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(paths) == 0 {
		t.Fatal(paths, err)
	}
	for _, path := range paths {
		t.Run(filepath.Base(path), func(t *testing.T) {
			t.Parallel()
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			got := replay(t, string(text))
			if *update {
				if err := os.WriteFile(path, []byte(got), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if got != string(text) {
				t.Errorf("got:\n%s", got)
			}
		})
	}
}

// replay runs the commands of a transcript and returns it as it comes out.
func replay(t *testing.T, text string) string {
	t.Helper()
	backend, changes := apitest.Sample()
	server := newServer(t, backend)
	var out strings.Builder
	lines := strings.Split(text, "\n")
	commented, wasComment := false, false
	for i := 0; i < len(lines); i++ {
		line, isCommand := strings.CutPrefix(lines[i], "$ ")
		if !isCommand {
			// What begins with # right after a command is its output.
			commented = strings.HasPrefix(lines[i], "#") && (commented || i == 0 || lines[i-1] == "")
			if commented || lines[i] == "" && i > 0 && strings.HasPrefix(lines[i-1], "#") && wasComment {
				out.WriteString(lines[i] + "\n")
			}
			wasComment = commented
			continue
		}
		fmt.Fprintln(&out, "$ "+line)
		var input strings.Builder
		for i+1 < len(lines) && strings.HasPrefix(lines[i+1], "< ") {
			i++
			out.WriteString(lines[i] + "\n")
			input.WriteString(lines[i][2:] + "\n")
		}
		before := len(changes.List())
		result := execute(t, server.URL, words(line)[1:], input.String())
		out.WriteString(result.String())
		for _, change := range changes.List()[before:] {
			out.WriteString("* " + change + "\n")
		}
		out.WriteString("\n")
	}
	return strings.ReplaceAll(strings.TrimRight(out.String(), "\n")+"\n", server.URL, "http://HOST")
}

func newServer(t *testing.T, backend api.Backend) *httptest.Server {
	t.Helper()
	server := httptest.NewServer(api.New(api.Config{Backend: backend, Log: hclog.NewNullLogger(), Version: "0.1.0"}))
	t.Cleanup(server.Close)
	return server
}

// words splits a command line as a shell does, with single quotes only.
func words(line string) []string {
	var out []string
	quoted, inside := false, false
	for _, r := range line {
		switch {
		case r == '\'':
			quoted = !quoted
		case r == ' ' && !quoted:
			inside = false
			continue
		}
		if !inside {
			out, inside = append(out, ""), true
		}
		if r != '\'' {
			out[len(out)-1] += string(r)
		}
	}
	return out
}

// result is what a command did.
type result struct {
	out, err string
	code     int
}

func (r result) String() string {
	text := r.out
	for line := range strings.Lines(r.err) {
		text += "! " + line
	}
	if r.code != 0 {
		text += fmt.Sprintf("= %d\n", r.code)
	}
	return text
}

func execute(t *testing.T, addr string, args []string, input string) result {
	t.Helper()
	var out, errs bytes.Buffer
	d := testDeps(addr)
	d.In, d.Out, d.Err = strings.NewReader(input), &out, &errs
	code := Run(t.Context(), d, args)
	return result{out.String(), errs.String(), code}
}

// testDeps are surroundings in which nothing changes: the sample's noon, and a
// configuration of two tasks.
func testDeps(addr string) Deps {
	env := map[string]string{"AX_ADDR": addr, "USER": "lin"}
	return Deps{
		Version: "0.1.0",
		Now:     apitest.Noon,
		Zone:    apitest.Shanghai,
		Env:     func(name string) string { return env[name] },
		Serve: func(_ context.Context, o ServeOptions) error {
			if o.Config != "good.yaml" {
				return faults(o.Config)
			}
			return nil
		},
		Validate: func(_ context.Context, path string) (Report, error) {
			switch path {
			case "good.yaml":
				return Report{Tasks: 2, Calendars: 1, Warnings: faults(path)[1:]}, nil
			case "bad.yaml":
				return Report{Faults: faults(path)}, nil
			}
			return Report{}, fmt.Errorf("open %s: no such file", path)
		},
		Migrate: func(_ context.Context, o MigrateOptions) (MigrateReport, error) {
			if o.DSN == "sqlite:new.db" {
				return MigrateReport{To: 2, Applied: []string{"0001 tasks", "0002 instances"}}, nil
			}
			return MigrateReport{From: 2, To: 2}, nil
		},
		Move: func(_ context.Context, o MoveOptions) (MoveReport, error) {
			if o.From == o.To {
				return MoveReport{}, errors.New("source and target are the same database")
			}
			for done := int64(0); done <= 2000; done += 250 {
				o.Progress("ax_log", done, 2000)
			}
			return MoveReport{Rows: map[string]int64{"ax_task": 30, "ax_log": 1970}, Now: 2000, Before: o.From == "sqlite:old.db"}, nil
		},
		Candidate: func(path string) (api.Candidate, error) {
			switch path {
			case "bad.yaml":
				return api.Candidate{}, faults(path)
			case "same.yaml":
				return api.Candidate{App: "orders", Tasks: []json.RawMessage{}}, nil
			}
			return api.Candidate{App: "orders", Tasks: []json.RawMessage{[]byte(`{"name":"new"}`)}}, nil
		},
		PlanOffline: func(context.Context, string) (*preview.Plan, error) {
			return &preview.Plan{Unchanged: 2, Removed: []preview.TaskPlan{{Task: "gone"}}}, nil
		},
		Address: func(path string) (string, error) {
			if path == "silent.yaml" {
				return "", nil
			}
			return strings.TrimPrefix(addr, "http://"), nil
		},
		OpenNext:     openNext,
		HashPassword: func(password string) (string, error) { return "hash of " + password, nil },
		NewToken:     func() (token, sha256 string) { return "ax_new", "sum" },
	}
}

func faults(path string) config.Faults {
	return config.Faults{
		{Position: config.Position{File: path, Line: 7, Column: 5}, Message: `unknown key "timout", did you mean "timeout"?`},
		{Position: config.Position{File: path, Line: 9, Column: 11}, Message: "the calendar cn has no days for 2027"},
	}
}

func openNext(_ context.Context, path string) (*NextSource, error) {
	if path == "bad.yaml" {
		return nil, faults(path)
	}
	holiday := calendar.OnDate(calendar.Date{Year: 2026, Month: time.May, Day: 1})
	holiday.Name, holiday.Source, holiday.Covers = "Labour Day", "days.csv", 2026
	weekend, err := calendar.New(calendar.Spec{
		Name: "work", Weekly: []time.Weekday{1, 2, 3, 4, 5}, Closed: []calendar.Rule{holiday},
	})
	if err != nil {
		return nil, err
	}
	return &NextSource{
		Tasks: []ax.Task{
			{Name: "nightly", Enabled: true, Schedule: ax.Schedule{Cron: "0 0 2 * * ?", Timezone: "Asia/Shanghai", Calendar: "work", OnClosed: ax.ClosedSkip}},
			{Name: "once", Enabled: true, Schedule: ax.Schedule{At: apitest.Noon(), Timezone: "Asia/Shanghai"}},
			{Name: "hourly", Enabled: true, Schedule: ax.Schedule{Cron: "0 0 * * * ?", Timezone: "UTC"}},
			{Name: "off", Schedule: ax.Schedule{Every: time.Second, Timezone: "UTC"}},
		},
		Calendars: map[string]*calendar.Calendar{"work": weekend},
		Close:     func() {},
	}, nil
}

func TestHelpHasExamples(t *testing.T) {
	t.Parallel()
	p := &program{Deps: testDeps("http://127.0.0.1:1")}
	untold := regexp.MustCompile(`--[a-z-]+ string\w*`)
	for _, c := range p.root().Commands() {
		if c.Name() == "version" || c.Name() == "help" || c.Name() == "completion" {
			continue
		}
		if c.Example == "" || c.Short == "" {
			t.Errorf("ax %s: --help lacks an example or a summary", c.Name())
		}
		for _, flag := range untold.FindAllString(c.Flags().FlagUsages(), -1) {
			t.Errorf("ax %s: --help does not say what kind of text it is: %s", c.Name(), flag)
		}
		for line := range strings.Lines(c.Long) {
			if len([]rune(strings.TrimRight(line, "\n"))) > 84 {
				t.Errorf("ax %s: line too long in help: %s", c.Name(), line)
			}
		}
	}
}

func TestInterruptedIs130(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancelCause(t.Context())
	d := testDeps("http://127.0.0.1:1")
	d.Out, d.Err = &bytes.Buffer{}, &bytes.Buffer{}
	d.Migrate = func(ctx context.Context, _ MigrateOptions) (MigrateReport, error) {
		cancel(errors.New("interrupt"))
		return MigrateReport{}, ctx.Err()
	}
	if code := Run(ctx, d, []string{"migrate"}); code != ExitInterrupted {
		t.Errorf("exit code %d", code)
	}
}
