package host

import (
	"context"
	"iter"
	"slices"
	"time"

	"github.com/axsched/ax/host/internal/ax"
	"github.com/axsched/ax/host/internal/cluster"
	"github.com/axsched/ax/host/internal/dispatch"
	"github.com/axsched/ax/host/internal/engine"
	"github.com/axsched/ax/host/internal/rescue"
)

// mine returns which tasks this host schedules, as far as it can see.
func (f *fleet) mine(s *cluster.Snapshot) func(*ax.Task) bool {
	if f.sole {
		return func(*ax.Task) bool { return true }
	}
	return func(task *ax.Task) bool {
		owner, ok := ownerOf(s, task)
		return ok && owner.Incarnation == s.Self
	}
}

// ownerOf returns the host that schedules a task: the owner of its bucket, or the
// next one that has the plugin of its trigger. Without any the first one does, and
// says what is missing.
func ownerOf(s *cluster.Snapshot, task *ax.Task) (ax.Node, bool) {
	bucket := task.ID.Bucket()
	if use := task.Schedule.Trigger; use != nil {
		able := func(n *ax.Node) bool { return offers(n, use.Name) }
		if node, ok := s.Owners.First(bucket, able); ok {
			return node, true
		}
	}
	return s.Owners.Owner(bucket)
}

func offers(n *ax.Node, component string) bool { return slices.Contains(n.Offers, component) }

// run follows the other hosts until the fleet is stopped.
func (f *fleet) run() {
	ticker := time.NewTicker(lookEvery)
	defer ticker.Stop()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go func() {
		<-f.quit
		cancel()
	}()
	for {
		select {
		case <-f.changed:
			f.follow(ctx)
			f.look(ctx)
		case <-ticker.C:
			f.follow(ctx)
			f.look(ctx)
		case <-f.quit:
			return
		}
	}
}

// follow takes in who is there, and takes over what has become this host's.
func (f *fleet) follow(ctx context.Context) {
	s := f.view.Snapshot()
	cfg := f.h.live.Load().cfg
	nodes := make([]ax.Node, 0, len(s.Members))
	there := map[string]bool{}
	var others []dispatch.Member
	for i := range s.Members {
		m := &s.Members[i]
		if m.Incarnation == s.Self {
			continue
		}
		nodes = append(nodes, m.Node)
		if m.Standing == cluster.Dead {
			f.doubted[m.Incarnation] = true
			continue
		}
		if m.Node.Cluster == "" || f.peers == nil {
			continue
		}
		there[m.Incarnation] = true
		others = append(others, f.other(m))
	}
	if f.peers != nil {
		f.peers.Set(nodes)
	}
	f.dispatch.Update(f.self(cfg), others...)
	for incarnation, remote := range f.remotes {
		if !there[incarnation] {
			f.doubted[incarnation] = true
			delete(f.remotes, incarnation)
			go remote.Stop()
		}
	}
	f.takeOver(ctx, s)
}

// other is another host as a node that attempts are given to.
func (f *fleet) other(m *cluster.Member) dispatch.Member {
	remote := f.remotes[m.Incarnation]
	if remote == nil {
		remote = dispatch.NewRemote(dispatch.RemoteConfig{
			Sender: sender{f, m.Incarnation}, Full: full, Undelivered: f.again.Undelivered,
			CancelFailed: func(id ax.InstanceID, err error) {
				f.log.Warn("a cancel did not reach the host that runs the instance", "instance_id", id, "error", err)
			},
			Freed: f.h.engine.Freed, Now: f.view.Now, Settle: f.h.executor.Settle,
		}, m.Node)
		f.remotes[m.Incarnation] = remote
	}
	remote.Hear(m.Node)
	away := ""
	switch {
	case m.Draining:
		away = "is leaving"
	case m.Suspect:
		away = "cannot be reached"
	case !m.TakesAttempts():
		away = "has been silent for " + m.Silence.Round(time.Second).String()
	}
	return dispatch.Member{
		Name: m.Name, Incarnation: m.Incarnation, Labels: m.Labels, Offers: m.Offers, Workers: m.Workers,
		Away: away, Node: remote,
	}
}

