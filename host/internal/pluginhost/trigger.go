package pluginhost

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"
	"time"

	"github.com/axsched/ax/pluginapi"
	pb "github.com/axsched/ax/pluginapi/proto/ax/plugin/v1"
	"github.com/axsched/ax/pluginapi/wire"
)

// nextBatch is how many questions go into one call.
const nextBatch = 256

// Trigger is a trigger component with its settings. It is a cheap value: the
// component is looked up at each use, so it begins to work when its plugin
// appears and goes on when that is replaced.
type Trigger struct{ handle handle }

// Trigger returns a handle; whether there is such a component shows at its use.
func (h *Host) Trigger(spec Spec) *Trigger {
	return &Trigger{h.handle(pluginapi.KindTrigger, spec)}
}

// Next returns up to max due times t with after < t <= until, in rising order
// and in the spec's zone; a zero until means no end. exhausted tells that no
// due time follows them, ever. After an error the times before it are returned
// too. An answer that breaks these rules is a *MisbehavedError.
func (t *Trigger) Next(ctx context.Context, after, until time.Time, max int) (times []time.Time, exhausted bool, err error) {
	answer := t.handle.host.NextMany(ctx, []NextQuestion{{Trigger: t, After: after, Until: until, Max: max}})[0]
	return answer.Times, answer.Exhausted, answer.Err
}

// NextQuestion asks a trigger for due times; see Trigger.Next.
type NextQuestion struct {
	Trigger      *Trigger
	After, Until time.Time
	Max          int
}

// NextAnswer is the answer to a NextQuestion.
type NextAnswer struct {
	Times     []time.Time
	Exhausted bool
	Err       error
}

// asked is a question on its way.
type asked struct {
	question  NextQuestion
	component Component
	want      wanted
	answer    *NextAnswer
}

// NextMany asks many questions at once, with as few calls as possible. The
// answers are in the order of the questions.
func (h *Host) NextMany(ctx context.Context, questions []NextQuestion) []NextAnswer {
	answers := make([]NextAnswer, len(questions))
	byPlugin := make(map[*plugin][]asked)
	for i, q := range questions {
		p, c, err := h.find(pluginapi.KindTrigger, q.Trigger.handle.spec.Use)
		if err != nil {
			answers[i].Err = err
			continue
		}
		byPlugin[p] = append(byPlugin[p], asked{q, c, q.Trigger.handle.wanted(c.Name), &answers[i]})
	}
	var wg sync.WaitGroup
	for p, list := range byPlugin {
		wg.Go(func() { p.ask(ctx, list) })
	}
	wg.Wait()
	return answers
}

// ask fills in the answers, in as many calls as there are batches if all goes
// well. Once the plugin cannot be reached the rest is not tried.
func (p *plugin) ask(ctx context.Context, list []asked) {
	for len(list) > 0 {
		n := min(len(list), nextBatch)
		if err := p.askBatch(ctx, list[:n]); err != nil {
			for _, a := range list {
				a.answer.Err = err
			}
			return
		}
		list = list[n:]
	}
}

// askBatch fails if there is no process to ask.
func (p *plugin) askBatch(ctx context.Context, list []asked) error {
	proc, err := p.acquire(ctx)
	if err != nil {
		return err
	}
	defer p.release(proc)
	unknown := p.askOnce(ctx, proc, list)
	if len(unknown) == 0 {
		return nil
	}
	var forgotten []wanted
	for _, a := range unknown {
		forgotten = append(forgotten, a.want)
	}
	proc.specs.forget(forgotten)
	p.askOnce(ctx, proc, unknown)
	return nil
}

