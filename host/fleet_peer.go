package host

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/axsched/ax/host/internal/ax"
	"github.com/axsched/ax/host/internal/metrics"
	"github.com/axsched/ax/host/internal/peer"
	"github.com/axsched/ax/host/internal/trigger"
	"github.com/axsched/ax/pluginapi"
)

const (
	// messageTimeout bounds a message to another host that nobody waits for.
	messageTimeout = 5 * time.Second
	// flushFor bounds how long messages are begun when the host stops.
	flushFor = 2 * time.Second
)

// sender talks to one other host for package dispatch.
type sender struct {
	f           *fleet
	incarnation string
}

var errNoConnection = errors.New("there is no connection to the host")

func (s sender) Dispatch(ctx context.Context, a ax.Attempt) error {
	client := s.f.peers.Client(s.incarnation)
	if client == nil {
		return errNoConnection
	}
	err := client.Dispatch(ctx, peer.Dispatch{Instance: a.Instance, SentAt: s.f.h.now()})
	s.f.h.metrics.Dispatched(dispatchOutcome(err))
	return err
}

func dispatchOutcome(err error) string {
	switch {
	case err == nil:
		return metrics.Confirmed
	case full(err):
		return metrics.Full
	}
	return metrics.Unreachable
}

func (s sender) Cancel(ctx context.Context, id ax.InstanceID, fence int64, cause error) error {
	client := s.f.peers.Client(s.incarnation)
	if client == nil {
		return errNoConnection
	}
	_, err := client.Cancel(ctx, id, fence, cause.Error())
	return err
}

func full(err error) bool {
	refusal, ok := errors.AsType[*peer.RefusalError](err)
	return ok && refusal.Code == peer.Busy
}

// Receive puts an attempt of another host into the queue of this one.
func (f *fleet) Receive(ctx context.Context, d peer.Dispatch) error {
	task := f.h.taskOf(d.Instance.TaskID)
	if task == nil {
		return &peer.RefusalError{Code: peer.Unable, Text: "the task is not known here"}
	}
	inst := d.Instance
	if zone, err := trigger.Zone(task.Schedule.Timezone); err == nil {
		inst.ScheduledAt = inst.ScheduledAt.In(zone)
	}
	attempt := ax.Attempt{Task: task, Instance: inst}
	var refusal error
	err := f.room.wait(ctx, jobs{f.h}.Lane(task), func() bool {
		switch {
		case f.h.draining.Load() || f.drained.Load():
			refusal = &peer.RefusalError{Code: peer.Draining}
		case f.h.fenced():
			refusal = &peer.RefusalError{Code: peer.Fenced}
		default:
			return f.receive(attempt, d.SentAt)
		}
		return true
	})
	return cmp.Or(refusal, err)
}

// skew bounds by how much the clocks of two hosts are believed to differ: both
// follow that of the database.
const skew = time.Second

// receive puts an attempt into the queue if there is room, and notes that in the
// log of its instance, behind what its sender noted there.
func (f *fleet) receive(a ax.Attempt, sent time.Time) bool {
	now, inst := f.h.now(), &a.Instance
	if after := sent.Add(time.Millisecond); after.After(now) && after.Sub(now) < skew { // ids are as fine as that
		now = after
	}
	event := ax.Event{
		ID: f.h.ids.Next(now), InstanceID: inst.ID, TaskID: inst.TaskID, At: now, Attempt: inst.Attempt,
		Stage: ax.StageReceived, Level: "info", Node: f.h.live.Load().cfg.Node, Text: "received from the host that schedules the task",
	}
	if !f.h.executor.Receive(a) {
		return false
	}
	f.h.writer.Submit(ax.Change{Events: []ax.Event{event}})
	return true
}

// Cancel ends an attempt that another host was asked to end.
func (f *fleet) Cancel(id ax.InstanceID, _ int64, _ string) bool {
	return f.h.executor.Cancel(id, pluginapi.ErrCanceled)
}

// Ended takes note of ends of attempts that other hosts have made for this one.
func (f *fleet) Ended(ends []peer.Ended) {
	for _, end := range ends {
		f.h.engine.Ended(ax.Ended{Instance: end.Instance, WillRetry: end.WillRetry})
	}
}

// Changed reads tasks anew that another host has changed. One that is not known
// here was just made there.
func (f *fleet) Changed(_ string, tasks []ax.TaskID) {
	f.h.engine.Reread(tasks)
	if slices.ContainsFunc(tasks, func(id ax.TaskID) bool { return f.h.taskOf(id) == nil }) {
		notify(f.changed)
	}
}

// Leaving lets this host take over from one that drains.
func (f *fleet) Leaving(incarnation string) { f.view.Leaving(incarnation) }

// ended tells whoever schedules the task of an attempt's end.
func (f *fleet) ended(end ax.Ended) {
	s := f.view.Snapshot()
	owner, ok := ownerOf(s, end.Task)
	if f.sole || !ok || owner.Incarnation == s.Self {
		f.h.engine.Ended(end)
		return
	}
	f.post(owner.Incarnation, func(ctx context.Context, c *peer.Client) error {
		return c.Ended(ctx, peer.Ended{Instance: end.Instance, WillRetry: end.WillRetry})
	})
}

// elsewhere tells the host that schedules a task that it was changed.
func (f *fleet) elsewhere(task *ax.Task) {
	id := task.ID
	if owner, ok := ownerOf(f.view.Snapshot(), task); ok {
		f.post(owner.Incarnation, func(ctx context.Context, c *peer.Client) error { return c.Changed(ctx, id) })
	}
}

// cancelThere asks the host that runs an instance to end it.
func (f *fleet) cancelThere(ctx context.Context, inst ax.Instance) (found bool, err error) {
	if f.peers == nil {
		return false, nil
	}
	client := f.peers.Client(inst.Owner)
	if client == nil {
		return false, nil
	}
	return client.Cancel(ctx, inst.ID, inst.Fence, pluginapi.ErrCanceled.Error())
}

// post sends a message that may be lost: what it tells is found out by a look
// into the database, only later.
func (f *fleet) post(incarnation string, message func(context.Context, *peer.Client) error) {
	if f.peers == nil {
		return
	}
	select {
	case f.sends <- func() {
		client := f.peers.Client(incarnation)
		if client == nil {
			return
		}
		ctx, cancel := context.WithTimeout(context.Background(), messageTimeout)
		defer cancel()
		if err := message(ctx, client); err != nil {
			f.log.Debug("a message did not arrive", "to", incarnation, "error", err)
		}
	}:
	default:
	}
}

// send sends messages until the host stops, and then those that are still on
// their way: others would find out some seconds later what they tell.
func (f *fleet) send() {
	for {
		select {
		case message := <-f.sends:
			message()
		case <-f.quit:
			f.flush()
			return
		}
	}
}

// flush sends what waits, for a short time.
func (f *fleet) flush() {
	for end := time.Now().Add(flushFor); time.Now().Before(end); {
		select {
		case message := <-f.sends:
			message()
		default:
			return
		}
	}
}
