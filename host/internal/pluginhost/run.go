package pluginhost

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/axsched/ax/host/internal/ax"
	pb "github.com/axsched/ax/pluginapi/proto/ax/plugin/v1"
	"github.com/axsched/ax/pluginapi/wire"
)

// Causes, besides those of package pluginapi, for which a run is ended.
var (
	errSilent       = errors.New("the run gave no sign of life")
	errBrokenStream = errors.New("the stream of the run broke")
)

// run is one attempt in progress. The goroutine of Job.Run receives its events
// (drive); timers and the end of the context act beside it by canceling the run
// or ending its process, upon which the events end.
type run struct {
	*visit
	req  ax.RunRequest
	sink func(ax.Output)
	id   string

	cancelStream context.CancelFunc
	ended        chan struct{} // closed when no event can follow

	mu       sync.Mutex
	accepted time.Time // zero: not yet
	inSink   time.Time // since when; zero: it is not
	sinkTime time.Duration
	strikes  int   // times in a row that the run was silent too long
	cause    error // why the host ended it, if it did
	stuck    bool  // it did not end upon that
	silence  *time.Timer
}

func newRun(v *visit, req ax.RunRequest, sink func(ax.Output)) *run {
	id := fmt.Sprintf("%s.%d.%d", req.Instance, req.Attempt, v.proc.runIDs.Add(1))
	return &run{visit: v, req: req, sink: sink, id: id, ended: make(chan struct{})}
}

// close frees what the run holds.
func (r *run) close() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.silence != nil {
		r.silence.Stop()
	}
	if r.cancelStream != nil {
		r.cancelStream()
	}
	close(r.ended)
	if r.stuck {
		r.proc.unmarkStuck()
	}
}

// drive starts the run and takes its events until its end. An error means that
// the job did not begin.
func (r *run) drive(ctx context.Context) (ax.Outcome, error) {
	// The stream outlives ctx: after a soft cancel the last output still comes.
	streamCtx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	r.cancelStream = cancel
	deadline := int64(0)
	if !r.req.Deadline.IsZero() {
		deadline = wire.EncodeTime(r.req.Deadline)
	}
	stream, err := r.proc.conn.Job.Run(streamCtx, &pb.RunRequest{
		SpecId: r.want.id, Fire: fireOf(r.req), Deadline: deadline,
		CallbackUrl: r.req.CallbackURL, RunId: r.id,
	})
	if err != nil {
		return ax.Outcome{}, r.plugin.rpcError(r.proc, "Run", err)
	}
	r.mu.Lock()
	r.silence = time.AfterFunc(r.plugin.policy.CallTimeout, r.silent)
	r.mu.Unlock()
	defer context.AfterFunc(ctx, func() { r.softStop(context.Cause(ctx)) })()
	return r.receive(stream)
}

func (r *run) receive(stream grpc.ServerStreamingClient[pb.RunEvent]) (ax.Outcome, error) {
	for {
		event, err := stream.Recv()
		if err != nil {
			return r.broken(err)
		}
		r.heard(event)
		if out, ok := outputOf(event); ok {
			r.deliver(out)
		}
		if last, ok := event.GetEvent().(*pb.RunEvent_Outcome); ok {
			return r.finished(last.Outcome)
		}
	}
}

// heard notes a sign of life.
func (r *run) heard(event *pb.RunEvent) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.accepted.IsZero() && event.GetAccepted() != nil {
		r.accepted = time.Now()
	}
	r.strikes = 0
	r.silence.Reset(r.plugin.limits.silence)
}

// deliver gives output to the sink. A slow sink is no silence of the run.
func (r *run) deliver(out ax.Output) {
	r.mu.Lock()
	r.inSink = time.Now()
	r.mu.Unlock()
	r.sink(out)
	r.mu.Lock()
	r.sinkTime += time.Since(r.inSink)
	r.inSink = time.Time{}
	r.silence.Reset(r.plugin.limits.silence)
	r.mu.Unlock()
}

// inSinkSoFar is how long the host was busy with the output of the run.
func (r *run) inSinkSoFar() time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.inSink.IsZero() {
		return r.sinkTime
	}
	return r.sinkTime + time.Since(r.inSink)
}

// finished makes the outcome that the job reported.
func (r *run) finished(in *pb.RunOutcome) (ax.Outcome, error) {
	r.mu.Lock()
	accepted, cause := r.accepted, r.cause
	r.mu.Unlock()
	if problem := wire.DecodeProblem(in.GetProblem()); problem != nil && accepted.IsZero() {
		return ax.Outcome{}, fmt.Errorf("%s: %w", r.component.FullName(), problem)
	}
	out := outcomeOf(in, cause)
	out.StartedAt = accepted
	if err := checkData(&out); err != nil {
		r.sink(ax.Output{Lines: []ax.Line{{
			At: time.Now(), Level: "warn", Text: "the result's data is not kept: " + err.Error(),
		}}})
	}
	return out, nil
}

