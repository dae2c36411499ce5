package wire

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"google.golang.org/grpc"

	"github.com/axsched/ax/pluginapi"
	pb "github.com/axsched/ax/pluginapi/proto/ax/plugin/v1"
)

const (
	beatInterval = 5 * time.Second
	lingerTime   = 50 * time.Millisecond // how long a line waits for company
	maxData      = 64 << 10              // of Result.Data as JSON
)

// jobService implements the Job service.
type jobService struct {
	pb.UnimplementedJobServer
	server *Server
}

// Run does one run; see plugin.proto for the order of events.
func (j jobService) Run(in *pb.RunRequest, stream grpc.ServerStreamingServer[pb.RunEvent]) error {
	ctx, cancel := context.WithCancelCause(context.WithoutCancel(stream.Context()))
	defer cancel(nil)
	if deadline := decodeDeadline(in.GetDeadline()); !deadline.IsZero() {
		var stop context.CancelFunc
		ctx, stop = context.WithDeadlineCause(ctx, deadline, pluginapi.ErrTimeout)
		defer stop()
	}
	job, sp, err := use[pluginapi.Job](j.server.specs, pluginapi.KindJob, in.GetSpecId())
	if err != nil {
		return stream.Send(outcomeEvent(&pb.RunOutcome{Problem: EncodeProblem(err)}))
	}
	defer j.server.unuse(sp)
	fire, err := decodeFire(in.GetFire(), j.server.specs.zone)
	if err != nil {
		return stream.Send(outcomeEvent(&pb.RunOutcome{Problem: invalid("decode fire", err)}))
	}
	entry, err := j.server.runs.begin(in.GetRunId(), cancel)
	if err != nil {
		return stream.Send(outcomeEvent(&pb.RunOutcome{Problem: EncodeProblem(err)}))
	}
	defer j.server.runs.end(in.GetRunId())
	r := &jobRun{stream: stream, ring: newRing()}
	// The hard way to end a run is to close its stream.
	defer context.AfterFunc(stream.Context(), func() { r.abandon(cancel) })()

	if err := stream.Send(&pb.RunEvent{Event: &pb.RunEvent_Accepted{Accepted: &pb.Accepted{}}}); err != nil {
		return err
	}
	ended := r.start(ctx, job, j.newRun(in, fire, entry, r))
	return r.pump(ended, cancel)
}

// Cancel ends the context of a run softly: its last lines and its outcome
// still arrive.
func (j jobService) Cancel(_ context.Context, in *pb.CancelRequest) (*pb.CancelReply, error) {
	return &pb.CancelReply{Found: j.server.runs.cancel(in.GetRunId(), DecodeReason(in.GetReason()))}, nil
}

func (j jobService) newRun(in *pb.RunRequest, fire pluginapi.Fire, entry *running, r *jobRun) *pluginapi.Run {
	r.output.emit = func(text string) { r.line(levelOutput, text) }
	return &pluginapi.Run{
		Fire:        fire,
		Deadline:    decodeDeadline(in.GetDeadline()),
		CallbackURL: in.GetCallbackUrl(),
		Log: slog.New(newRunHandler(j.server.cfg.Level, func(level slog.Level, text string) {
			r.line(LevelName(level), text)
		})),
		Output:   &r.output,
		Progress: r.setProgress,
		OnKill:   func(kill func()) func() { return j.server.runs.onKill(entry, kill) },
	}
}

// jobRun carries what a job reports to the stream of its call. For its lines the
// job may have to wait until the host takes them, see [ring].
type jobRun struct {
	stream   grpc.ServerStreamingServer[pb.RunEvent]
	ring     *ring
	output   lineWriter
	progress atomic.Pointer[pb.Progress] // the latest, until it is sent
}

func (r *jobRun) line(level, text string) {
	r.ring.add(line{at: time.Now(), level: level, text: cutLine(text, 0)})
}

func (r *jobRun) setProgress(done, total int64, message string) {
	r.progress.Store(&pb.Progress{Done: done, Total: total, Message: validText(message)})
	signal(r.ring.wake)
}

// abandon ends a run whose host is gone.
func (r *jobRun) abandon(cancel context.CancelCauseFunc) {
	cancel(errHostGone)
	r.ring.close()
}