// takeOver lets go of tasks that other hosts schedule now, and takes on those
// that they do not any more.
func (f *fleet) takeOver(ctx context.Context, s *cluster.Snapshot) {
	for {
		gained := f.h.engine.Share(f.mine(s))
		if len(gained) == 0 {
			return
		}
		begin := time.Now()
		taken, err := f.left(ctx, gained)
		if err == nil {
			f.h.engine.Take(taken)
			f.h.metrics.TookOver(len(taken))
			f.log.Info("tasks taken over", "tasks", len(taken), "took", time.Since(begin).Round(time.Millisecond))
			return
		}
		f.complain(ctx, "cannot read what another host has left, will try again", err)
		if pause(ctx, time.Second) != nil {
			return
		}
		s = f.view.Snapshot()
	}
}

// left reads what the database has of tasks.
func (f *fleet) left(ctx context.Context, tasks []*ax.Task) ([]engine.Taken, error) {
	app := f.h.live.Load().cfg.App
	taken := make([]engine.Taken, 0, len(tasks))
	at := make(map[ax.TaskID]int, len(tasks))
	inBuckets := map[int]bool{}
	for _, task := range tasks {
		at[task.ID] = -1
		inBuckets[task.ID.Bucket()] = true
	}
	buckets := make([]int, 0, len(inBuckets))
	for b := range inBuckets {
		buckets = append(buckets, b)
	}
	rows, err := f.h.store.TasksIn(ctx, app, buckets)
	if err != nil {
		return nil, err
	}
	for i := range rows {
		if _, wanted := at[rows[i].ID]; wanted {
			at[rows[i].ID] = len(taken)
			one := engine.Taken{Task: rows[i].ID, State: rows[i].TaskState}
			if one.State.Paused { // few are
				if one.PauseAt, err = pauseAt(ctx, f.h.store, app, rows[i].Name); err != nil {
					return nil, err
				}
			}
			taken = append(taken, one)
		}
	}
	for inst, err := range f.h.store.Unfinished(ctx, app) {
		if err != nil {
			return nil, err
		}
		if i, ok := at[inst.TaskID]; ok && i >= 0 {
			taken[i].Unfinished = append(taken[i].Unfinished, inst)
			f.doubt(inst.Owner)
		}
	}
	return taken, nil
}

// doubt notes an incarnation that may be gone.
func (f *fleet) doubt(incarnation string) {
	if incarnation != "" && !f.dispatch.Takes(incarnation) {
		f.doubted[incarnation] = true
	}
}

// look finds what no message has told: ends of attempts elsewhere, attempts of
// hosts that died, tasks that other hosts have changed.
func (f *fleet) look(ctx context.Context) {
	if f.sole {
		return
	}
	was := f.fenced
	if f.fenced = f.view.Fenced(); f.fenced {
		return
	}
	if was {
		f.h.freed() // nothing had room meanwhile
	}
	if ids := f.h.engine.Unsure(unsureAfter); len(ids) > 0 {
		rows, err := f.h.store.InstancesOf(ctx, ids)
		if err != nil {
			f.complain(ctx, "cannot read what has become of attempts elsewhere", err)
			return
		}
		for i := range rows {
			f.doubt(rows[i].Owner)
		}
		f.h.engine.Found(rows)
	}
	f.rescue(ctx)
	f.reread(ctx)
	f.handed(ctx)
	f.retries(ctx)
}

// retries looks for attempts that are overdue because no host knows of them: the
// one that had the task let go of it just when the attempt before failed, and its
// message was lost.
func (f *fleet) retries(ctx context.Context) {
	if time.Since(f.retriesAt) < retriesEvery {
		return
	}
	f.retriesAt = time.Now()
	rows, err := f.h.store.RetriesDue(ctx, f.h.live.Load().cfg.App, f.h.now().Add(-retriesEvery), f.retried, handedLimit)
	if err != nil {
		f.complain(ctx, "cannot look for attempts that are overdue", err)
		return
	}
	if f.retried = 0; len(rows) == handedLimit {
		f.retried = rows[len(rows)-1].ID // go on behind them the next time
	}
	f.h.engine.Handed(rows)
}

