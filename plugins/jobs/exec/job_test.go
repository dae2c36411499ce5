package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/axsched/ax/pluginapi"
)

func TestFailures(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, text := range map[string]string{"plain": "no program", "noexec": "no program", "orphan": "#!/no/such/interpreter\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chmod(filepath.Join(dir, "plain"), 0o644); err != nil {
		t.Fatal(err)
	}
	tests := map[string]struct {
		settings  string
		params    map[string]any
		want      string
		permanent bool
	}{
		"exit status":          {settings: `{"shell": "echo working; echo disk full >&2; exit 3"}`, want: "exit status 3: disk full"},
		"silent":               {settings: `{"command": ["false"]}`, want: "exit status 1"},
		"no success code":      {settings: `{"command": ["true"], "success_codes": [1, 2]}`, want: "exit status 0"},
		"no retry code":        {settings: `{"shell": "exit 78", "no_retry_codes": [77, 78]}`, want: "exit status 78", permanent: true},
		"signal":               {settings: `{"shell": "echo hm; kill -SEGV $$"}`, want: "signal SIGSEGV: hm"},
		"not in PATH":          {settings: `{"command": ["no-such-program-x"]}`, want: `command "no-such-program-x" not found in PATH /usr`, permanent: true},
		"own PATH":             {settings: `{"command": ["ls"], "env": {"PATH": "/nowhere:."}}`, want: `command "ls" not found in PATH /nowhere:.`, permanent: true},
		"no such file":         {settings: `{"command": ["DIR/none"]}`, want: "none: no such file", permanent: true},
		"relative to dir":      {settings: `{"command": ["./none"], "dir": "DIR"}`, want: "command DIR/none: no such file", permanent: true},
		"not executable":       {settings: `{"command": ["DIR/plain"]}`, want: "is not executable: permission bits are -rw-r--r--", permanent: true},
		"not executable, PATH": {settings: `{"command": ["plain"], "env": {"PATH": "DIR:/bin"}}`, want: "is not executable", permanent: true},
		"a directory":          {settings: `{"command": ["DIR"]}`, want: "is a directory", permanent: true},
		"not a program":        {settings: `{"command": ["DIR/noexec"]}`, want: "neither a program for this machine nor a script with a #! line", permanent: true},
		"no interpreter":       {settings: `{"command": ["DIR/orphan"]}`, want: "the interpreter that its first line names", permanent: true},
		"no dir":               {settings: `{"command": ["true"], "dir": "DIR/none"}`, want: "dir DIR/none: no such file or directory", permanent: true},
		"dir is a file":        {settings: `{"command": ["true"], "dir": "DIR/plain"}`, want: "plain is not a directory", permanent: true},
		"no user":              {settings: `{"command": ["true"], "user": "no-such-user-x"}`, want: `user "no-such-user-x" does not exist`, permanent: true},
		"no param":             {settings: `{"command": ["echo", "${params.day}"]}`, want: `command[1] needs the parameter "day"`, permanent: true},
		"NUL in argument":      {settings: `{"command": ["echo", "${params.x}"]}`, params: map[string]any{"x": "a\x00b"}, want: "command[1] holds a NUL byte", permanent: true},
		"too large": {
			settings: `{"command": ["echo", "${params.x}"]}`, params: map[string]any{"x": strings.Repeat("x", 200<<10)},
			want: "bytes, are too large for the system", permanent: true,
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, strings.ReplaceAll(tt.settings, "DIR", dir))
			b.run.Params = tt.params
			_, err := b.job.Run(t.Context(), b.run)
			if want := strings.ReplaceAll(tt.want, "DIR", dir); err == nil || !strings.Contains(err.Error(), want) {
				t.Fatalf("error %v, want %q", err, want)
			}
			if pluginapi.IsPermanent(err) != tt.permanent {
				t.Errorf("permanent %v: %v", !tt.permanent, err)
			}
		})
	}
}

func TestSuccess(t *testing.T) {
	t.Parallel()
	tests := map[string]struct{ settings, message string }{
		"last line":    {`{"shell": "echo one; echo two; echo"}`, "two"},
		"silent":       {`{"command": ["true"]}`, "exit 0"},
		"success code": {`{"shell": "exit 4", "success_codes": [0, 4]}`, "exit 4"},
		"long line":    {`{"shell": "printf '%0300d' 0"}`, strings.Repeat("0", maxMessage-1) + "…"},
		"dir":          {`{"command": ["pwd"], "dir": "/usr"}`, "/usr"},
		"home":         {`{"command": ["pwd"]}`, "/"},
		"path":         {`{"command": ["/bin/echo", "hi"]}`, "hi"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := newBench(t, tt.settings).must(t).Message; got != tt.message {
				t.Errorf("message %q, want %q", got, tt.message)
			}
		})
	}
}

func TestData(t *testing.T) {
	t.Parallel()
	b := newBench(t, `{"shell": "echo 12345; kill -KILL $$"}`)
	result, err := b.job.Run(t.Context(), b.run)
	if err == nil {
		t.Fatal("no error")
	}
	want := map[string]any{"exit_code": 137, "signal": "SIGKILL", "output_bytes": int64(6), "dropped_bytes": int64(0)}
	for key, value := range want {
		if result.Data[key] != value {
			t.Errorf("%s is %v, want %v", key, result.Data[key], value)
		}
	}
	if _, ok := result.Data["duration_ms"].(int64); !ok {
		t.Errorf("data %v", result.Data)
	}
}