// start runs the job; the channel gets its outcome, after which no line is
// added.
func (r *jobRun) start(ctx context.Context, job pluginapi.Job, run *pluginapi.Run) <-chan *pb.RunOutcome {
	ended := make(chan *pb.RunOutcome, 1)
	stopHurry := context.AfterFunc(ctx, r.ring.hurry)
	go func() {
		defer stopHurry()
		var result pluginapi.Result
		err := error(&ProblemError{Kind: pb.Problem_INTERNAL, Message: "the job ended its goroutine"})
		defer func() {
			outcome := r.outcome(ctx, result, err)
			r.output.Close()
			r.ring.close()
			ended <- outcome
		}()
		err = guard(func() (err error) {
			result, err = job.Run(ctx, run)
			return err
		})
	}()
	return ended
}

// outcome describes the end of the job.
func (r *jobRun) outcome(ctx context.Context, result pluginapi.Result, err error) *pb.RunOutcome {
	if err != nil {
		cause := context.Cause(ctx)
		out := &pb.RunOutcome{EndedBy: EncodeReason(cause)}
		switch {
		case cause == nil || !isContextEnd(err):
		case errors.Unwrap(err) == nil: // "context canceled" alone says little
			err = cause
		default:
			err = fmt.Errorf("%w (%w)", err, cause)
		}
		out.Problem = EncodeProblem(err)
		out.Data = r.data(result.Data) // what is known of a failure: an exit code, a status
		return out
	}
	return &pb.RunOutcome{Message: validText(result.Message), Data: r.data(result.Data), Deferred: result.Deferred}
}

// data encodes Result.Data. The work is done, so data that cannot be kept is
// no failure, but the run's log says so.
func (r *jobRun) data(data map[string]any) []byte {
	var raw []byte
	err := guard(func() (err error) {
		raw, err = EncodeObject(data) // may call methods of the author's types
		return err
	})
	if err == nil && len(raw) > maxData {
		err = fmt.Errorf("%d bytes of JSON are more than %d", len(raw), maxData)
	}
	if err != nil {
		r.line("warn", "the result's data is not kept: "+err.Error())
		return nil
	}
	return raw
}

// pump sends lines, progress and beats until the job has ended, and then its
// outcome. If the stream breaks it cancels the job and waits for it.
func (r *jobRun) pump(ended <-chan *pb.RunOutcome, cancel context.CancelCauseFunc) error {
	beat := time.NewTicker(beatInterval)
	defer beat.Stop()
	linger := time.NewTimer(lingerTime)
	defer linger.Stop()
	for waiting := true; ; {
		var err error
		select {
		case outcome := <-ended:
			return errors.Join(r.flush(), r.stream.Send(outcomeEvent(outcome)))
		case <-r.ring.wake:
			if !waiting {
				waiting = true
				linger.Reset(lingerTime)
			}
		case <-linger.C:
			waiting = false
			err = r.flush()
		case <-r.ring.full:
			err = r.flush()
		case <-beat.C:
			err = r.stream.Send(&pb.RunEvent{Event: &pb.RunEvent_Beat{Beat: &pb.Beat{}}})
		}
		if err != nil {
			r.abandon(cancel)
			<-ended
			return err
		}
	}
}

// flush sends all lines and the latest progress.
func (r *jobRun) flush() error {
	for {
		if p := r.progress.Swap(nil); p != nil {
			if err := r.stream.Send(&pb.RunEvent{Event: &pb.RunEvent_Progress{Progress: p}}); err != nil {
				return err
			}
		}
		batch, missing := r.ring.take()
		if len(batch) == 0 && missing.lines == 0 {
			return nil
		}
		if err := r.stream.Send(&pb.RunEvent{Event: &pb.RunEvent_Logs{Logs: encodeLines(batch, missing)}}); err != nil {
			return err
		}
	}
}

func encodeLines(batch []line, missing gap) *pb.LogBatch {
	lines := make([]pb.LogLine, len(batch)) // one allocation for all
	logs := &pb.LogBatch{Lines: make([]*pb.LogLine, len(batch)), Dropped: missing.lines, DroppedBytes: missing.bytes}
	for i, l := range batch {
		lines[i].At, lines[i].Level, lines[i].Text = EncodeTime(l.at), l.level, validText(l.text)
		logs.Lines[i] = &lines[i]
	}
	return logs
}

func outcomeEvent(outcome *pb.RunOutcome) *pb.RunEvent {
	return &pb.RunEvent{Event: &pb.RunEvent_Outcome{Outcome: outcome}}
}
