package store

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"net"

	"github.com/go-sql-driver/mysql"
)

// mySQLErrors tells the errors of servers apart by their numbers, which they
// share; the texts differ.
type mySQLErrors struct{}

// fault says what an error number means for a transaction.
type fault int

const (
	// passes: it is waited for.
	passes fault = iota + 1
	// collides: another transaction was in the way, this one was undone.
	collides
	// demoted: the server takes no changes any more, another one took its place.
	demoted
	// givenUp: the server gave up in the middle, also of a COMMIT.
	givenUp
)

// faults are the numbers that pass. What is not here stays.
var faults = map[uint16]fault{
	1205: collides, // lock wait timeout; only the statement is undone, by the server
	1213: collides, // deadlock, also a conflict between nodes of Galera
	1020: collides, // MariaDB 11.6: the row changed since it was read
	3101: collides, // group replication: conflict between servers
	8005: collides, // TiDB: write conflict
	8022: collides, // TiDB: commit failed, retryable
	8028: collides, // TiDB: the schema changed meanwhile
	9007: collides, // TiDB: write conflict

	1290: demoted, // --read-only
	1792: demoted, // the transaction is read-only
	1836: demoted, // read-only mode of a failover

	1053: givenUp, // shutdown in progress
	1180: givenUp, // error during COMMIT
	1317: givenUp, // interrupted
	1927: givenUp, // MariaDB: connection was killed
	1047: givenUp, // Galera: the node is not part of the cluster
	3024: givenUp, // took longer than the server allows
	1969: givenUp, // MariaDB: likewise
	8027: givenUp, // TiDB: information about the schema is out of date
	9001: givenUp, // TiDB: its placement driver is away
	9002: givenUp, // TiDB: its storage is away
	9003: givenUp, // TiDB: its storage is busy
	9005: givenUp, // TiDB: a region is away

	1021: passes, // disk full
	1037: passes, // out of memory
	1041: passes, // likewise
	1040: passes, // too many connections
	1114: passes, // table full, which is how a full disk may show
	1526: passes, // no partition for the row: somebody dropped the last one
	1129: passes, // too many failed connections from this host
	1203: passes, // too many connections of this account
	1226: passes, // the account has used up a resource
}

func number(err error) uint16 {
	if e, ok := errors.AsType[*mysql.MySQLError](err); ok {
		return e.Number
	}
	return 0
}

func (mySQLErrors) duplicate(err error) bool { return number(err) == 1062 || number(err) == 1586 }

func (d mySQLErrors) transient(err error) bool { return faults[number(err)] != 0 || d.cutOff(err) }

func (mySQLErrors) collided(err error) bool { return faults[number(err)] == collides }

func (mySQLErrors) stale(err error) bool { return faults[number(err)] == demoted }

// unsure holds for all that came instead of an answer to COMMIT. An error that
// the server sent is one, unless it is of those that it sends in the middle of
// giving up.
func (d mySQLErrors) unsure(err error) bool {
	return d.cutOff(err) || faults[number(err)] == givenUp
}

// cutOff reports a broken connection, or none. The deadline of a context is not
// one of the server's making.
func (mySQLErrors) cutOff(err error) bool {
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return false
	}
	_, network := errors.AsType[net.Error](err)
	return network || errors.Is(err, driver.ErrBadConn) || errors.Is(err, mysql.ErrInvalidConn) ||
		errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) ||
		errors.Is(err, mysql.ErrMalformPkt) || errors.Is(err, mysql.ErrPktSync)
}

// cures say what to do about the errors that people meet.
var cures = map[uint16]string{
	1040: "the server has no connection left: raise its max_connections, a host needs up to 12",
	1044: "the account may not use this database: see schema/mysql/grants.sql",
	1045: "the server refuses this user or password",
	1047: "this Galera node has lost its cluster: look at its state, or connect to another one",
	1049: "there is no such database: make it as schema/mysql/grants.sql shows",
	1114: "the disk of the server is full, or a limit of its tables is reached",
	1129: "the server blocks this machine after too many broken connections: run FLUSH HOSTS there",
	1142: "the account lacks a right: see schema/mysql/grants.sql, and change the schema with the account of the owner (ax migrate)",
	1143: "the account lacks a right: see schema/mysql/grants.sql",
	1153: "a text is larger than the server takes: raise its max_allowed_packet to 16M or more",
	1203: "the account has no connection left: raise its limit, a host needs up to 12",
	1205: "another transaction holds the rows",
	1226: "the account has used up a limit: see MAX_USER_CONNECTIONS and the like",
	1251: "the account logs in by a way that is out of date",
	1290: "the server takes no changes: it is read-only, as after a failover",
	1792: "the server takes no changes: it is read-only, as after a failover",
	1836: "the server takes no changes: it is read-only, as after a failover",
	1526: "a partition is missing: run ax migrate with the account of the owner",
	1021: "the disk of the server is full",
}

func (d mySQLErrors) explain(err error) error {
	if cure := cures[number(err)]; cure != "" {
		return fmt.Errorf("%s: %w", cure, err)
	}
	if d.cutOff(err) {
		return fmt.Errorf("the server does not answer: %w", err)
	}
	return err
}