// handed looks for runs by hand and backfills that other hosts have written, of
// which no message came.
func (f *fleet) handed(ctx context.Context) {
	rows, err := f.h.store.Instances(ctx, ax.InstanceFilter{
		App: f.h.live.Load().cfg.App, Statuses: []ax.Status{ax.StatusTriggered},
		Kinds: []ax.Kind{ax.KindManual, ax.KindBackfill}, Limit: handedLimit,
	})
	if err != nil {
		f.complain(ctx, "cannot look for runs that other hosts have asked for", err)
		return
	}
	f.h.engine.Handed(rows)
}

// rescue ends what dead hosts were running, as far as this host schedules it.
func (f *fleet) rescue(ctx context.Context) {
	var dead []string
	for incarnation := range f.doubted {
		if incarnation != f.h.incarnation && f.view.Dead(incarnation) {
			dead = append(dead, incarnation)
		}
	}
	if len(dead) == 0 {
		return
	}
	app := f.h.live.Load().cfg.App
	left, err := rescue.Run(f.rescuer(), f.own(f.h.store.UnfinishedOf(ctx, app, dead)), f.h.now())
	if err != nil {
		f.complain(ctx, "cannot rescue the runs of dead hosts, will try again", err)
		return
	}
	f.h.engine.Found(left)
	for _, incarnation := range dead {
		delete(f.doubted, incarnation)
	}
}

func (f *fleet) rescuer() rescue.Config {
	dead := f.view.Dead
	if f.sole {
		// The data directory is locked and the database is in it: every other
		// incarnation is a former life of this host.
		dead = func(incarnation string) bool { return incarnation != f.h.incarnation }
	}
	return rescue.Config{
		Writer: f.h.writer, IDs: f.h.ids, Log: f.h.log.Named("rescue"), Task: f.h.taskOf, Dead: dead, Ended: f.h.rescued,
	}
}

// own keeps the instances of tasks that this host schedules; those of tasks that
// are gone fall to the owner of their bucket.
func (f *fleet) own(all iter.Seq2[ax.Instance, error]) iter.Seq2[ax.Instance, error] {
	s := f.view.Snapshot()
	mine := f.mine(s)
	return func(yield func(ax.Instance, error) bool) {
		for inst, err := range all {
			keep := err != nil || f.sole
			if !keep {
				if task := f.h.taskOf(inst.TaskID); task != nil {
					keep = mine(task)
				} else {
					keep = s.Owns(inst.TaskID.Bucket())
				}
			}
			if keep && !yield(inst, err) {
				return
			}
		}
	}
}

// reread looks for tasks that another host has paused, resumed or changed.
func (f *fleet) reread(ctx context.Context) {
	app := f.h.live.Load().cfg.App
	version, err := f.h.store.TasksVersion(ctx, app)
	if err != nil || version == f.version {
		return
	}
	changes, err := f.h.store.TasksSince(ctx, app, f.version)
	if err != nil {
		f.complain(ctx, "cannot read which tasks have changed", err)
		return
	}
	f.version = changes.Version
	f.h.adoptChanges(changes.Changed, changes.Deleted)
	ids := make([]ax.TaskID, len(changes.Changed))
	for i := range changes.Changed {
		ids[i] = changes.Changed[i].ID
	}
	f.h.engine.Reread(ids)
}

// overdue looks again at tasks whose due time has no record although it should:
// this host at its own ones, the owners at the others.
func (f *fleet) overdue(tasks []ax.OverdueTask) {
	mine := f.mine(f.view.Snapshot())
	var ids []ax.TaskID
	for i := range tasks {
		switch task := f.h.taskOf(tasks[i].ID); {
		case task == nil:
		case mine(task):
			ids = append(ids, task.ID)
		default:
			f.elsewhere(task)
		}
	}
	if len(ids) > 0 {
		f.h.engine.Reread(ids)
	}
}

// complain logs an error, unless the host is being stopped.
func (f *fleet) complain(ctx context.Context, what string, err error) {
	if ctx.Err() == nil {
		f.log.Error(what, "error", err)
	}
}
