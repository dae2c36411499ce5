package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/axsched/ax/host/internal/store/mysqltest"
)

// pageStep is a block of docs/cluster.md with a mark that says what to do with it.
type pageStep struct {
	line             int
	mark, lang, text string
}

// readPage returns the marked blocks of a page.
func readPage(t *testing.T, page string) (steps []pageStep) {
	t.Helper()
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	block := regexp.MustCompile("(?s)<!-- cluster: ([^>]*) -->\n```(\\w+)\n(.*?)```\n")
	for _, m := range block.FindAllSubmatchIndex(text, -1) {
		part := func(n int) string { return string(text[m[2*n]:m[2*n+1]]) }
		steps = append(steps, pageStep{1 + strings.Count(string(text[:m[0]]), "\n"), part(1), part(2), part(3)})
	}
	if len(steps) < 10 {
		t.Fatalf("%s has %d marked blocks only", page, len(steps))
	}
	return steps
}

// clusterPage executes docs/cluster.md on two hosts, with the account of grants.sql
// that changes no tables, and on a server of its own, since accounts are the server's.
type clusterPage struct {
	t      *testing.T
	server *mysqltest.Server
	worlds map[string]*world
	hosts  map[string]*host
}

func TestClusterPage(t *testing.T) {
	t.Parallel()
	server, _ := mysqltest.Private(t, mysqltest.Options{})
	if err := server.Create(t.Context(), "moved"); err != nil {
		t.Fatal(err)
	}
	p := &clusterPage{t: t, server: server, worlds: map[string]*world{}, hosts: map[string]*host{}}
	repo, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"a", "b"} {
		w := newWorld(t, "exec")
		w.node = name
		w.env = []string{"AX_DB_PASSWORD=change-me-host", "AX_CLUSTER_SECRET=a secret of this test"}
		w.must(os.Symlink(filepath.Join(repo, "schema"), w.path("schema")))
		p.worlds[name] = w
	}
	for _, step := range readPage(t, "../../docs/cluster.md") {
		p.run(step)
		if t.Failed() {
			t.Fatalf("cluster.md:%d: %s", step.line, step.mark)
		}
	}
	for _, h := range p.hosts {
		if log := h.log(); strings.Contains(log, "lacks a right") || strings.Contains(log, "denied") {
			t.Errorf("the account of hosts is not enough:\n%s", log)
		}
		h.stop()
	}
}

func (p *clusterPage) run(s pageStep) {
	verb, rest, _ := strings.Cut(s.mark, " ")
	a := p.worlds["a"]
	switch verb {
	case "host":
		p.worlds[rest].write("ax.yaml", p.here(rest, s.text))
		p.worlds[rest].write("config.yaml", p.here(rest, s.text))
	case "run":
		if _, err := p.bash(a, s.text); err != nil {
			p.t.Error(err)
		}
	case "on":
		if err := p.console(p.worlds[rest], s.text); err != nil {
			p.t.Error(err)
		}
	case "soon":
		eventually(p.t, patience, func() error { return p.console(p.worlds[strings.TrimPrefix(rest, "on ")], s.text) })
	case "start":
		for name := range strings.SplitSeq(rest, " and ") {
			p.hosts[name] = p.worlds[name].start()
		}
	case "kill":
		p.hosts[rest].kill()
	case "moves":
		p.moves(s.text)
	case "files": // the tests of docs/ make them
	default:
		p.t.Errorf("nobody knows how to execute %q", s.mark)
	}
}

// moves executes the move of a database, of a host that ran before. That of the page
// has data by now.
func (p *clusterPage) moves(text string) {
	old := newWorld(p.t, "exec")
	old.write("ax.yaml", fmt.Sprintf("app: shop\ndata_dir: old\nhttp: {listen: %q}\nplugins: {dir: plugins}\ntasks:\n- {name: x, every: 1s, job: {use: exec, with: {command: [echo]}}}\n", old.addr))
	h := old.start()
	old.axOK("run", "x", "--wait", "--force")
	h.stop()
	text = strings.Replace(text, "ax_owner:$AX_OWNER_PASSWORD@db.example/ax", "root@db.example/moved", 1)
	if err := p.console(old, text); err != nil {
		p.t.Error(err)
	}
}

// here puts what this machine has in place of the names on the page.
func (p *clusterPage) here(host, text string) string {
	w := p.worlds[host]
	_, port, _ := strings.Cut(p.server.Address(), ":")
	replace := []string{
		"mysql -h db.example -u root -p", "mysql --no-defaults --protocol=tcp -h 127.0.0.1 -P " + port + " -u root",
		"db.example", p.server.Address(), "10.0.0.1:8091", "127.77.0.1:0", "10.0.0.2:8091", "127.77.0.1:0",
	}
	if w != nil {
		replace = append(replace, "127.0.0.1:8090", w.addr)
	}
	return strings.NewReplacer(replace...).Replace(text)
}

func (p *clusterPage) bash(w *world, script string) (string, error) {
	cmd := exec.CommandContext(p.t.Context(), "bash", "-euc", p.here("", script))
	cmd.Dir = w.dir
	cmd.Env = append(os.Environ(), append(w.env, "AX_ADDR=http://"+w.addr, "AX_CONFIG=config.yaml",
		"AX_OWNER_PASSWORD=change-me-owner", "PATH="+suite.bin+":"+os.Getenv("PATH"))...)
	var errs strings.Builder
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		err = fmt.Errorf("%s: %w\n%s%s", script, err, out, errs.String())
	}
	return string(out), err
}

// console runs the commands after "$ " and compares what they print. A line "…"
// stands for any lines, a … in a line for any text.
func (p *clusterPage) console(w *world, text string) error {
	for part := range strings.SplitSeq("\n"+text, "\n$ ") {
		command, want, _ := strings.Cut(strings.TrimSuffix(part, "\n")+"\n", "\n")
		if command == "" {
			continue
		}
		got, err := p.bash(w, command)
		if err != nil {
			return err
		}
		pattern := "^"
		for line := range strings.Lines(want) {
			if line == "…\n" {
				pattern += "(.*\n)*"
			} else {
				pattern += strings.ReplaceAll(regexp.QuoteMeta(line), "…", ".*")
			}
		}
		if !regexp.MustCompile(pattern + "\n*$").MatchString(got) {
			return fmt.Errorf("$ %s\nprints\n%s\nthe page says\n%s", command, got, want)
		}
	}
	return nil
}
