package store_test

import (
	"math"
	"testing"
	"time"

	"github.com/axsched/ax/host/internal/ax"
	"github.com/axsched/ax/host/internal/store"
	"github.com/axsched/ax/host/internal/store/mysqltest"
)

// TestStatementsAreCounted holds the store's own count against that of a server
// that nobody else uses.
func TestStatementsAreCounted(t *testing.T) {
	t.Parallel()
	server, dsn := mysqltest.Private(t, mysqltest.Options{})
	s, err := store.Open(t.Context(), store.Options{DSN: dsn})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	if _, err := s.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	n := ax.Node{Incarnation: "i", Name: "n", App: "app", StartedAt: time.Now()}
	if err := s.RegisterNode(t.Context(), n); err != nil {
		t.Fatal(err)
	}
	s.StatementRate() // begins to count
	done := make(chan error, 1)
	quit := make(chan struct{})
	go func() {
		tick := time.NewTicker(5 * time.Millisecond)
		defer tick.Stop()
		for i := 0; ; i++ {
			var err error
			switch i % 4 {
			case 0:
				_, err = s.Heartbeat(t.Context(), n)
			case 1:
				_, _, err = s.Nodes(t.Context(), "app")
			case 2:
				err = s.RegisterNode(t.Context(), n) // a transaction
			case 3:
				err = s.Audit(t.Context(), ax.AuditRow{App: "app", At: time.Now()})
			}
			select {
			case <-tick.C:
			case <-quit:
				done <- err
				return
			}
		}
	}()
	cost, err := s.MeasureStatements(t.Context(), 2*time.Second)
	close(quit)
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if err != nil || !cost.ServerCounts {
		t.Fatalf("%+v, %v", cost, err)
	}
	// The server also counts the two looks at its counter, and moments differ.
	if off := math.Abs(cost.Own - cost.Server); off > 0.05*cost.Server+3 || cost.Own < 100 {
		t.Errorf("counted %.1f a second, the server %.1f", cost.Own, cost.Server)
	}
	if rate := s.StatementRate(); math.Abs(rate-cost.Own) > 0.3*cost.Own {
		t.Errorf("the rate is %.1f a second, counted %.1f", rate, cost.Own)
	}
	server.Kill()
	if _, err := s.MeasureStatements(t.Context(), time.Millisecond); err != nil {
		t.Errorf("a server that is away is no error, it counts nothing: %v", err)
	}
}
