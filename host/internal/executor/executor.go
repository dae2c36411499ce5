// Package executor runs attempts: a bounded pool of workers with a bounded
// queue, claims, timeouts, cancels, output and outcomes.
package executor

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/axsched/ax/host/internal/ax"
	"github.com/axsched/ax/pluginapi"
)

// Writer is the group-commit writer of the store.
type Writer interface{ Submit(ax.Change) }

// Job does the work of a task, in a plugin or in the host.
type Job interface {
	// Run blocks until the attempt has ended and cannot do anything any more.
	Run(ctx context.Context, req ax.RunRequest, sink func(ax.Output)) ax.Outcome
}

// Jobs finds what a task needs for an attempt.
type Jobs interface {
	Job(*ax.Task) Job
	// BindParams makes the parameters of an attempt; over is laid on top. keep
	// says that they may be written into the row, so that a retry sees the same
	// ones: parameters that hold a secret may not.
	BindParams(ctx context.Context, task *ax.Task, req ax.RunRequest, over json.RawMessage) (params json.RawMessage, keep bool, err error)
	// Before tells listeners of an attempt that is about to start.
	Before(ctx context.Context, task *ax.Task, req ax.RunRequest)
	// Lane names the group of jobs that may block one another.
	Lane(*ax.Task) string
}

// Config of an Executor.
type Config struct {
	App, Node, Incarnation string
	// Workers is how many attempts run at once, 0 = twice the CPUs. Queue is how
	// many wait for a worker, 0 = 128.
	Workers, Queue int
	Writer         Writer
	Jobs           Jobs
	IDs            *ax.IDs
	Log            hclog.Logger
	// Now is the clock of the rows, nil for that of this machine.
	Now func() time.Time
	// Fenced reports that other hosts may have taken this one for dead: no
	// attempt may begin. nil = never.
	Fenced func() bool
	// CallbackURL makes the URL by which a deferred job reports its end; nil or
	// an empty result = none.
	CallbackURL func(id ax.InstanceID, token string) string
	// Freed is told that there may be room again after a RoomNone.
	Freed func()
	// Ended is told of each attempt's end once it is in the database.
	Ended func(ax.Ended)
	// Returned is told of each attempt that could not begin, once its row is
	// TRIGGERED again.
	Returned func(ax.Instance)
	// Keep keeps an end safe that the database has not taken within moments, and
	// sees to it that it gets there; nil if nobody can. See Delivered.
	Keep func(Kept) error
	// Observe is told that an attempt starts.
	Observe func(ax.Happening)
}

// Executor runs attempts. Make one with New.
type Executor struct {
	cfg  Config
	pool *pool
	ctx  context.Context // ends when the executor gives up on its attempts
	stop context.CancelCauseFunc

	mu     sync.Mutex
	active map[ax.InstanceID]context.CancelCauseFunc
	queued map[ax.InstanceID]bool // in the queue without a claim
	kept   map[keptKey]bool       // by Keep, and not yet in the database
	wg     sync.WaitGroup
}

// New returns an Executor that runs nothing yet.
func New(cfg Config) *Executor {
	if cfg.Workers <= 0 {
		cfg.Workers = 2 * runtime.NumCPU()
	}
	if cfg.Queue <= 0 {
		cfg.Queue = 128
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Fenced == nil {
		cfg.Fenced = func() bool { return false }
	}
	e := &Executor{cfg: cfg, active: map[ax.InstanceID]context.CancelCauseFunc{}, queued: map[ax.InstanceID]bool{}, kept: map[keptKey]bool{}}
	e.pool = newPool(cfg.Workers, cfg.Queue, cfg.Freed, cfg.Now)
	e.ctx, e.stop = context.WithCancelCause(context.Background())
	return e
}

// Reserve asks for a place for an attempt of the task that begins at the given
// time, or now if that is past; see ax.Room.
func (e *Executor) Reserve(task *ax.Task, at time.Time) ax.Room {
	if e.cfg.Fenced() {
		return ax.RoomNone
	}
	return e.pool.reserve(e.cfg.Jobs.Lane(task), at.After(e.cfg.Now()))
}

// Release gives back a place that no attempt was started with.
func (e *Executor) Release(task *ax.Task, room ax.Room) {
	e.pool.release(e.cfg.Jobs.Lane(task), room)
}

// Start runs an attempt with a reserved place, though not before its due time.
// It does not block.
func (e *Executor) Start(a ax.Attempt, room ax.Room) {
	switch room {
	case ax.RoomNow:
		ctx := e.enter(a.Instance.ID)
		e.wg.Go(func() { e.run(ctx, a) })
	case ax.RoomSoon:
		e.queueClaimed(a, 0)
	case ax.RoomQueue:
		e.queue(a)
	case ax.RoomNone:
	}
}

// Holds reports whether an attempt of the instance runs or waits here.
func (e *Executor) Holds(id ax.InstanceID) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.active[id] != nil || e.queued[id]
}

