// Package cluster knows the hosts of an app: it keeps the row by which they know
// this one, follows who lives, and says who schedules what.
package cluster

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/axsched/ax/host/internal/ax"
)

// maxOffset is how far the host's clock may be off before it is warned of.
const maxOffset = time.Second

// Table keeps the rows of hosts. It should have a small connection pool of its
// own, so that work that fills the other one makes no host look dead.
type Table interface {
	RegisterNode(ctx context.Context, n ax.Node) error
	// Heartbeat writes Draining and NodeFigures into the row of the incarnation,
	// with the database's time, which it returns; ax.ErrNotFound if the row is
	// gone.
	Heartbeat(ctx context.Context, n ax.Node) (time.Time, error)
	// Nodes returns all hosts of the app, and the database's time as of then.
	Nodes(ctx context.Context, app string) ([]ax.Node, time.Time, error)
	RemoveNode(ctx context.Context, incarnation string) error
}

// ViewConfig is what a View needs.
type ViewConfig struct {
	// Self is the row of this host.
	Self   ax.Node
	Limits Limits
	Table  Table
	Log    hclog.Logger
	// Figures are asked for before each sign of life; nil = as in Self.
	// ClockOffset is filled in here.
	Figures func() ax.NodeFigures
	// Wall is the clock of this machine, nil for time.Now.
	Wall func() time.Time
	// OnChange is told when hosts come, go, are suspected or trusted again; nil
	// for nobody. Calls come one at a time and in order, never from within a
	// method of View.
	OnChange func(before, after *Snapshot)
}

// View is what this host knows of the hosts of its app, and how they know of it.
// Views of different hosts may differ for some seconds: whoever acts on one must
// see to it that nothing breaks if another acts too.
//
// A host that dies is found out at once by Suspect, if its connections are
// refused, and else after DeadAfter without a sign of life. The first moves
// scheduling, which is harmless if it was wrong; only Dead, which nothing but
// silence leads to, allows to give up what ran there.
type View struct {
	cfg   ViewConfig
	begin time.Time // times within are durations since then

	mu     sync.Mutex // guards what follows
	roster *roster
	clock  clock

	snapshot atomic.Pointer[Snapshot]
	reached  atomic.Int64 // when the newest sign of life was sent that was written
	draining atomic.Bool
	failing  atomic.Bool
	// Owned by the loop that beats: what it has last warned of.
	offWarn, blind bool

	news chan struct{} // the roster may have changed
	kick chan struct{} // beat now
	stop context.CancelFunc
	done sync.WaitGroup
}

// NewView returns a View that sees nothing yet.
func NewView(cfg ViewConfig) *View {
	if cfg.Wall == nil {
		cfg.Wall = time.Now
	}
	v := &View{
		cfg: cfg, begin: time.Now(), roster: newRoster(cfg.Self.Incarnation, cfg.Limits),
		news: make(chan struct{}, 1), kick: make(chan struct{}, 1),
	}
	v.snapshot.Store(v.compose())
	return v
}

// Start registers this host and looks at the others: when it returns without an
// error, Snapshot shows them. From then on it goes on by itself.
func (v *View) Start(ctx context.Context) error {
	sent := v.now()
	if err := v.cfg.Table.RegisterNode(ctx, v.self()); err != nil {
		return fmt.Errorf("register this host: %w", err)
	}
	v.reached.Store(int64(sent))
	if err := v.look(ctx); err != nil {
		return fmt.Errorf("look for other hosts: %w", err)
	}
	v.snapshot.Store(v.compose())
	ctx, v.stop = context.WithCancel(context.WithoutCancel(ctx))
	v.done.Go(func() { v.beats(ctx) })
	v.done.Go(func() { v.tell(ctx) })
	return nil
}

// Stop ends the signs of life and removes the row of this host: the others take
// it for gone at once if it was draining. It may be called again, or without
// Start.
func (v *View) Stop(ctx context.Context) {
	if v.stop == nil {
		return
	}
	v.stop()
	v.stop = nil
	v.done.Wait()
	if err := v.cfg.Table.RemoveNode(ctx, v.cfg.Self.Incarnation); err != nil {
		v.cfg.Log.Warn("cannot remove the row of this host; it will be taken for dead", "error", err)
	}
}

// Drain says that this host is leaving: it schedules nothing any more and gets
// nothing to do, and its row says so within moments.
func (v *View) Drain() {
	v.draining.Store(true)
	db := v.Now()
	v.mu.Lock()
	v.roster.leave(v.cfg.Self.Incarnation, db)
	v.mu.Unlock()
	notify(v.news)
	notify(v.kick)
}

// Undrain takes Drain back: this host schedules again at once, and the others see
// it with one of the next signs of life.
func (v *View) Undrain() {
	v.draining.Store(false)
	v.mu.Lock()
	v.roster.stay()
	v.mu.Unlock()
	notify(v.news)
	notify(v.kick)
}

// Snapshot returns the newest state, which never changes. It takes no lock.
func (v *View) Snapshot() *Snapshot { return v.snapshot.Load() }

