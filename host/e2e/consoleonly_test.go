package e2e

import (
	"fmt"
	"strings"
	"testing"

	"github.com/axsched/ax/host/internal/api"
	"github.com/axsched/ax/host/internal/ax"
	"github.com/axsched/ax/host/internal/store/mysqltest"
	"github.com/axsched/ax/schema"
)

// consoleAccount makes the account of consoles, as grants.sql has it, for a database
// with tables, and returns its DSN.
func consoleAccount(t *testing.T, dsn string) string {
	t.Helper()
	server := dsn[strings.LastIndex(dsn, "@")+1:]
	database := server[strings.Index(server, "/")+1:]
	user := "console_" + strings.TrimPrefix(database, "ax_test")
	text := strings.NewReplacer("`ax`", "`"+database+"`", "'ax_console'", "'"+user+"'").Replace(schema.Grants)
	var statements []string
	for statement := range strings.SplitSeq(text, ";\n") {
		lines := strings.Split(statement, "\n")
		last := strings.TrimSpace(lines[len(lines)-1])
		if strings.Contains(last, "'"+user+"'") && !strings.HasPrefix(last, "--") {
			statements = append(statements, last)
		}
	}
	if len(statements) < 5 {
		t.Fatalf("grants.sql says of consoles %q", statements)
	}
	mysqltest.Exec(t, statements...)
	t.Cleanup(func() { mysqltest.Exec(t, "DROP USER '"+user+"'@'%'") })
	return "mysql://" + user + ":change-me-console@" + server
}

// TestConsoleOnly: a host with an account that changes no runs shows what others do,
// lets people pause tasks, and is never handed anything.
func TestConsoleOnly(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 2, "worker")
	a, b := c[0], c[1]
	a.config("tasks:\n- {name: tick, every: 1s, job: {use: work}}\n- {name: tock, every: 1s, job: {use: work}}\n")
	a.start()
	a.runs("tick", 2, ax.StatusSuccess)

	b.shared = fmt.Sprintf("store: {dsn: %q}\nconsole_only: true\ncluster: {listen: \"127.77.0.1:0\", secret: \"a secret of this test\"}\n", consoleAccount(t, b.dsn))
	b.config("tasks: []\n")
	shows := b.start()
	if tasks := b.tasks(); len(tasks) != 2 {
		t.Fatalf("it shows %d tasks", len(tasks))
	}
	run := b.runs("tick", 3, ax.StatusSuccess)[0]
	if log := b.axOK("logs", run.ID); !strings.Contains(log, "SUCCESS") {
		t.Errorf("the log of %s: %s", run.ID, log)
	}
	b.axOK("pause", "tick")
	eventually(t, patience, func() error {
		if state := a.tasks()["tick"].State; state != api.TaskPaused {
			return fmt.Errorf("the task is %s", state)
		}
		return nil
	})
	for _, args := range [][]string{{"run", "tock"}, {"backfill", "tock", "--from", "2026-01-01", "--to", "2026-01-02"}, {"drain", "--undo"}} {
		if r := b.ax(args...); r.code != 6 || !strings.Contains(r.err, "only shows the console") {
			t.Errorf("%q: %d %s", args, r.code, r.err)
		}
	}
	b.axOK("resume", "tick")
	b.axOK("alerts", "silence", "tick", "--for", "1h")
	eventually(t, patience, func() error {
		if state := a.tasks()["tick"].State; state != api.TaskOn {
			return fmt.Errorf("the task is %s", state)
		}
		return nil
	})
	before := len(a.runs("tock", 1, ax.StatusSuccess))
	a.runs("tock", before+8, ax.StatusSuccess) // its loops have looked around meanwhile
	for _, run := range a.runs("tock", 1, ax.StatusSuccess) {
		if run.Node == b.node {
			t.Errorf("%s ran on the console", run.ID)
		}
	}
	b.axOK("reload")
	if ready := b.get("/readyz"); !strings.Contains(ready, `"status":"ok"`) {
		t.Errorf("it is there for what it does, but says %s", ready)
	}
	b.shows("ax_tasks", 2)
	shows.stop()
	for _, bad := range []string{"lacks a right", "[ERROR]", "denied"} {
		if strings.Contains(shows.log(), bad) {
			t.Errorf("its log says %q", bad)
		}
	}
	if len(a.tasks()) != 2 {
		t.Error("the console has changed the tasks")
	}
}

// TestConsoleOnlyNeedsADatabase: with a database of its own there is nothing to show.
func TestConsoleOnlyNeedsADatabase(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.config("console_only: true\n")
	if r := w.ax("validate", "ax.yaml"); r.code != 5 || !strings.Contains(r.out+r.err, "ax.yaml:7:15: console_only: it shows what other hosts do") {
		t.Errorf("%d %s", r.code, r.out+r.err)
	}
}
