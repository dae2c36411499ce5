package wire

import (
	"context"
	"fmt"
	"time"

	"github.com/axsched/ax/pluginapi"
	pb "github.com/axsched/ax/pluginapi/proto/ax/plugin/v1"
)

// maxTimes bounds how many due times one item of Next may ask for.
const maxTimes = 10_000

// replyMargin is the part of the caller's time, one tenth, that Next keeps for
// sending what it has: the answers of good triggers must arrive.
const replyMargin = 10

// triggerService implements the Trigger service.
type triggerService struct {
	pb.UnimplementedTriggerServer
	server *Server
}

// Next answers all items at the same time, so that one trigger that hangs does
// not take the others with it: its item becomes RETRYABLE.
func (t triggerService) Next(ctx context.Context, in *pb.NextRequest) (*pb.NextReply, error) {
	if deadline, ok := ctx.Deadline(); ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadline(ctx, deadline.Add(-time.Until(deadline)/replyMargin))
		defer cancel()
	}
	items := in.GetItems()
	type answer struct {
		index  int
		result *pb.NextResult
	}
	answers := make(chan answer, len(items)) // a late answer finds room
	for i, item := range items {
		go func() { answers <- answer{i, t.next(ctx, item)} }()
	}
	reply := &pb.NextReply{Results: make([]*pb.NextResult, len(items))}
	for range items {
		select {
		case a := <-answers:
			reply.Results[a.index] = a.result
		case <-ctx.Done():
			return late(reply, items), nil
		}
	}
	return reply, nil
}

// late fills in the items that have no answer yet.
func late(reply *pb.NextReply, items []*pb.NextItem) *pb.NextReply {
	for i, item := range items {
		if reply.Results[i] == nil {
			err := problem(pb.Problem_RETRYABLE, "the trigger did not answer in time")
			reply.Results[i] = &pb.NextResult{SpecId: item.GetSpecId(), Problem: EncodeProblem(err)}
		}
	}
	return reply
}

func (t triggerService) next(ctx context.Context, item *pb.NextItem) *pb.NextResult {
	result := &pb.NextResult{SpecId: item.GetSpecId()}
	defer t.server.call()()
	trigger, sp, err := use[pluginapi.Trigger](t.server.specs, pluginapi.KindTrigger, item.GetSpecId())
	if err != nil {
		result.Problem = EncodeProblem(err)
		return result
	}
	defer t.server.unuse(sp)
	err = guard(func() error {
		q := query{
			trigger: trigger, zone: sp.zone,
			after: item.GetAfter(), until: item.GetUntil(), max: int(min(item.GetMax(), maxTimes)),
		}
		result.Times, result.Exhausted, err = q.run(ctx)
		return err
	})
	result.Problem = EncodeProblem(err)
	return result
}

// query asks a trigger for the due times t with after < t <= until, at most
// max. Times are in microseconds.
type query struct {
	trigger      pluginapi.Trigger
	zone         *time.Location
	after, until int64
	max          int
}

// run returns the due times, also those before an error, and whether there is
// none after them, ever.
func (q *query) run(ctx context.Context) (times []int64, exhausted bool, err error) {
	if q.max <= 0 || q.until <= q.after {
		return nil, false, nil
	}
	if batcher, ok := q.trigger.(pluginapi.BatchTrigger); ok {
		times, err = q.batch(ctx, batcher)
		if err != nil || len(times) == q.max {
			return times, false, err
		}
	}
	for len(times) < q.max {
		last := q.after
		if len(times) > 0 {
			last = times[len(times)-1]
		}
		if err := context.Cause(ctx); err != nil {
			return times, false, err
		}
		next, err := q.trigger.Next(ctx, DecodeTime(last, q.zone))
		switch {
		case err != nil:
			return times, false, fmt.Errorf("next due time after %s: %w", q.text(last), err)
		case next.IsZero():
			return times, true, nil
		}
		at := EncodeTime(next)
		if at <= last {
			return times, false, q.wrong("it is not after the time asked for", at, last)
		}
		if at > q.until {
			return times, false, nil
		}
		times = append(times, at)
	}
	return times, false, nil
}

// batch asks once. A short answer does not tell whether the trigger is
// exhausted, so run goes on with single questions from there.
func (q *query) batch(ctx context.Context, trigger pluginapi.BatchTrigger) ([]int64, error) {
	batch, err := trigger.NextBatch(ctx, DecodeTime(q.after, q.zone), DecodeTime(q.until, q.zone), q.max)
	if err != nil {
		return nil, fmt.Errorf("due times after %s: %w", q.text(q.after), err)
	}
	times := make([]int64, 0, min(len(batch), q.max))
	last := q.after
	for _, t := range batch {
		at := EncodeTime(t)
		switch {
		case len(times) == q.max:
			return times, q.wrong("they are more than were asked for", at, last)
		case at <= last:
			return times, q.wrong("it is not after the one before", at, last)
		case at > q.until:
			return times, q.wrong("it is later than was asked for", at, last)
		}
		times = append(times, at)
		last = at
	}
	return times, nil
}

// wrong is the problem of a trigger that breaks its contract.
func (q *query) wrong(why string, at, last int64) error {
	return problem(pb.Problem_INTERNAL,
		fmt.Sprintf("the trigger answered %s after %s: %s", q.text(at), q.text(last), why))
}

func (q *query) text(micros int64) string {
	return DecodeTime(micros, q.zone).Format(time.RFC3339Nano)
}
