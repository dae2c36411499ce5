package serve_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/axsched/ax/pluginapi"
	pb "github.com/axsched/ax/pluginapi/proto/ax/plugin/v1"
	"github.com/axsched/ax/pluginapi/wire"
)

// buildProbe builds the plugin in testdata/probe, once.
var buildProbe = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "probe")
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, "ax-plugin-probe")
	cmd := exec.Command("go", "build", "-o", path, "./testdata/probe")
	cmd.Stderr = os.Stderr
	return path, cmd.Run()
})

func TestMain(m *testing.M) {
	status := m.Run()
	if path, err := buildProbe(); err == nil {
		_ = os.RemoveAll(filepath.Dir(path))
	}
	os.Exit(status)
}

func probe(t *testing.T) string {
	t.Helper()
	path, err := buildProbe()
	if err != nil {
		t.Fatalf("build probe: %v", err)
	}
	return path
}

// patience is how long a child may take for anything.
const patience = 15 * time.Second

// child is a plugin process whose pipes the test holds, as a host's own runner
// does.
type child struct {
	t         *testing.T
	cmd       *exec.Cmd
	conn      *grpc.ClientConn
	stdout    *bufio.Reader
	lifeline  *os.File      // the host's end
	stderr    *os.File      // the host's end
	socketDir string        // where the socket file is
	errors    chan string   // what came on stderr, after its end
	exited    chan struct{} // closed after the end
}

func start(t *testing.T, env ...string) *child {
	t.Helper()
	c := &child{t: t, cmd: exec.Command(probe(t), "--own=flag"), errors: make(chan string, 1), exited: make(chan struct{})}
	var err error
	if c.socketDir, err = os.MkdirTemp("", "ax"); err != nil { // t.TempDir may be too long for a socket
		t.Fatal(err)
	}
	theirEnd, ourEnd := pipe(t)
	ourStderr, theirStderr := pipe(t)
	ourStdout, theirStdout := pipe(t)
	c.lifeline, c.stderr, c.stdout = ourEnd, ourStderr, bufio.NewReader(ourStdout)
	program, err := os.Open(c.cmd.Path)
	if err != nil {
		t.Fatal(err)
	}
	c.cmd.ExtraFiles = []*os.File{theirEnd, program} // as a host does
	c.cmd.Stdout, c.cmd.Stderr = theirStdout, theirStderr
	c.cmd.Env = append([]string{
		wire.CookieKey + "=" + wire.CookieValue, "PLUGIN_PROTOCOL_VERSIONS=1",
		wire.LifelineEnv + "=3", "PLUGIN_UNIX_SOCKET_DIR=" + c.socketDir,
	}, env...)
	if err := c.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for _, f := range []*os.File{theirEnd, program, theirStdout, theirStderr} {
		_ = f.Close()
	}
	go func() {
		text, _ := io.ReadAll(ourStderr) // ends with the process, or when the test closes it
		c.errors <- string(text)
	}()
	go func() {
		_ = c.cmd.Wait() // the status is looked at in ProcessState
		close(c.exited)
	}()
	t.Cleanup(func() {
		_ = c.cmd.Process.Kill()
		<-c.exited
		_ = os.RemoveAll(c.socketDir)
	})
	return c
}

func pipe(t *testing.T) (read, write *os.File) {
	t.Helper()
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = read.Close(), write.Close() })
	return read, write
}

// connect reads the handshake line, connects and prepares one spec.
func (c *child) connect(kind pluginapi.Kind, component string, settings any) *wire.Client {
	c.t.Helper()
	c.conn = c.dial()
	raw, err := json.Marshal(settings)
	if err != nil {
		c.t.Fatal(err)
	}
	client := wire.NewClient(c.conn)
	ctx, cancel := context.WithTimeout(c.t.Context(), patience)
	defer cancel()
	if _, err := client.Plugin.Configure(ctx, &pb.ConfigureRequest{LogLevel: "info"}); err != nil {
		c.t.Fatal(err)
	}
	reply, err := client.Plugin.Prepare(ctx, &pb.PrepareRequest{Specs: []*pb.Spec{{
		Id: "spec", Kind: string(kind), Component: component, Settings: raw,
	}}})
	if err != nil {
		c.t.Fatal(err)
	}
	if err := wire.DecodeProblem(reply.GetResults()[0].GetProblem()); err != nil {
		c.t.Fatal(err)
	}
	return client
}

func (c *child) dial() *grpc.ClientConn {
	c.t.Helper()
	for {
		text, err := c.stdout.ReadString('\n')
		if err != nil {
			c.t.Fatalf("no handshake: %v; stderr: %s", err, <-c.errors)
		}
		parts := strings.Split(strings.TrimSpace(text), "|")
		if len(parts) < 5 || parts[2] != "unix" {
			c.t.Logf("stray output: %q", text)
			continue
		}
		options := append(wire.DialOptions(), grpc.WithTransportCredentials(insecure.NewCredentials()),
			grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) {
				return new(net.Dialer).DialContext(ctx, "unix", parts[3])
			}))
		conn, err := grpc.NewClient("passthrough:plugin", options...)
		if err != nil {
			c.t.Fatal(err)
		}
		c.t.Cleanup(func() { _ = conn.Close() })
		return conn
	}
}

// run begins a run and returns its events from the first log line on.
func (c *child) run(client *wire.Client) pb.Job_RunClient {
	c.t.Helper()
	stream, err := client.Job.Run(c.t.Context(), &pb.RunRequest{SpecId: "spec", RunId: "run", Fire: &pb.Fire{Attempt: 1}})
	if err != nil {
		c.t.Fatal(err)
	}
	for {
		event, err := stream.Recv()
		if err != nil {
			c.t.Fatal(err)
		}
		if event.GetLogs() != nil {
			return stream
		}
	}
}

// wait returns the exit status; -1 means that a signal ended the process.
func (c *child) wait(limit time.Duration) int {
	c.t.Helper()
	select {
	case <-c.exited:
		return c.cmd.ProcessState.ExitCode()
	case <-time.After(limit):
		c.t.Fatalf("the plugin still runs after %s", limit)
		return 0
	}
}

// runProbe runs the probe to its end, as a person or a host's describe does.
func runProbe(t *testing.T, args ...string) (stdout, stderr string, status int) {
	t.Helper()
	var out, errs bytes.Buffer
	cmd := exec.CommandContext(t.Context(), probe(t), args...)
	cmd.Env = []string{}
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); cmd.ProcessState == nil {
		t.Fatal(err)
	}
	return out.String(), errs.String(), cmd.ProcessState.ExitCode()
}
