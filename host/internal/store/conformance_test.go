package store_test

import (
	"path/filepath"
	"testing"

	"github.com/axsched/ax/host/internal/store"
	"github.com/axsched/ax/host/internal/store/storetest"
)

func TestSQLite(t *testing.T) {
	t.Parallel()
	storetest.Run(t, func(t *testing.T) store.Options {
		return store.Options{DSN: "sqlite:" + filepath.Join(t.TempDir(), "ax.db")}
	})
}
