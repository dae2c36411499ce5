package store_test

import (
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/axsched/ax/host/internal/ax"
	"github.com/axsched/ax/host/internal/store"
	"github.com/axsched/ax/host/internal/store/mysqltest"
	"github.com/axsched/ax/host/internal/store/storetest"
)

// TestMySQLSmallPackets: a server that takes statements of 1 MiB at most gets
// rows that are more than that together.
func TestMySQLSmallPackets(t *testing.T) {
	t.Parallel()
	_, dsn := mysqltest.Private(t, mysqltest.Options{Args: []string{"--max-allowed-packet=1M"}})
	s := storetest.OpenWith(t, store.Options{DSN: dsn, PartitionDays: 1})
	ids := ax.NewIDs(1)
	now := time.Now()
	const n = 150
	var changes []ax.Change
	var wg sync.WaitGroup
	for range n {
		wg.Add(1)
		changes = append(changes, ax.Change{
			Events: []ax.Event{{ID: ids.Next(now), InstanceID: 1, At: now, Stage: ax.StageOutput, Text: strings.Repeat("'\\\n", 20_000)}},
			Done: func(applied bool, err error) {
				defer wg.Done()
				if err != nil || !applied {
					t.Errorf("%v, %.200v", applied, err)
				}
			},
		})
	}
	s.SubmitAll(changes)
	wg.Wait()
	events, err := s.Events(t.Context(), ax.EventFilter{Instance: 1})
	if err != nil || len(events) != n {
		t.Fatalf("%d events, want %d (%v)", len(events), n, err)
	}
	for _, e := range events {
		if e.Text != strings.Repeat("'\\\n", 20_000) {
			t.Fatalf("event %d has %d other bytes", e.ID, len(e.Text))
		}
	}
}
