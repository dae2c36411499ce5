package e2e

import (
	"database/sql"
	"fmt"
	"strings"
	"testing"

	_ "github.com/go-sql-driver/mysql" // as which a later program migrates

	"github.com/axsched/ax/host/internal/api"
	"github.com/axsched/ax/host/internal/ax"
	"github.com/axsched/ax/host/internal/store/mysqltest"
)

// laterSchema stands in for programs to come that migrate a database.
type laterSchema struct {
	t  *testing.T
	db *sql.DB
}

func openLater(t *testing.T, dsn string) *laterSchema {
	t.Helper()
	db, err := sql.Open("mysql", mysqltest.DriverDSN(dsn))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	db.SetMaxOpenConns(1) // the server of the tests commits nothing by itself
	return &laterSchema{t, db}
}

// migrate runs statements as the next file of migrations.
func (l *laterSchema) migrate(name string, statements ...string) {
	l.t.Helper()
	var version int
	if err := l.db.QueryRow("SELECT max(version) + 1 FROM ax_schema").Scan(&version); err != nil {
		l.t.Fatal(err)
	}
	for _, text := range append(statements, fmt.Sprintf(
		"INSERT INTO ax_schema (version, name, checksum, statements, applied_at) VALUES (%d, '%04d_%s.sql', '%064d', 1, 1)", version, version, name, version), "COMMIT") {
		if _, err := l.db.Exec(text); err != nil {
			l.t.Fatalf("%s: %v", text, err)
		}
	}
}

// Hosts go on with what a later version has added to the schema, also when they
// are started anew, and refuse one that is not for them.
func TestNewerSchema(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 2, "worker")
	dsn := c[0].dsn
	a, b := c[0], c[1]
	a.node, b.node = "a", "b"
	const tasks = "tasks:\n- {name: tick, every: 1s, job: {use: work}}\n- {name: there, every: 1h, strategy: round-robin, job: {use: work}}\n"
	a.config(tasks)
	b.config(tasks)
	ha, hb := a.start(), b.start()
	a.states("a live", "b live")

	later := openLater(t, dsn)
	later.migrate("more", "ALTER TABLE ax_instance ADD COLUMN more INT NOT NULL DEFAULT 0", "ALTER TABLE ax_task ADD COLUMN more INT NOT NULL DEFAULT 0",
		"ALTER TABLE ax_node ADD COLUMN more TEXT", "CREATE TABLE ax_more (x INT)")
	works := func() {
		t.Helper()
		before := len(a.runs("tick", 0, ax.StatusSuccess))
		a.runs("tick", before+2, ax.StatusSuccess)
		a.axOK("run", "there", "--wait")
		b.axOK("run", "there", "--wait")
	}
	works()
	hb.stop()
	hb = b.start()
	hb.logs("the database schema is newer than this program", "which goes on with it")
	a.states("a live", "b live")
	works()

	later.migrate("breaking_all", "CREATE TABLE ax_other (x INT)")
	hb.stop()
	hb = b.launch()
	if state := hb.wait(patience); state.Success() {
		t.Error("a host starts with a schema that is not for it")
	}
	hb.logs("the database schema is newer than this program", "install the version of ax that ran it")
	before := len(a.runs("tick", 0, ax.StatusSuccess))
	a.runs("tick", before+2, ax.StatusSuccess)
	ha.stop()
}

// Hosts of two apps share a database and know nothing of one another, although
// their tasks and hosts have the same names.
func TestTwoAppsInOneDatabase(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 3, "worker")
	one, two, other := c[0], c[1], c[2]
	one.node, two.node, other.node, other.app = "a", "b", "a", "other"
	const tasks = "tasks:\n- {name: tick, every: 1s, job: {use: work}}\n"
	var hosts []*host
	for _, w := range c {
		w.config(tasks)
		hosts = append(hosts, w.start())
	}
	one.states("a live", "b live")
	other.states("a live")
	id := other.runs("tick", 2, ax.StatusSuccess)[0].ID
	one.runs("tick", 2, ax.StatusSuccess)
	if out := one.ax("logs", id); out.code == 0 {
		t.Errorf("a run of another app is shown: %s", out.out)
	}
	for _, run := range axJSON[api.InstanceList](one, "instances", "-n", "500").Instances {
		if run.ID == id {
			t.Error("a run of another app is in the list")
		}
	}

	hosts[2].kill() // nobody of the other app takes over
	one.states("a live", "b live")
	before := len(one.runs("tick", 0, ax.StatusSuccess))
	one.runs("tick", before+3, ax.StatusSuccess)
	hosts[2] = other.start()
	for _, run := range axJSON[api.InstanceList](other, "instances", "-n", "500").Instances {
		if run.Node != "a" && run.Node != "" { // that of what was skipped
			t.Errorf("a host of another app ran %+v", run)
		}
	}
	other.axOK("pause", "tick")
	if view := one.tasks()["tick"]; view.State == api.TaskPaused {
		t.Error("a pause of a task of another app counts")
	}
	for _, h := range hosts {
		h.stop()
	}
}

// Of two hosts on one machine each has a directory and ports of its own.
func TestTwoHostsOnOneMachine(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 2, "worker")
	a, b := c[0], c[1]
	const tasks = "tasks:\n- {name: tick, every: 1s, job: {use: work}}\n"
	a.config(tasks)
	ha := a.start()
	b.config(tasks)
	own := b.read("ax.yaml")
	for _, shared := range []struct{ old, now, says string }{
		{"./data", a.path("data"), "is in use by another host"},
		{b.addr, a.addr, "is another host running? Set http.listen to a free address"},
	} {
		b.write("ax.yaml", strings.Replace(own, shared.old, shared.now, 1))
		h := b.launch()
		if state := h.wait(patience); state.Success() {
			t.Errorf("a host starts with %s of another one", shared.now)
		}
		h.logs(shared.says)
	}
	b.config(tasks)
	hb := b.start()
	a.runs("tick", 2, ax.StatusSuccess)
	ha.stop()
	hb.stop()
}