// enter makes the context of an attempt, by which it can be canceled from now
// on.
func (e *Executor) enter(id ax.InstanceID) context.Context {
	ctx, cancel := context.WithCancelCause(e.ctx)
	e.mu.Lock()
	e.active[id] = cancel
	e.mu.Unlock()
	return ctx
}

func (e *Executor) leave(id ax.InstanceID) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if cancel := e.active[id]; cancel != nil {
		cancel(nil)
	}
	delete(e.active, id)
}

// write submits a change and waits for the answer.
func (e *Executor) write(c ax.Change) (applied bool, err error) {
	done := make(chan struct{})
	c.Done = func(ok bool, e error) {
		applied, err = ok, e
		close(done)
	}
	e.cfg.Writer.Submit(c)
	<-done
	return applied, err
}

// Cancel asks the attempt of an instance to end, with one of the causes of
// pluginapi. It reports whether the instance runs here.
func (e *Executor) Cancel(id ax.InstanceID, cause error) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	cancel, ok := e.active[id]
	if ok {
		cancel(cause)
	}
	return ok
}

// Counts returns how many attempts run and how many places of the queue are
// taken.
func (e *Executor) Counts() (running, queued int) { return e.pool.counts() }

// Size returns how many attempts run at once and how many places the queue has.
// Each lane may go beyond both by one.
func (e *Executor) Size() (workers, queue int) { return e.pool.workers, e.pool.queueLimit }

// Refused is how often an attempt found neither a worker nor a place so far.
func (e *Executor) Refused() uint64 { return e.pool.refusals() }

// Load returns how many attempts run or wait.
func (e *Executor) Load() int {
	running, queued := e.pool.counts()
	return running + queued
}

// Drain waits for the running attempts until ctx ends, then tells them to stop
// with pluginapi.ErrDrain and waits for their outcomes to be handed to the
// writer. What waits in the queue stays DISPATCHED for the next start. Nothing
// may be started meanwhile.
func (e *Executor) Drain(ctx context.Context) {
	e.pool.close()
	done := make(chan struct{})
	go func() { e.wg.Wait(); close(done) }()
	select {
	case <-done:
		return
	case <-ctx.Done():
	}
	e.stop(pluginapi.ErrDrain)
	<-done
}

// run makes one attempt, from the claim that is in the database to the outcome
// handed to the writer.
func (e *Executor) run(ctx context.Context, a ax.Attempt) {
	a.Instance.StartedAt = e.cfg.Now() // the claim was earlier: its commit, and perhaps a wait, lie between
	if e.cfg.Fenced() {
		e.unbegun(a, "the host was cut off from the database before the job began")
		return
	}
	e.cfg.Observe(ax.Happening{What: ax.AttemptStarted, At: a.Instance.StartedAt, Task: a.Task, Instance: a.Instance})
	token := newToken()
	out := e.attempt(ctx, &a, token)
	if out.NotBegun {
		e.unbegun(a, out.Error)
		return
	}
	out.StartedAt, out.EndedAt = a.Instance.StartedAt, e.cfg.Now()
	if out.Status == ax.StatusCanceled && errors.Is(context.Cause(ctx), pluginapi.ErrDrain) {
		// Nobody canceled it: it deserves another attempt.
		out.Status, out.Error = ax.StatusLost, "the host was stopped before the job ended"
	}

	e.leave(a.Instance.ID)
	lane := e.cfg.Jobs.Lane(a.Task)
	e.pool.took(lane, out.EndedAt.Sub(out.StartedAt))
	e.pool.release(lane, ax.RoomNow)
	if out.Deferred {
		e.deferred(a, out, token)
		return
	}
	e.Settle(a, out)
}

