package store_test

import (
	"testing"

	"github.com/axsched/ax/host/internal/store"
	"github.com/axsched/ax/host/internal/store/mysqltest"
	"github.com/axsched/ax/host/internal/store/storetest"
)

func TestMySQL(t *testing.T) {
	t.Parallel()
	storetest.Run(t, func(t *testing.T) store.Options {
		return store.Options{DSN: mysqltest.DSN(t), PartitionDays: 2}
	})
}
