package store_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"testing"
	"time"

	"github.com/axsched/ax/host/internal/ax"
	"github.com/axsched/ax/host/internal/store"
	"github.com/axsched/ax/host/internal/store/mysqltest"
	"github.com/axsched/ax/host/internal/store/storetest"
)

// Variables that make the test binary a process of its own that does one thing
// to a database.
const (
	crashPath  = "AX_TEST_CRASH_PATH"  // writeForEver
	migrateDSN = "AX_TEST_MIGRATE_DSN" // migrateOnce
)

func TestMain(m *testing.M) {
	switch {
	case os.Getenv(crashPath) != "":
		writeForEver(os.Getenv(crashPath))
	case os.Getenv(migrateDSN) != "":
		migrateOnce(os.Getenv(migrateDSN))
	default:
		os.Exit(mysqltest.Main(m))
	}
}

// writeForEver submits changes without end and prints the id of each instance
// whose change is said to be in the database.
func writeForEver(path string) {
	s, err := store.Open(context.Background(), store.Options{DSN: "sqlite:" + path})
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	ids := ax.NewIDs(int64(os.Getpid()))
	for n := 0; ; n++ {
		now := time.Now()
		i := ax.Instance{
			ID: ax.InstanceID(ids.Next(now)), App: "a", TaskID: ax.TaskID(os.Getpid()), ScheduledAt: now.Add(time.Duration(n) * time.Microsecond),
			Kind: ax.KindScheduled, Status: ax.StatusRunning, CreatedAt: now, StartedAt: now,
		}
		s.Submit(ax.Change{
			Insert: []ax.Instance{i},
			Events: []ax.Event{{ID: ids.Next(now), InstanceID: i.ID, At: now, Stage: ax.StageClaimed}},
			Done: func(applied bool, err error) {
				if err != nil || !applied {
					fmt.Println(applied, err)
					os.Exit(1)
				}
				os.Stdout.WriteString(i.ID.String() + "\n") //nolint:errcheck // the reader may be gone
			},
		})
	}
}

// TestCrash kills a process in the middle of its writing, again and again:
// what it was told to be written must be there, whole, and the file sound.
func TestCrash(t *testing.T) {
	t.Parallel()
	s, path := storetest.OpenFile(t)
	var promised []ax.InstanceID
	for round := range 4 {
		promised = append(promised, killWriter(t, path, 300+500*round)...)
		checkIntegrity(t, s)
	}
	rows, err := s.Instances(t.Context(), ax.InstanceFilter{Limit: 1_000_000})
	if err != nil {
		t.Fatal(err)
	}
	found := map[ax.InstanceID]bool{}
	for _, i := range rows {
		found[i.ID] = true
	}
	for _, id := range promised {
		if !found[id] {
			t.Errorf("instance %d was promised and is not there", id)
		}
	}
	t.Logf("%d changes promised, %d found", len(promised), len(rows))
	// Each change was one instance and one event: neither may be alone.
	var halves int
	err = s.ReadDB().QueryRow(`SELECT (SELECT count(*) FROM ax_instance WHERE id NOT IN (SELECT instance_id FROM ax_log))
  + (SELECT count(*) FROM ax_log WHERE instance_id NOT IN (SELECT id FROM ax_instance))`).Scan(&halves)
	if err != nil || halves != 0 {
		t.Errorf("%d changes were written in part (%v)", halves, err)
	}
}

// killWriter starts a writing process and kills it after n promises. It
// returns all that the process printed.
func killWriter(t *testing.T, path string, n int) []ax.InstanceID {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), crashPath+"="+path)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var ids []ax.InstanceID
	for lines := bufio.NewScanner(out); lines.Scan(); {
		id, err := strconv.ParseInt(lines.Text(), 10, 64)
		if err != nil {
			t.Errorf("the writer says %q", lines.Text())
			break
		}
		if ids = append(ids, ax.InstanceID(id)); len(ids) == n {
			if err := cmd.Process.Kill(); err != nil { // SIGKILL
				t.Fatal(err)
			}
		}
	}
	if err := cmd.Wait(); err == nil || len(ids) < n {
		t.Fatalf("the writer ended by itself after %d promises: %v", len(ids), err)
	}
	return ids
}
