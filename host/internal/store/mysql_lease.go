package store

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"time"
)

// A lease is held by one host at a time, by the clock of the database, and ends
// by itself when that host dies.
const (
	leaseFor   = 30 * time.Second
	leaseRenew = 10 * time.Second
	leaseWait  = 200 * time.Millisecond // between looks while another one holds it
)

var errLeaseLost = errors.New("another host has taken the lease")

// withLease waits until it has the lease, and keeps it while f runs. The context
// of f ends when the lease is lost.
func (d mySQL) withLease(ctx context.Context, s *Store, name string, f func(context.Context) error) error {
	for said := false; ; said = true {
		had, err := d.tryLease(ctx, s, name, f)
		if had || err != nil {
			return err
		}
		if !said {
			s.log.Info("waiting for another host", "lease", name)
		}
		if err := sleep(ctx, leaseWait); err != nil {
			return fmt.Errorf("wait for the lease %s: %w", name, err)
		}
	}
}

// tryLease is withLease, but does nothing if another host has the lease.
func (d mySQL) tryLease(ctx context.Context, s *Store, name string, f func(context.Context) error) (had bool, err error) {
	holder := rand.Text()
	_, err = s.writeDB.ExecContext(ctx, s.sql("INSERT INTO ax_lease (name, holder, until_at) VALUES (?, '', 0)"), name)
	if err != nil && !d.duplicate(err) {
		return false, fmt.Errorf("make the lease %s: %w", name, err)
	}
	if had, err := d.takeLease(ctx, s, name, holder); err != nil || !had {
		return false, err
	}
	leased, lost := context.WithCancelCause(ctx)
	renewing := make(chan struct{})
	go func() {
		defer close(renewing)
		for sleep(leased, leaseRenew) == nil {
			if ok, err := d.takeLease(leased, s, name, holder); err == nil && !ok {
				lost(errLeaseLost)
			}
		}
	}()
	err = f(leased)
	if cause := context.Cause(leased); err != nil && cause != nil {
		err = fmt.Errorf("%w: %w", cause, err)
	}
	lost(nil)
	<-renewing
	_, end := s.writeDB.ExecContext(context.WithoutCancel(ctx),
		s.sql("UPDATE ax_lease SET until_at = 0 WHERE name = ? AND holder = ?"), name, holder)
	return true, errors.Join(err, end)
}

// takeLease takes a lease that nobody else holds, or holds it for longer.
func (mySQL) takeLease(ctx context.Context, s *Store, name, holder string) (bool, error) {
	res, err := s.writeDB.ExecContext(ctx, s.sql("UPDATE ax_lease SET holder = ?, until_at = "+serverClock+" + ? WHERE name = ? AND (holder = ? OR until_at < "+serverClock+")"),
		holder, leaseFor.Microseconds(), name, holder)
	if err != nil {
		return false, fmt.Errorf("take the lease %s: %w", name, err)
	}
	n, err := res.RowsAffected()
	return n > 0, err
}
