package main

import (
	"context"
	"database/sql"
	"fmt"
	"path/filepath"

	"github.com/go-sql-driver/mysql"
	_ "modernc.org/sqlite" // the other driver

	"github.com/axsched/ax/host/internal/store/mysqltest"
)

// database is the one that all hosts share, or the file of a single host.
type database struct {
	server *mysqltest.Server // nil: SQLite
	file   string
}

// schemaName is the name of the database on the server.
const schemaName = "ax"

func openDatabase(ctx context.Context, o options, dir string) (*database, error) {
	if o.SQLite {
		return &database{file: filepath.Join(dir, "h0", "data", "ax.db")}, nil
	}
	server, err := mysqltest.Start(ctx, mysqltest.Options{BufferPool: 256, RedoLog: 64})
	if err != nil {
		return nil, err
	}
	d := &database{server: server}
	admin, err := sql.Open("mysql", d.driverDSN(""))
	if err == nil {
		defer admin.Close()
		_, err = admin.ExecContext(ctx, "CREATE DATABASE "+schemaName)
	}
	if err != nil {
		_ = server.Stop() // the first error counts
		return nil, fmt.Errorf("make the database: %w", err)
	}
	return d, nil
}

func (d *database) close() error {
	if d.server == nil {
		return nil
	}
	return d.server.Stop()
}

// read opens the database for somebody who looks and disturbs nobody.
func (d *database) read() (*sql.DB, error) {
	if d.server == nil {
		return sql.Open("sqlite", "file:"+d.file+"?mode=ro&_pragma=busy_timeout(10000)")
	}
	return sql.Open("mysql", d.driverDSN(schemaName))
}

func (d *database) driverDSN(name string) string {
	c := mysql.NewConfig()
	c.User, c.Net, c.Addr, c.DBName = "root", "tcp", d.server.Address(), name
	c.Params = map[string]string{"autocommit": "1", "tx_isolation": "'READ-COMMITTED'"}
	c.Logger = &mysql.NopLogger{} // it is killed and started again
	return c.FormatDSN()
}
