package pluginhost

import (
	"bytes"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"
)

func FuzzParseLogLine(f *testing.F) {
	for _, seed := range []string{
		`{"@level":"info","@message":"hello","@timestamp":"2026-01-01T00:00:00Z","n":1}`,
		`{"@message":1,"@level":"info"}`, `{"@message":"x","@level":7}`, `{"@message":"x","@level":"info","@timestamp":[]}`,
		`{"@message":null}`, `{`, `{}`, `[]`, "", "panic: no", `{"@message":"a\nb","@level":"off","k\u001b":{"a":[1,null]}}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		var sink bytes.Buffer
		out := newOutput(hclog.New(&hclog.LoggerOptions{Output: &sink, Level: hclog.Trace}), defaultLimits())
		out.stderrLine(line, false)
		out.close()
		if entry, ok := parseLogLine(line); ok && strings.ContainsAny(entry.message, "\n\x1b") {
			t.Errorf("message %q can forge lines of the log", entry.message)
		}
	})
}

func TestParseLogLineKeepsWhatDoesNotFit(t *testing.T) {
	t.Parallel()
	entry, ok := parseLogLine([]byte(`{"@level":"warn","@message":"hi","@timestamp":7,"@module":"m","b":[1,2],"a":null}`))
	if !ok || entry.level != hclog.Warn || entry.message != "hi" {
		t.Fatalf("parseLogLine = %+v, %v", entry, ok)
	}
	want := []any{"module", "m", "a", "null", "b", "[1,2]"}
	if len(entry.fields) != len(want) {
		t.Fatalf("fields = %v, want %v", entry.fields, want)
	}
	for i := range want {
		if entry.fields[i] != want[i] {
			t.Errorf("field %d = %v, want %v", i, entry.fields[i], want[i])
		}
	}
	for _, line := range []string{`{"@message":{"a":1},"@level":"info"}`, `{"@message":"x","@level":3}`, `{"x":1}`, `{"@message":"x"`} {
		if _, ok := parseLogLine([]byte(line)); ok {
			t.Errorf("parseLogLine(%s) took it for a structured line", line)
		}
	}
}

// TestOutputIsCalledByItsName: package serve sends prints to stdout the same way as
// those to stderr.
func TestOutputIsCalledByItsName(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	out := newOutput(hclog.New(&hclog.LoggerOptions{Output: &log, Level: hclog.Trace}), defaultLimits())
	out.stderrLine([]byte("printed"), false)
	out.stderrLine(bytes.Repeat([]byte("x"), maxLine), true)
	if got := log.String(); !strings.Contains(got, "output: text=printed") || strings.Contains(got, "stderr") ||
		!strings.Contains(got, "bytes cut]") || !strings.Contains(got, "longer_than") || len(got) > 2*maxStack {
		t.Errorf("%d bytes logged: %.300s", len(got), got)
	}
}

func TestReadLinesIsBounded(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 3*maxLine)
	type got struct {
		length int
		cut    bool
	}
	var lines []got
	readLines(strings.NewReader("one\n\n"+long+"\nlast"), func(line []byte, cut bool) {
		lines = append(lines, got{len(line), cut})
	})
	want := []got{{3, false}, {0, false}, {maxLine, true}, {4, false}}
	if len(lines) != len(want) {
		t.Fatalf("lines = %v, want %v", lines, want)
	}
	for i := range want {
		if lines[i] != want[i] {
			t.Errorf("line %d = %v, want %v", i, lines[i], want[i])
		}
	}
}

func TestOutputGathersAPanicIntoOneRecord(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	out := newOutput(hclog.New(&hclog.LoggerOptions{Output: &log, Level: hclog.Trace, JSONFormat: true}), defaultLimits())
	text := "before\n" + `{"@level":"info","@message":"fine"}` + "\npanic: boom\n\ngoroutine 1 [running]:\nmain.main()\n\t/x.go:1 +0x1\nexit status 2\n"
	readLines(strings.NewReader(text), out.stderrLine)
	out.close()
	if n := strings.Count(log.String(), "\n"); n != 3 {
		t.Errorf("%d records, want 3:\n%s", n, log.String())
	}
	if !strings.Contains(out.report(), "panic: boom") || !strings.Contains(out.report(), "main.main()") {
		t.Errorf("report = %q, want the panic with its stack", out.report())
	}
}

func TestOutputKeepsTheTail(t *testing.T) {
	t.Parallel()
	out := newOutput(hclog.NewNullLogger(), defaultLimits())
	for range 50 {
		out.stderrLine([]byte("noise"), false)
	}
	out.stderrLine([]byte("cannot open /etc/shadow"), false)
	lines := strings.Split(out.report(), "\n")
	if len(lines) != tailLines || lines[tailLines-1] != "cannot open /etc/shadow" {
		t.Errorf("report = %q, want the last %d lines", lines, tailLines)
	}
}

func TestLogBudget(t *testing.T) {
	t.Parallel()
	b, now := newLogBudget(10_000), time.Unix(1, 0)
	passed := 0
	for range 200 {
		if ok, _ := b.take(now, 1000-lineCost); ok {
			passed++
		}
	}
	if passed != 21 { // the last one overdraws
		t.Errorf("burst = %d lines of 1 kB, want 20 and one", passed)
	}
	if ok, dropped := b.take(now.Add(time.Second), 1); !ok || dropped != 179 {
		t.Errorf("a second later take = %v, %d, want true and the 179 dropped", ok, dropped)
	}
	if ok, _ := b.take(now.Add(time.Hour), maxLine); !ok {
		t.Error("a long line is refused for ever")
	}
}

func TestPaceSlowsAFlood(t *testing.T) {
	t.Parallel()
	begin := time.Now()
	n, err := io.Copy(io.Discard, pacedReader{io.LimitReader(zeros{}, 300_000), newPace(200_000)})
	if err != nil || n != 300_000 {
		t.Fatalf("copied %d, %v", n, err)
	}
	if took := time.Since(begin); took < 200*time.Millisecond {
		t.Errorf("300 kB at 200 kB/s after a burst of 200 kB took %v, want about 0.5 s", took)
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { return len(p), nil }
