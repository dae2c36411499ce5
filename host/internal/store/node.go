package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/axsched/ax/host/internal/ax"
)

// MaxFigures bounds the JSON form of ax.NodeFigures in bytes: every host reads
// those of all others every few seconds.
const MaxFigures = 16 << 10

const nodeColumns = "incarnation, name, app, address, cluster, version, pid, started_at, beat_at, draining, figures"

// RegisterNode writes the row of a host, or writes it anew; its slot stays.
// BeatAt becomes the time of the database.
func (s *Store) RegisterNode(ctx context.Context, n ax.Node) error {
	what := "register node " + n.Name
	figures, err := encodeFigures(n)
	if err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	now, err := s.Now(ctx)
	if err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	args := []any{n.Name, n.App, n.Address, n.Cluster, n.Version, n.PID, micros(n.StartedAt), micros(now), flag(n.Draining), figures, n.Incarnation}
	return s.writeTx(ctx, what, func(tx *sql.Tx) error {
		res, err := tx.ExecContext(ctx, s.sql(`UPDATE ax_node SET name = ?, app = ?, address = ?, cluster = ?, version = ?, pid = ?,
  started_at = ?, beat_at = ?, draining = ?, figures = ? WHERE incarnation = ?`), args...)
		if err != nil {
			return err
		}
		if there, err := res.RowsAffected(); err != nil || there > 0 {
			return err
		}
		_, err = tx.ExecContext(ctx, s.sql(`INSERT INTO ax_node (name, app, address, cluster, version, pid,
  started_at, beat_at, draining, figures, incarnation) VALUES (`+placeholders(len(args))+")"), args...)
		return err
	})
}

func encodeFigures(n ax.Node) (any, error) {
	b, err := plainJSON(n.NodeFigures)
	if err == nil && len(b) > MaxFigures {
		err = fmt.Errorf("what the host tells of itself has %d bytes, at most %d are shared", len(b), MaxFigures)
	}
	return string(b), err
}

// Heartbeat says that a host lives: Draining and NodeFigures go into the row of
// its incarnation, with the time of the database, which it returns, so that the
// host can tell how far its clock is off. ErrNotFound says that the row is gone:
// the others have given the host up. It is one statement, on connections that
// nothing else uses.
func (s *Store) Heartbeat(ctx context.Context, n ax.Node) (time.Time, error) {
	const what = "write the heartbeat"
	figures, err := encodeFigures(n)
	if err != nil {
		return time.Time{}, fmt.Errorf("%s: %w", what, err)
	}
	if s.beatDB == nil {
		return time.Time{}, fmt.Errorf("%s: %w", what, ErrReadOnly)
	}
	at, matched, err := s.dialect.stamp(ctx, s.beatDB,
		s.sql("UPDATE ax_node SET beat_at = @now, draining = ?, figures = ? WHERE incarnation = ?"), flag(n.Draining), figures, n.Incarnation)
	if s.dialect.stale(err) {
		s.reconnect()
	}
	if err == nil && matched == 0 {
		err = sql.ErrNoRows
	}
	return at, s.wrap(what, err)
}

// RemoveNode deletes the row of a host that has left or died. It is no error
// if there is none.
func (s *Store) RemoveNode(ctx context.Context, incarnation string) error {
	_, err := s.exec(ctx, "remove a node", "DELETE FROM ax_node WHERE incarnation = ?", incarnation)
	return err
}

// PurgeNodes deletes the rows of hosts of an app that have been silent for some
// time, by the clock of the database, and returns how many.
func (s *Store) PurgeNodes(ctx context.Context, app string, silent time.Duration) (int, error) {
	n, err := s.exec(ctx, "delete the rows of dead hosts", "DELETE FROM ax_node WHERE app = ? AND beat_at < "+s.dialect.clock()+" - ?", app, silent.Microseconds())
	return int(n), err
}

