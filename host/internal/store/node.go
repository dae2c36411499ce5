package store

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"github.com/axsched/ax/host/internal/ax"
)

// RegisterNode writes the row of a host, replacing what its incarnation had
// written before. BeatAt becomes the time of the database.
func (s *Store) RegisterNode(ctx context.Context, n ax.Node) error {
	what := fmt.Sprintf("register node %s", n.Name)
	now, err := s.Now(ctx)
	if err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	return s.writeTx(ctx, what, func(tx *sql.Tx) error {
		if _, err := tx.ExecContext(ctx, s.sql("DELETE FROM ax_node WHERE incarnation = ?"), n.Incarnation); err != nil {
			return err
		}
		_, err := tx.ExecContext(ctx, s.sql(`INSERT INTO ax_node
  (incarnation, name, app, address, version, pid, started_at, beat_at, draining) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`),
			n.Incarnation, n.Name, n.App, n.Address, n.Version, n.PID, micros(n.StartedAt), micros(now), flag(n.Draining))
		return err
	})
}

// Beat says that a host lives, and whether it is leaving. It returns the time
// of the database, by which the host can tell how far its clock is off, or
// ErrNotFound if the row is gone: then the others have given the host up.
func (s *Store) Beat(ctx context.Context, incarnation string, draining bool) (time.Time, error) {
	now, err := s.Now(ctx)
	if err != nil {
		return now, err
	}
	return now, s.execOne(ctx, "write the heartbeat",
		"UPDATE ax_node SET beat_at = ?, draining = ? WHERE incarnation = ?", micros(now), flag(draining), incarnation)
}

// RemoveNode deletes the row of a host that has left or died. It is no error
// if there is none.
func (s *Store) RemoveNode(ctx context.Context, incarnation string) error {
	_, err := s.exec(ctx, "remove a node", "DELETE FROM ax_node WHERE incarnation = ?", incarnation)
	return err
}

// Nodes returns the hosts of an app, the oldest first, whether they live or not.
func (s *Store) Nodes(ctx context.Context, app string) ([]ax.Node, error) {
	const what = "read the nodes"
	rows, err := s.query(ctx, `SELECT incarnation, name, app, address, version, pid, started_at, beat_at, draining
  FROM ax_node WHERE app = ? ORDER BY started_at, incarnation`, app)
	if err != nil {
		return nil, s.wrap(what, err)
	}
	defer rows.Close()
	var all []ax.Node
	for rows.Next() {
		var n ax.Node
		err := rows.Scan(&n.Incarnation, &n.Name, &n.App, &n.Address, &n.Version, &n.PID,
			timeColumn{&n.StartedAt}, timeColumn{&n.BeatAt}, &n.Draining)
		if err != nil {
			return nil, s.wrap(what, err)
		}
		all = append(all, n)
	}
	return all, s.wrap(what, rows.Err())
}
