package pluginhost

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/axsched/ax/pluginapi"
	"github.com/axsched/ax/pluginapi/calendar"
	pb "github.com/axsched/ax/pluginapi/proto/ax/plugin/v1"
	"github.com/axsched/ax/pluginapi/wire"
)

// preparer counts what a plugin is asked to prepare.
type preparer struct {
	calls     atomic.Int32
	specs     atomic.Int32
	calendars atomic.Int32
	err       error
	problem   *pb.Problem
}

func (p *preparer) prepare(_ context.Context, in *pb.PrepareRequest) (*pb.PrepareReply, error) {
	p.calls.Add(1)
	p.specs.Add(int32(len(in.GetSpecs())))
	p.calendars.Add(int32(len(in.GetCalendars())))
	time.Sleep(time.Second) // of the test's bubble
	reply := &pb.PrepareReply{}
	for _, s := range in.GetSpecs() {
		reply.Results = append(reply.Results, &pb.PrepareResult{SpecId: s.GetId(), Problem: p.problem})
	}
	return reply, p.err
}

func testSpecs(t *testing.T) []wanted {
	t.Helper()
	c, err := calendar.New(calendar.Spec{Name: "weekdays", Weekly: []time.Weekday{time.Monday}})
	if err != nil {
		t.Fatal(err)
	}
	h := &Host{}
	spec := Spec{Settings: []byte(`{}`), Calendars: []*calendar.Calendar{c}}
	other := spec
	other.Seed = 1
	return []wanted{
		h.handle(pluginapi.KindTrigger, spec).wanted("a"),
		h.handle(pluginapi.KindTrigger, other).wanted("a"),
		h.handle(pluginapi.KindTrigger, spec).wanted("b"),
	}
}

func TestSpecIDs(t *testing.T) {
	t.Parallel()
	ids := make(map[string]bool)
	for range 2 {
		for _, w := range testSpecs(t) {
			ids[w.id] = true
		}
	}
	if len(ids) != 3 {
		t.Errorf("ids = %v, want equal ids for equal specs alone", ids)
	}
}

func TestSpecTablePreparesOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		table, plugin, specs := newSpecTable(), &preparer{}, testSpecs(t)
		var wg sync.WaitGroup
		for range 10 {
			wg.Go(func() {
				errs, done := table.use(t.Context(), specs, plugin.prepare)
				defer done()
				if err := errors.Join(errs...); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if plugin.calls.Load() != 1 || plugin.specs.Load() != 3 || plugin.calendars.Load() != 1 {
			t.Errorf("%d calls, %d specs, %d calendars; want 1, 3 and 1",
				plugin.calls.Load(), plugin.specs.Load(), plugin.calendars.Load())
		}
		table.forget(specs[:1])
		_, done := table.use(t.Context(), specs, plugin.prepare)
		if plugin.specs.Load() != 4 || plugin.calendars.Load() != 2 {
			t.Errorf("after forget: %d specs, %d calendars; want 4 and 2", plugin.specs.Load(), plugin.calendars.Load())
		}
		time.Sleep(time.Hour)
		if ids := table.stale(time.Now()); len(ids) != 0 {
			t.Errorf("specs in use are stale: %v", ids)
		}
		done()
		if ids := table.stale(time.Now()); len(ids) != 0 {
			t.Errorf("specs used just now are stale: %v", ids)
		}
		time.Sleep(time.Hour)
		if ids := table.stale(time.Now()); len(ids) != 3 {
			t.Errorf("stale = %v, want all 3", ids)
		}
	})
}

func TestSpecTableTriesAgainAfterAFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		table, plugin, specs := newSpecTable(), &preparer{err: errors.New("gone")}, testSpecs(t)
		errs, done := table.use(t.Context(), specs[:1], plugin.prepare)
		done()
		if errs[0] == nil {
			t.Error("the failure of the call is not reported")
		}
		plugin.err, plugin.problem = nil, &pb.Problem{Kind: pb.Problem_INVALID, Message: "no"}
		errs, done = table.use(t.Context(), specs[:1], plugin.prepare)
		done()
		if p, ok := errors.AsType[*wire.ProblemError](errs[0]); !ok || p.Message != "no" {
			t.Errorf("error = %v, want the plugin's", errs[0])
		}
		plugin.problem = nil
		errs, done = table.use(t.Context(), specs[:1], plugin.prepare)
		done()
		if errs[0] != nil || plugin.calls.Load() != 3 || plugin.calendars.Load() != 2 {
			t.Errorf("error = %v after %d calls with %d calendars", errs[0], plugin.calls.Load(), plugin.calendars.Load())
		}
	})
}