// askOnce fills in the answers and returns the questions about specs that the
// process does not know, though they were prepared.
func (p *plugin) askOnce(ctx context.Context, proc *process, list []asked) (unknown []asked) {
	specs := make([]wanted, len(list))
	for i, a := range list {
		specs[i] = a.want
	}
	errs, done := p.prepare(ctx, proc, specs)
	defer done()
	var ready []asked
	request := &pb.NextRequest{}
	for i, a := range list {
		if a.answer.Err = errs[i]; errs[i] == nil {
			ready = append(ready, a)
			request.Items = append(request.Items, a.item())
		}
	}
	if len(ready) == 0 {
		return nil
	}
	var reply *pb.NextReply
	err := p.call(ctx, proc, "Next", p.policy.CallTimeout, func(ctx context.Context) (err error) {
		reply, err = proc.conn.Trigger.Next(ctx, request)
		return err
	})
	if err == nil && len(reply.GetResults()) != len(ready) {
		err = &MisbehavedError{Plugin: p.name, Component: "Next",
			What: fmt.Sprintf("it gave %d answers to %d questions", len(reply.GetResults()), len(ready))}
	}
	for i, a := range ready {
		if err != nil {
			a.answer.Err = err
			continue
		}
		if a.take(reply.GetResults()[i]); wire.IsUnknownSpec(a.answer.Err) {
			unknown = append(unknown, a)
		}
	}
	return unknown
}

func (a asked) item() *pb.NextItem {
	until := int64(math.MaxInt64)
	if !a.question.Until.IsZero() {
		until = wire.EncodeTime(a.question.Until)
	}
	return &pb.NextItem{
		SpecId: a.want.id, After: wire.EncodeTime(a.question.After), Until: until,
		Max: uint32(max(0, min(a.question.Max, math.MaxInt32))),
	}
}

// take checks a result and makes it the answer.
func (a asked) take(result *pb.NextResult) {
	item := a.item()
	*a.answer = NextAnswer{}
	if result.GetSpecId() != item.GetSpecId() {
		a.answer.Err = a.misbehaved("it answered another question than was asked")
		return
	}
	if err := a.checkTimes(item, result.GetTimes()); err != nil {
		a.answer.Err = err
		return
	}
	for _, t := range result.GetTimes() {
		a.answer.Times = append(a.answer.Times, wire.DecodeTime(t, a.want.handle.spec.Zone))
	}
	a.answer.Exhausted = result.GetExhausted()
	if err := wire.DecodeProblem(result.GetProblem()); err != nil {
		a.answer.Exhausted = false
		a.answer.Err = a.problem(err)
	}
}

func (a asked) checkTimes(item *pb.NextItem, times []int64) error {
	if len(times) > int(item.GetMax()) {
		return a.misbehaved(fmt.Sprintf("it gave %d due times, at most %d were asked for", len(times), item.GetMax()))
	}
	last := item.GetAfter()
	for _, t := range times {
		switch {
		case t <= last:
			return a.misbehaved(fmt.Sprintf("it gave the due time %s, which is not after %s", a.text(t), a.text(last)))
		case t > item.GetUntil():
			return a.misbehaved(fmt.Sprintf("it gave the due time %s, later than %s that was asked for",
				a.text(t), a.text(item.GetUntil())))
		case t > maxTime:
			return a.misbehaved(fmt.Sprintf("it gave a due time %d µs after 1970, beyond the year 9999", t))
		}
		last = t
	}
	return nil
}

// maxTime is the end of the year 9999, in microseconds since 1970.
const maxTime = 253402300800_000000 - 1

// problem is what a problem of a trigger means. A trigger is a pure function,
// so if it has a bug, asking again brings the bug again.
func (a asked) problem(err error) error {
	if p, ok := errors.AsType[*wire.ProblemError](err); ok && p.Kind == pb.Problem_INTERNAL {
		what := p.Message
		if p.Stack != "" {
			what += "\n" + p.Stack
		}
		return a.misbehaved(what)
	}
	return fmt.Errorf("%s: %w", a.component.FullName(), err)
}

func (a asked) misbehaved(what string) error {
	return &MisbehavedError{Plugin: a.component.Plugin, Component: a.component.Name, What: what}
}

func (a asked) text(micros int64) string {
	return wire.DecodeTime(micros, a.want.handle.spec.Zone).Format(time.RFC3339Nano)
}