// Suspect notes that the connection to an incarnation was refused or reset.
// Slowness is no reason: it proves nothing. The host loses its buckets at once,
// and nothing else. It is trusted again as soon as it answers (Trust), or gives
// a later sign of life.
func (v *View) Suspect(incarnation string, why error) {
	db := v.Now()
	v.mu.Lock()
	news := v.roster.suspect(incarnation, db)
	v.mu.Unlock()
	if news {
		v.cfg.Log.Warn("a host cannot be reached; others schedule its tasks meanwhile", "incarnation", incarnation, "error", why)
		notify(v.news)
	}
}

// Trust notes that an incarnation has answered.
func (v *View) Trust(incarnation string) {
	v.mu.Lock()
	news := v.roster.trust(incarnation)
	v.mu.Unlock()
	if news {
		v.cfg.Log.Info("a host can be reached again", "incarnation", incarnation)
		notify(v.news)
	}
}

// Leaving notes that an incarnation has said that it drains. It counts until a
// later sign of life says otherwise.
func (v *View) Leaving(incarnation string) {
	db := v.Now()
	v.mu.Lock()
	news := v.roster.leave(incarnation, db)
	v.mu.Unlock()
	if news {
		notify(v.news)
	}
}

// Dead reports whether what an incarnation left RUNNING may be given up: it was
// silent for DeadAfter while this host watched, or has left in good order. An
// incarnation of which there is no row is dead after the same time, counted from
// the first time that Dead was asked about it. While this host cannot reach the
// database nobody dies.
func (v *View) Dead(incarnation string) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.roster.dead(incarnation, v.now())
}

// Fenced reports whether the other hosts may have taken this one for dead: no
// sign of life has reached the database for DeadAfter. A fenced host must not
// claim attempts or schedule.
func (v *View) Fenced() bool {
	return v.now()-time.Duration(v.reached.Load()) > v.cfg.Limits.DeadAfter
}

// Failing reports whether the newest sign of life could not be written.
func (v *View) Failing() bool { return v.failing.Load() }

// Offset is by how much the clock of this host is ahead of the database's. It is
// right also just after the clock of this host was set, without a look into the
// database.
func (v *View) Offset() time.Duration {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.clock.offset(v.cfg.Wall(), v.now())
}

// Now returns the time of the database's clock as well as it is known; that of
// this host before Start.
func (v *View) Now() time.Time {
	v.mu.Lock()
	defer v.mu.Unlock()
	if db, ok := v.clock.now(v.now()); ok {
		return db
	}
	return v.cfg.Wall()
}

func (v *View) now() time.Duration { return time.Since(v.begin) }

func (v *View) self() ax.Node {
	n := v.cfg.Self
	if v.cfg.Figures != nil {
		n.NodeFigures = v.cfg.Figures()
	}
	n.Draining = v.draining.Load()
	n.ClockOffset = v.Offset()
	return n
}

// tell publishes what has become known.
func (v *View) tell(ctx context.Context) {
	for {
		select {
		case <-v.news:
		case <-ctx.Done():
			return
		}
		before, after := v.snapshot.Load(), v.compose()
		v.snapshot.Store(after)
		if before.differs(after) && v.cfg.OnChange != nil {
			v.cfg.OnChange(before, after)
		}
	}
}

func (v *View) compose() *Snapshot {
	v.mu.Lock()
	members := v.roster.members()
	v.mu.Unlock()
	return compose(v.cfg.Self.Incarnation, members, v.snapshot.Load())
}

// look reads the rows of all hosts.
func (v *View) look(ctx context.Context) error {
	sent := v.now()
	nodes, db, err := v.cfg.Table.Nodes(ctx, v.cfg.Self.App)
	if err != nil {
		return err
	}
	received := v.now()
	v.mu.Lock()
	v.roster.look(nodes, db, received)
	v.mu.Unlock()
	v.compare(sent, received, db)
	notify(v.news)
	return nil
}

// compare holds the clocks against each other.
func (v *View) compare(sent, received time.Duration, db time.Time) {
	v.mu.Lock()
	step := v.clock.add(sent, received, db)
	offset := v.clock.offset(v.cfg.Wall(), v.now())
	v.mu.Unlock()
	if step != 0 {
		v.cfg.Log.Warn("the clock of the database was set", "by", step.Round(time.Millisecond))
	}
	off := offset.Abs() > maxOffset
	switch {
	case off && !v.offWarn:
		v.cfg.Log.Warn("the clocks of this host and the database differ: set them by NTP", "offset", offset.Round(time.Millisecond))
	case !off && v.offWarn:
		v.cfg.Log.Info("the clocks of this host and the database agree again", "offset", offset.Round(time.Millisecond))
	}
	v.offWarn = off
}

// beat writes a sign of life.
func (v *View) beat(ctx context.Context) error {
	self, sent := v.self(), v.now()
	db, err := v.cfg.Table.Heartbeat(ctx, self)
	if errors.Is(err, ax.ErrNotFound) {
		v.cfg.Log.Warn("the row of this host was removed, registering again")
		err = v.cfg.Table.RegisterNode(ctx, self)
	} else if err == nil {
		v.compare(sent, v.now(), db)
	}
	if err == nil {
		v.reached.Store(int64(sent))
	}
	return err
}

func notify(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
