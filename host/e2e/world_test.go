package e2e

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// patience is how long anything may take that takes a moment on an idle machine.
const patience = 30 * time.Second

// poll is the time between two looks of eventually.
const poll = 20 * time.Millisecond

// eventually looks again and again until check finds nothing wrong.
func eventually(t *testing.T, limit time.Duration, check func() error) {
	t.Helper()
	for deadline := time.Now().Add(limit); ; time.Sleep(poll) {
		err := check()
		if err == nil {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("still after %s: %v", limit, err)
		}
	}
}

// world is a directory with a configuration, plugins and data, in which the
// hosts of one test live, one at a time.
type world struct {
	t    *testing.T
	dir  string
	addr string // of the API
	node string
	app  string
	env  []string // of hosts, besides the usual
	log  *hostLog
	// shared is more configuration, of a database that other worlds use too.
	shared, dsn string
}

// newWorld makes a world with some plugins. What is left of it is ended and
// removed after the test.
func newWorld(t *testing.T, plugins ...string) *world {
	t.Helper()
	dir, err := os.MkdirTemp("", "ax") // short, for sockets
	if err != nil {
		t.Fatal(err)
	}
	w := &world{t: t, dir: dir, addr: freeAddr(t), node: "node-" + filepath.Base(dir), app: "e2e", log: newHostLog(t)}
	t.Cleanup(w.end)
	w.must(os.MkdirAll(w.path("plugins"), 0o755))
	for _, p := range plugins {
		w.install(p, p)
	}
	return w
}

// end sees to it that nothing is left of a world, but what explains a failure.
func (w *world) end() {
	if w.t.Failed() {
		w.keep()
	}
	// A host may have been killed a moment ago, and what it started dies with it.
	for deadline := time.Now().Add(3 * time.Second); len(w.processes()) > 0 && time.Now().Before(deadline); {
		time.Sleep(poll)
	}
	for _, p := range w.processes() {
		w.t.Errorf("left behind: %s", p)
		p.kill()
	}
	if err := os.RemoveAll(w.dir); err != nil {
		w.t.Error(err)
	}
}

// keep copies the configuration and the database to where people look at them.
func (w *world) keep() {
	for _, name := range []string{"ax.yaml", "journal", "data/ax.db", "data/ax.db-wal"} {
		text, err := os.ReadFile(w.path(name))
		if err == nil {
			err = os.WriteFile(filepath.Join(w.t.ArtifactDir(), filepath.Base(name)), text, 0o600)
		}
		if err != nil && !os.IsNotExist(err) {
			w.t.Log(err)
		}
	}
}

// freeAddr returns a loopback address at which nobody listens. It is not that
// of localhost, whose ports outgoing connections use up.
func freeAddr(t *testing.T) string {
	t.Helper()
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.77.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

func (w *world) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

// path returns a path in the world's directory.
func (w *world) path(parts ...string) string {
	return filepath.Join(append([]string{w.dir}, parts...)...)
}

// install puts a program into the plugin directory, the way an installer does:
// it appears there whole, in place of what was there.
func (w *world) install(name, program string) {
	w.t.Helper()
	temp := w.path("incoming")
	w.must(os.Link(filepath.Join(suite.bin, program), temp))
	w.must(os.Rename(temp, w.path("plugins", "ax-plugin-"+name)))
}

// config writes the configuration: what every test needs, and body.
func (w *world) config(body string) {
	w.t.Helper()
	w.write("ax.yaml", fmt.Sprintf(`app: %s
node: %s
data_dir: ./data
http: {listen: "%s"}
plugins:
  dir: ./plugins
%s%s`, w.app, w.node, w.addr, w.shared, body))
}

// write replaces a file as editors do: by a rename.
func (w *world) write(name, text string) {
	w.t.Helper()
	w.must(os.WriteFile(w.path(name+".new"), []byte(text), 0o600))
	w.must(os.Rename(w.path(name+".new"), w.path(name)))
}

// read returns the content of a file, empty if there is none.
func (w *world) read(name string) string {
	w.t.Helper()
	text, err := os.ReadFile(w.path(name))
	if err != nil && !os.IsNotExist(err) {
		w.t.Fatal(err)
	}
	return string(text)
}

// lines returns the lines of a file.
func (w *world) lines(name string) []string {
	w.t.Helper()
	text := strings.TrimSuffix(w.read(name), "\n")
	if text == "" {
		return nil
	}
	return strings.Split(text, "\n")
}
