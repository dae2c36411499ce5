package pluginhost

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/axsched/ax/host/internal/ax"
	"github.com/axsched/ax/pluginapi"
	pb "github.com/axsched/ax/pluginapi/proto/ax/plugin/v1"
	"github.com/axsched/ax/pluginapi/wire"
)

// Job is a job component with its settings; see Trigger about handles.
type Job struct{ handle handle }

// Job returns a handle.
func (h *Host) Job(spec Spec) *Job {
	return &Job{h.handle(pluginapi.KindJob, spec)}
}

// Run makes one attempt and returns its end, which is always an Outcome:
//
//   - SUCCESS, FAILED, or RUNNING with Deferred: the job said so;
//   - TIMEOUT or CANCELED: ctx ended, with pluginapi.ErrTimeout, ErrCanceled or
//     ErrReplaced as its cause, and the job failed upon that or did not end;
//   - LOST: the process died, gave no sign of life or broke the contract, the
//     plugin was not available, or ctx ended with pluginapi.ErrDrain. NotBegun
//     says that no process was asked.
//
// A process that ends or drains before it was asked to run costs no attempt: the
// next one is asked, a few times. Once it was asked nobody can say that the job
// did not begin, so that is never done twice: a process that dies in the very
// moment in which a job begins takes the confirmation with it.
//
// When ctx ends the job is told so and has req.Grace to end. A job that has not
// ended by then costs its process its life: new runs go to a fresh one, others
// of the old one may go on for the policy's DrainTimeout. Run returns after the
// kill, so no attempt ever lives on beside its retry.
//
// sink takes output while the job runs, one call at a time and none after Run
// has returned. While it does not return the plugin's output has to wait.
func (j *Job) Run(ctx context.Context, req ax.RunRequest, sink func(ax.Output)) ax.Outcome {
	begin := time.Now()
	out := j.run(ctx, req, sink)
	if out.StartedAt.IsZero() {
		out.StartedAt = begin
	}
	out.EndedAt = time.Now()
	return out
}

// attempt prepares the component and runs it. An error means that the job did
// not begin.
func (v *visit) attempt(ctx context.Context, req ax.RunRequest, sink func(ax.Output)) (ax.Outcome, error) {
	done, err := v.prepare(ctx)
	if err != nil {
		return ax.Outcome{}, err
	}
	defer done()
	r := newRun(v, req, sink)
	defer r.close()
	return r.drive(ctx)
}

// statusOf is the status of an attempt that ended because of cause.
func statusOf(cause error) ax.Status {
	switch {
	case errors.Is(cause, pluginapi.ErrTimeout), errors.Is(cause, context.DeadlineExceeded):
		return ax.StatusTimeout
	case errors.Is(cause, pluginapi.ErrDrain), errors.Is(cause, errSilent), errors.Is(cause, errBrokenStream):
		return ax.StatusLost
	}
	return ax.StatusCanceled
}

func withStack(message, stack string) string {
	if stack == "" {
		return message
	}
	return message + "\n" + stack
}

// outcomeOf is the outcome that the job reported. cause is why the host ended
// it, if it did.
func outcomeOf(in *pb.RunOutcome, cause error) ax.Outcome {
	err := wire.DecodeProblem(in.GetProblem())
	if err == nil {
		out := ax.Outcome{Status: ax.StatusSuccess, Message: in.GetMessage(), Data: in.GetData()}
		if in.GetDeferred() {
			out.Status, out.Deferred = ax.StatusRunning, true
		}
		return out
	}
	out := ax.Outcome{
		Status: ax.StatusFailed, Message: in.GetMessage(), Data: in.GetData(), Permanent: pluginapi.IsPermanent(err),
		Error: withStack(err.Error(), in.GetProblem().GetStack()),
	}
	if cause == nil && in.GetEndedBy() != "" {
		cause = wire.DecodeReason(in.GetEndedBy())
	}
	if cause != nil {
		out.Status = statusOf(cause)
	}
	return out
}

// outputOf translates the events that carry output.
func outputOf(event *pb.RunEvent) (ax.Output, bool) {
	switch e := event.GetEvent().(type) {
	case *pb.RunEvent_Logs:
		lines := make([]ax.Line, len(e.Logs.GetLines()))
		for i, l := range e.Logs.GetLines() {
			lines[i] = ax.Line{At: wire.DecodeTime(l.GetAt(), nil), Level: l.GetLevel(), Text: l.GetText()}
		}
		return ax.Output{Lines: lines, Dropped: e.Logs.GetDropped(), DroppedBytes: e.Logs.GetDroppedBytes()}, true
	case *pb.RunEvent_Progress:
		return ax.Output{Progress: &ax.Progress{
			Done: e.Progress.GetDone(), Total: e.Progress.GetTotal(), Message: e.Progress.GetMessage(),
		}}, true
	}
	return ax.Output{}, false
}

// maxData is the most that is kept of a result's data.
const maxData = 64 << 10

// checkData drops data that cannot be kept and tells why. The work is done, so
// that is no failure.
func checkData(out *ax.Outcome) error {
	_, err := wire.DecodeObject(out.Data)
	if err == nil && len(out.Data) > maxData {
		err = fmt.Errorf("%d bytes are more than %d", len(out.Data), maxData)
	}
	if err != nil {
		out.Data = nil
	}
	return err
}
