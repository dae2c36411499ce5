package store

import (
	"context"
	"database/sql/driver"
)

// perConnection is how many statements open a connection: the driver asks for
// the longest packet, sets its variables, and connector does its part.
const perConnection = 3

// counted makes connections whose statements are counted.
type counted struct {
	driver.Connector
	sent *sentCount
}

// serverConn is all that the driver's connections can do and database/sql asks
// for.
type serverConn interface {
	driver.Conn
	driver.ConnBeginTx
	driver.ConnPrepareContext
	driver.ExecerContext
	driver.QueryerContext
	driver.NamedValueChecker
	driver.Pinger
	driver.SessionResetter
	driver.Validator
}

// Connect implements driver.Connector.
func (c counted) Connect(ctx context.Context) (driver.Conn, error) {
	conn, err := c.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	c.sent.n.Add(perConnection)
	full, ok := conn.(serverConn)
	if !ok {
		return conn, nil
	}
	return countedConn{full, c.sent}, nil
}

type countedConn struct {
	serverConn
	sent *sentCount
}

func (c countedConn) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	res, err := c.serverConn.ExecContext(ctx, query, args)
	if err != driver.ErrSkip { //nolint:errorlint // a sentinel that is never wrapped; nothing was sent
		c.sent.n.Add(1)
	}
	return res, err
}

func (c countedConn) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	rows, err := c.serverConn.QueryContext(ctx, query, args)
	if err != driver.ErrSkip { //nolint:errorlint // as above
		c.sent.n.Add(1)
	}
	return rows, err
}

func (c countedConn) PrepareContext(ctx context.Context, query string) (driver.Stmt, error) {
	stmt, err := c.serverConn.PrepareContext(ctx, query)
	if err != nil {
		return nil, err
	}
	full, ok := stmt.(serverStmt)
	if !ok {
		return stmt, nil
	}
	return countedStmt{full, c.sent}, nil
}

// BeginTx counts BEGIN, and SET TRANSACTION if there is one to come before it.
func (c countedConn) BeginTx(ctx context.Context, opts driver.TxOptions) (driver.Tx, error) {
	c.sent.n.Add(1)
	if opts.Isolation != 0 {
		c.sent.n.Add(1)
	}
	tx, err := c.serverConn.BeginTx(ctx, opts)
	if err != nil {
		return nil, err
	}
	return countedTx{tx, c.sent}, nil
}

type serverStmt interface {
	driver.Stmt
	driver.StmtExecContext
	driver.StmtQueryContext
	driver.NamedValueChecker
	driver.ColumnConverter //nolint:staticcheck // the driver has it
}

type countedStmt struct {
	serverStmt
	sent *sentCount
}

func (s countedStmt) ExecContext(ctx context.Context, args []driver.NamedValue) (driver.Result, error) {
	s.sent.n.Add(1)
	return s.serverStmt.ExecContext(ctx, args)
}

func (s countedStmt) QueryContext(ctx context.Context, args []driver.NamedValue) (driver.Rows, error) {
	s.sent.n.Add(1)
	return s.serverStmt.QueryContext(ctx, args)
}

type countedTx struct {
	driver.Tx
	sent *sentCount
}

func (t countedTx) Commit() error {
	t.sent.n.Add(1)
	return t.Tx.Commit()
}

func (t countedTx) Rollback() error {
	t.sent.n.Add(1)
	return t.Tx.Rollback()
}