func TestResultLine(t *testing.T) {
	t.Parallel()
	tests := map[string]struct{ line, message, rows, log string }{
		"object":    {`::ax-result {"rows": 12, "exit_code": "mine"}`, "copied", "12", ""},
		"not JSON":  {`::ax-result rows=12`, "copied", "<nil>", "is not taken as result"},
		"no object": {`::ax-result [12]`, "copied", "<nil>", "is not taken as result"},
		"no mark":   {`:ax-result {"rows": 12}`, `:ax-result {"rows": 12}`, "<nil>", ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, fmt.Sprintf(`{"command": ["printf", "copied\\n%%s\\n", %q]}`, tt.line))
			result := b.must(t)
			if result.Message != tt.message || fmt.Sprint(result.Data["rows"]) != tt.rows {
				t.Errorf("result %+v", result)
			}
			if tt.log != "" && !strings.Contains(b.log.String(), tt.log) || tt.log == "" && b.log.String() != "" {
				t.Errorf("log %q", b.log)
			}
		})
	}
}

// Only root can become somebody else; everybody else is told so.
func TestUser(t *testing.T) {
	t.Parallel()
	other := "nobody"
	if os.Geteuid() != 0 {
		other = "root"
	}
	b := newBench(t, `{"shell": "id -un; id -gn; echo $HOME $USER $LOGNAME", "user": "`+other+`", "dir": "/"}`)
	_, err := b.job.Run(t.Context(), b.run)
	if os.Geteuid() != 0 {
		if err == nil || !pluginapi.IsPermanent(err) {
			t.Errorf("error %v", err)
		}
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	if got := b.out.String(); got != "nobody\nnogroup\n/nonexistent nobody nobody\n" {
		t.Errorf("output %q", got)
	}
}

func TestFindAccount(t *testing.T) {
	t.Parallel()
	if _, err := findAccount("root", 1000); err == nil || !strings.Contains(err.Error(), "the host runs as user 1000, not as root") {
		t.Errorf("error %v", err)
	}
	for _, name := range []string{"root", "0"} {
		if who, err := findAccount(name, 0); err != nil || who.name != "root" || who.credential != nil {
			t.Errorf("own account %+v, %v", who, err)
		}
	}
}

func TestSettingsFaults(t *testing.T) {
	t.Parallel()
	tests := map[string]string{
		`{}`:                                                     "give command (a list) or shell (a script)",
		`{"shell": " "}`:                                         "give command",
		`{"command": []}`:                                        "command: expected at least 1 elements",
		`{"command": ["a"], "shell": "b"}`:                       "exclude each other",
		`{"command": [""]}`:                                      "command[0]: the program is empty",
		`{"command": "ls -l"}`:                                   "command: expected a list",
		`{"shell": "x", "dir": "sub"}`:                           "dir: expected an absolute path",
		`{"shell": "x", "success_codes": [256]}`:                 "exit codes are 0 to 255, got 256",
		`{"shell": "x", "stop_signal": "STOP"}`:                  "stop_signal: expected TERM, INT, HUP",
		`{"shell": "x", "output_limit": 10}`:                     "output_limit: expected at least 1024",
		`{"shell": "x", "kill_after": "1h"}`:                     "kill_after: expected at most 10m",
		`{"shell": "x", "env": {"AX_TASK": "s3cret"}}`:           "env: AX_TASK: names beginning with AX_ are set by the host",
		`{"shell": "x", "env": {"A=B": "s3cret"}}`:               `env: "A=B" cannot be the name of a variable`,
		`{"shell": "x", "env": {"A": "s3cret` + `\u0000` + `"}}`: "env: A: the value holds a NUL byte",
		`{"shell": "x", "comand": ["ls"]}`:                       "comand: unknown setting",
	}
	component := pluginapi.JobOf("exec", "", (&runner{}).newExec)
	for text, want := range tests {
		t.Run(text, func(t *testing.T) {
			t.Parallel()
			_, err := component.Build([]byte(text), pluginapi.Env{})
			if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "s3cret") {
				t.Errorf("error %v, want %q", err, want)
			}
		})
	}
}

func TestManyRunsAtOnce(t *testing.T) {
	t.Parallel()
	b := newBench(t, `{"shell": "sleep 300 & echo $AX_PARAM_N"}`)
	var all sync.WaitGroup
	for n := range 50 {
		all.Go(func() {
			run := *b.run
			out := newRecorder()
			run.Output, run.Params = out, map[string]any{"n": float64(n)}
			result, err := b.job.Run(t.Context(), &run)
			if want := fmt.Sprint(n); err != nil || result.Message != want || out.String() != want+"\n" {
				t.Errorf("run %d: %+v, %v, %q", n, result, err, out)
			}
		})
	}
	all.Wait()
	nobodyLeft(t, b.run.InstanceID)
}