// broken makes the outcome of a run whose stream ended without one.
func (r *run) broken(err error) (ax.Outcome, error) {
	r.mu.Lock()
	stuck := r.stuck
	r.mu.Unlock()
	name := r.component.FullName()
	if errors.Is(err, io.EOF) { // the handler returned, so the job is over
		return r.lost(name + " ended the run without an outcome")
	}
	switch status.Code(err) {
	case codes.Unavailable, codes.Canceled:
		if stuck {
			return r.killed()
		}
		words := r.plugin.lastWords(r.proc, "Run")
		<-r.proc.exited() // the job must not live on beside its retry
		return r.lost("plugin " + r.plugin.name + ": " + words)
	case codes.ResourceExhausted, codes.Internal, codes.DataLoss:
		// This end may have broken the stream, so the job may still be running.
		r.giveUp(fmt.Errorf("%w: %w", errBrokenStream, err))
		return r.killed()
	}
	// The handler of a plugin that reports failures in its own way.
	if r.startedAt().IsZero() {
		return ax.Outcome{}, r.plugin.rpcError(r.proc, "Run", err)
	}
	return ax.Outcome{Status: ax.StatusFailed, Error: fmt.Sprintf("%s: %v", name, err), StartedAt: r.startedAt()}, nil
}

func (r *run) startedAt() time.Time {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.accepted
}

// lost is the outcome of a run whose end is not known. One that was to end
// anyway counts as ended for that reason.
func (r *run) lost(reason string) (ax.Outcome, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	out := ax.Outcome{Status: ax.StatusLost, Error: reason, StartedAt: r.accepted}
	if r.cause != nil {
		out.Status = statusOf(r.cause)
		out.Error = fmt.Sprintf("%v; %s", r.cause, reason)
	}
	return out, nil
}

// killed waits for the end of the process of a stuck run.
func (r *run) killed() (ax.Outcome, error) {
	<-r.proc.exited()
	if errors.Is(r.cause, errBrokenStream) {
		return r.lost("its process was killed")
	}
	return r.lost(fmt.Sprintf("it did not end within its grace of %v, so its process was killed", r.grace()))
}

func (r *run) grace() time.Duration {
	if r.req.Grace > 0 {
		return r.req.Grace
	}
	return r.plugin.limits.grace
}

// softStop tells the job to end, and gives it up if it does not.
func (r *run) softStop(cause error) {
	r.mu.Lock()
	if r.cause != nil || isClosed(r.ended) {
		r.mu.Unlock()
		return
	}
	r.cause = cause
	r.mu.Unlock()
	reason := wire.EncodeReason(cause)
	if reason == "" {
		reason = wire.ReasonCanceled
	}
	graceOver := r.startGrace()
	for pause := firstCancelPause; !r.tellCancel(reason); pause *= 2 {
		// The request to run may still be on its way to the job: say it again.
		select {
		case <-time.After(pause):
			continue
		case <-r.ended:
			return
		case <-graceOver:
			r.giveUp(cause)
			return
		}
	}
	select {
	case <-r.ended:
	case <-graceOver:
		r.giveUp(cause)
	}
}

// startGrace returns a channel that is closed once the job has had its grace.
// Time in which the host itself kept the job waiting with its output is not
// part of it.
func (r *run) startGrace() <-chan struct{} {
	over := make(chan struct{})
	go func() {
		busy := r.inSinkSoFar()
		for left := r.grace(); left > 0; {
			select {
			case <-time.After(left):
			case <-r.ended:
				return
			}
			now := r.inSinkSoFar()
			left, busy = now-busy, now
		}
		close(over)
	}()
	return over
}

// firstCancelPause is the wait before a cancel that came too early is repeated.
const firstCancelPause = 10 * time.Millisecond

// tellCancel tells the job to end. It reports false if the plugin does not know
// the run, or not yet.
func (r *run) tellCancel(reason string) bool {
	ctx, cancel := context.WithTimeout(context.Background(), r.plugin.limits.healthCall)
	defer cancel()
	reply, err := r.proc.conn.Job.Cancel(ctx, &pb.CancelRequest{RunId: r.id, Reason: reason})
	if err != nil {
		r.proc.log.Warn("run could not be canceled", "run", r.id, "error", err)
		return true
	}
	return reply.GetFound()
}

// giveUp has the process of the run ended, since nothing else ends the run.
func (r *run) giveUp(cause error) {
	r.mu.Lock()
	if r.stuck || isClosed(r.ended) {
		r.mu.Unlock()
		return
	}
	r.stuck = true
	if r.cause == nil {
		r.cause = cause
	}
	r.proc.markStuck()
	r.mu.Unlock()
	r.proc.log.Warn("a run does not end, its process is replaced",
		"task", r.req.Task, "instance", r.req.Instance.String(), "cause", cause)
	r.plugin.retire(r.proc, r.plugin.policy.DrainTimeout)
}

// silent is called when no event came for too long. A process that does not
// answer a health check either is killed. If it does, the run gets as much
// time again, and is then ended.
func (r *run) silent() {
	r.mu.Lock()
	if !r.inSink.IsZero() || isClosed(r.ended) || r.stuck {
		r.mu.Unlock()
		return
	}
	r.mu.Unlock()
	err := r.proc.health(context.Background())
	r.mu.Lock()
	again := err == nil || isUnwell(err)
	if again {
		r.strikes++
		r.silence.Reset(r.plugin.limits.silence)
	}
	strikes := r.strikes
	r.mu.Unlock()
	switch {
	case isClosed(r.ended):
	case !again:
		r.proc.kill("a run gave no sign of life, and " + err.Error())
	case strikes >= 2:
		r.softStop(errSilent)
	}
}
