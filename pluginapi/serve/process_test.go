//go:build unix

package serve_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/axsched/ax/pluginapi"
	pb "github.com/axsched/ax/pluginapi/proto/ax/plugin/v1"
	"github.com/axsched/ax/pluginapi/wire"
)

func exists(t *testing.T, path ...string) bool {
	t.Helper()
	_, err := os.Stat(filepath.Join(path...))
	return err == nil
}

// A host that is killed takes everything with it: the lifeline breaks, and so
// does the pipe for standard error.
func TestOrphanedPluginEnds(t *testing.T) {
	t.Parallel()
	for _, stubborn := range []bool{false, true} {
		dir := t.TempDir()
		c := start(t)
		client := c.connect(pluginapi.KindJob, "mark", map[string]any{"dir": dir, "stubborn": stubborn})
		c.run(client)

		_ = c.stderr.Close()
		_ = c.lifeline.Close()
		if status := c.wait(3 * time.Second); status != 0 {
			t.Errorf("stubborn %t: exit status %d", stubborn, status)
		}
		if !exists(t, dir, "canceled") {
			t.Errorf("stubborn %t: the run was not canceled", stubborn)
		}
		if got := exists(t, dir, "killed"); got != stubborn {
			t.Errorf("stubborn %t: OnKill was called: %t", stubborn, got)
		}
		if left, err := os.ReadDir(c.socketDir); err != nil || len(left) > 0 {
			t.Errorf("stubborn %t: left behind: %v %v", stubborn, left, err)
		}
	}
}

func TestOrphanedIdlePluginEnds(t *testing.T) {
	t.Parallel()
	c := start(t)
	c.dial()
	_ = c.lifeline.Close()
	c.wait(3 * time.Second)
}

// SIGTERM drains: what a run says at its end still arrives.
func TestTerminateDrains(t *testing.T) {
	t.Parallel()
	c := start(t)
	client := c.connect(pluginapi.KindJob, "mark", map[string]any{"dir": t.TempDir()})
	stream := c.run(client)

	if err := c.cmd.Process.Signal(syscall.SIGINT); err != nil { // is for the host
		t.Fatal(err)
	}
	if err := c.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	var lines []string
	var outcome *pb.RunOutcome
	for outcome == nil {
		event, err := stream.Recv()
		if err != nil {
			t.Fatal(err)
		}
		for _, l := range event.GetLogs().GetLines() {
			lines = append(lines, l.GetText())
		}
		outcome = event.GetOutcome()
	}
	if !slices.Contains(lines, "last words") {
		t.Errorf("lines %q", lines)
	}
	if outcome.GetEndedBy() != wire.ReasonDrain {
		t.Errorf("outcome %v", outcome)
	}
	if status := c.wait(patience); status != 0 {
		t.Errorf("exit status %d", status)
	}
}

// Shutdown is go-plugin's own call; runs in flight have little time then.
func TestShutdownCall(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	c := start(t)
	client := c.connect(pluginapi.KindJob, "mark", map[string]any{"dir": dir, "stubborn": true})
	c.run(client)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	// The answer is lost with the connection.
	_ = c.conn.Invoke(ctx, "/plugin.GRPCController/Shutdown", &emptypb.Empty{}, &emptypb.Empty{})
	if status := c.wait(3 * time.Second); status != 0 {
		t.Errorf("exit status %d", status)
	}
	if !exists(t, dir, "killed") {
		t.Error("OnKill was not called")
	}
}

func TestNoListenerIsAFailure(t *testing.T) {
	t.Parallel()
	c := start(t, "PLUGIN_UNIX_SOCKET_DIR=/does/not/exist")
	if status := c.wait(patience); status != 1 {
		t.Errorf("exit status %d, want 1", status)
	}
	if text := <-c.errors; !strings.Contains(text, "/does/not/exist") {
		t.Errorf("stderr does not say why: %s", text)
	}
}

func TestBadLifelineIsAFailure(t *testing.T) {
	t.Parallel()
	c := start(t, wire.LifelineEnv+"=three")
	if status := c.wait(patience); status != 1 {
		t.Errorf("exit status %d, want 1", status)
	}
	if text := <-c.errors; !strings.Contains(text, wire.LifelineEnv) {
		t.Errorf("stderr does not say why: %s", text)
	}
}

// What an init function prints stays apart from the handshake line.
func TestNoiseBeforeTheHandshake(t *testing.T) {
	t.Parallel()
	c := start(t, "PROBE_NOISE=1")
	c.connect(pluginapi.KindJob, "say", nil)
}

func TestRecordsOnStderr(t *testing.T) {
	t.Parallel()
	c := start(t)
	client := c.connect(pluginapi.KindJob, "say", nil)
	stream, err := client.Job.Run(t.Context(), &pb.RunRequest{SpecId: "spec", RunId: "run", Fire: &pb.Fire{Attempt: 3}})
	if err != nil {
		t.Fatal(err)
	}
	var outcome *pb.RunOutcome
	for outcome == nil {
		event, err := stream.Recv()
		if err != nil {
			t.Fatal(err)
		}
		outcome = event.GetOutcome()
	}
	if got := string(outcome.GetData()); got != `{"attempt":3,"cookie":false,"files":"0 1 2 3"}` {
		t.Errorf("data %s: the handshake's environment should be gone, and what a job starts have no more than 0 to 2, and 3 that it opens", got)
	}
	_ = c.lifeline.Close()
	c.wait(patience)
	checkRecords(t, <-c.errors)
}

func checkRecords(t *testing.T, stderr string) {
	t.Helper()
	raw := map[string]bool{}
	records := map[string]map[string]any{}
	for text := range strings.Lines(stderr) {
		var record map[string]any
		if json.Unmarshal([]byte(text), &record) != nil {
			raw[strings.TrimSpace(text)] = true
			continue
		}
		message, ok := record["@message"].(string)
		if !ok {
			t.Errorf("record without a text as @message: %s", text)
		}
		if _, err := time.Parse("2006-01-02T15:04:05.000000Z07:00", record["@timestamp"].(string)); err != nil {
			t.Error(err)
		}
		records[message] = record
	}
	if !raw["said by fmt"] || !raw["said to stderr"] {
		t.Errorf("prints are missing in %s", stderr)
	}
	if r := records["said by log"]; r["@level"] != "info" || r["@module"] != "probe" {
		t.Errorf("package log gave %v", r)
	}
	if r := records["said by slog"]; r["@level"] != "warn" || r["took"] != "1s" {
		t.Errorf("package slog gave %v", r)
	}
	if r := records["said quietly"]; r != nil {
		t.Errorf("a debug record came at level info: %v", r)
	}
}