// attempt binds the parameters and runs the job. A panic in it is a failure of
// the attempt.
func (e *Executor) attempt(ctx context.Context, a *ax.Attempt, token string) (out ax.Outcome) {
	defer func() {
		if p := recover(); p != nil {
			e.cfg.Log.Error("panic in an attempt", "instance_id", a.Instance.ID, "task", a.Task.Name, "panic", p)
			out = ax.Outcome{Status: ax.StatusFailed, Error: fmt.Sprintf("panic in the host: %v", p)}
		}
	}()
	if err := context.Cause(ctx); err != nil {
		return ax.Outcome{Status: ax.StatusCanceled, Error: err.Error(), NotBegun: errors.Is(err, pluginapi.ErrDrain)}
	}
	if a.Task.Timeout > 0 {
		var stop context.CancelFunc
		ctx, stop = context.WithTimeoutCause(ctx, a.Task.Timeout, pluginapi.ErrTimeout)
		defer stop()
	}
	req := e.request(ctx, a, token)
	if !a.Instance.ParamsBound {
		params, keep, err := e.cfg.Jobs.BindParams(ctx, a.Task, req, a.Instance.Params)
		if err != nil {
			return ax.Outcome{
				Status: ax.StatusFailed, Error: fmt.Sprintf("make parameters: %v", err),
				Permanent: pluginapi.IsPermanent(err), NotBegun: errors.Is(err, ax.ErrAway) && ctx.Err() == nil,
			}
		}
		if keep {
			if err := e.bind(a, params); err != nil {
				return ax.Outcome{Status: ax.StatusLost, Error: fmt.Sprintf("keep parameters: %v", err)}
			}
		}
		req.Params = params
	}
	e.cfg.Jobs.Before(ctx, a.Task, req)
	log := newOutputLog(e, &a.Instance)
	out = e.cfg.Jobs.Job(a.Task).Run(ctx, req, log.write)
	log.close()
	return out
}

// bind writes the parameters into the row, so that a retry sees the same ones.
func (e *Executor) bind(a *ax.Attempt, params json.RawMessage) error {
	inst := a.Instance
	inst.Params, inst.ParamsBound = params, true
	applied, err := e.write(ax.Change{
		Move:   &ax.Move{From: ax.StatusRunning, Fence: inst.Fence, New: inst},
		Events: []ax.Event{e.event(&inst, e.cfg.Now(), ax.StageParams, "info", "parameters: "+string(params))},
	})
	switch {
	case err != nil:
		return err
	case !applied:
		return errors.New("the instance was taken over by another attempt")
	}
	a.Instance = inst
	return nil
}

func (e *Executor) request(ctx context.Context, a *ax.Attempt, token string) ax.RunRequest {
	inst, task := &a.Instance, a.Task
	req := ax.RunRequest{
		App: e.cfg.App, Task: task.Name, Instance: inst.ID, Kind: inst.Kind, Shard: inst.Shard, Shards: inst.Shards,
		Attempt: inst.Attempt, MaxAttempts: task.Retry.MaxAttempts(),
		ScheduledAt: inst.ScheduledAt, Zone: task.Schedule.Timezone,
		TraceID: inst.TraceID, Node: e.cfg.Node, Params: inst.Params, Fence: inst.Fence,
		Grace: task.Grace,
	}
	req.Deadline, _ = ctx.Deadline()
	if e.cfg.CallbackURL != nil {
		req.CallbackURL = e.cfg.CallbackURL(inst.ID, token)
	}
	return req
}

func (e *Executor) event(inst *ax.Instance, at time.Time, stage ax.Stage, level, text string) ax.Event {
	return ax.Event{
		ID: e.cfg.IDs.Next(at), InstanceID: inst.ID, TaskID: inst.TaskID, At: at,
		Attempt: inst.Attempt, Stage: stage, Level: level, Node: e.cfg.Node, Text: text,
	}
}