// Nodes returns the hosts of an app, the oldest first, whether they live or not,
// and the time of the database as of then: what lies between that and BeatAt is
// their silence. It is one statement.
func (s *Store) Nodes(ctx context.Context, app string) ([]ax.Node, time.Time, error) {
	const what = "read the nodes"
	var at time.Time
	// The time comes with each row, and without any.
	rows, err := s.query(ctx, "SELECT c.at, "+nodeColumns+" FROM (SELECT "+s.dialect.clock()+` AS at) c
  LEFT JOIN ax_node n ON n.app = ? ORDER BY started_at, incarnation`, app)
	if err != nil {
		return nil, at, s.wrap(what, err)
	}
	defer rows.Close()
	var all []ax.Node
	for rows.Next() {
		n, err := scanNode(rows, &at)
		if err != nil {
			return nil, at, s.wrap(what, err)
		}
		if n.Incarnation != "" {
			all = append(all, n)
		}
	}
	return all, at, s.wrap(what, rows.Err())
}

// scanNode reads the time and a node, which is empty if there is none.
func scanNode(row scanner, at *time.Time) (ax.Node, error) {
	var n ax.Node
	var incarnation, name, app, address, cluster, version, figures sql.NullString
	var pid sql.NullInt64
	var draining sql.NullBool
	err := row.Scan(timeColumn{at}, &incarnation, &name, &app, &address, &cluster, &version, &pid,
		timeColumn{&n.StartedAt}, timeColumn{&n.BeatAt}, &draining, &figures)
	if err != nil {
		return n, err
	}
	n.Incarnation, n.Name, n.App, n.Address, n.Cluster = incarnation.String, name.String, app.String, address.String, cluster.String
	n.Version, n.PID, n.Draining = version.String, int(pid.Int64), draining.Bool
	if figures.String != "" {
		if err := json.Unmarshal([]byte(figures.String), &n.NodeFigures); err != nil {
			return n, fmt.Errorf("figures of node %s: %w", n.Name, err)
		}
	}
	return n, nil
}

// slots is how many hosts of all apps can have one: ax.IDs looks at 11 bits.
const slots = 1 << 11

// TakeSlot gives a registered host a number that no other row has, from 0 to
// 2047, to make ids with; the same one if it is asked again.
func (s *Store) TakeSlot(ctx context.Context, incarnation string) (int, error) {
	const what = "take a number for ids"
	for {
		taken, own, err := s.takenSlots(ctx, incarnation)
		if err != nil {
			return 0, s.wrap(what, err)
		}
		if own >= 0 {
			return own, nil
		}
		if len(taken) >= slots {
			return 0, fmt.Errorf("%s: all %d are taken: are there rows of dead hosts in ax_node?", what, slots)
		}
		slot := rand.IntN(slots) // two hosts that start at once seldom want the same one
		for taken[slot] {
			slot = (slot + 1) % slots
		}
		n, err := s.exec(ctx, what, "UPDATE ax_node SET slot = ? WHERE incarnation = ? AND slot IS NULL", slot, incarnation)
		switch {
		case s.dialect.duplicate(err):
			continue
		case err != nil:
			return 0, err
		case n == 0:
			return 0, fmt.Errorf("%s: %w: the row of this host", what, ErrNotFound)
		}
		return slot, nil
	}
}

// takenSlots returns the numbers that are taken, and that of the host itself or
// -1.
func (s *Store) takenSlots(ctx context.Context, incarnation string) (taken map[int]bool, own int, err error) {
	rows, err := s.query(ctx, "SELECT slot, incarnation FROM ax_node WHERE slot IS NOT NULL")
	if err != nil {
		return nil, -1, err
	}
	defer rows.Close()
	taken, own = map[int]bool{}, -1
	for rows.Next() {
		var slot int
		var whose string
		if err := rows.Scan(&slot, &whose); err != nil {
			return nil, -1, err
		}
		if taken[slot] = true; whose == incarnation {
			own = slot
		}
	}
	return taken, own, rows.Err()
}
