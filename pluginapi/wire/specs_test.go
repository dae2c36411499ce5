package wire_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/axsched/ax/pluginapi"
	"github.com/axsched/ax/pluginapi/calendar"
	"github.com/axsched/ax/pluginapi/plugintest"
	pb "github.com/axsched/ax/pluginapi/proto/ax/plugin/v1"
)

type greeting struct {
	Text  string `json:"text" ax:"required"`
	Count int    `json:"count" ax:"default=1,min=1,max=9"`
}

// greeter is a parameter provider that can be closed.
type greeter struct {
	greeting
	env    pluginapi.Env
	closed *atomic.Int32
}

// Params implements pluginapi.ParamProvider.
func (g greeter) Params(_ context.Context, fire pluginapi.Fire) (map[string]any, error) {
	if g.closed.Load() > 0 {
		return nil, errors.New("used after it was closed")
	}
	return map[string]any{"text": g.Text, "count": g.Count, "zone": g.env.Zone.String(), "due": fire.ScheduledAt.String()}, nil
}

// Close implements io.Closer.
func (g greeter) Close() error {
	g.closed.Add(1)
	return nil
}

func greeterOf(built, closed *atomic.Int32) pluginapi.Component {
	return pluginapi.ParamsOf("greet", "For a test.", func(s greeting, env pluginapi.Env) (pluginapi.ParamProvider, error) {
		built.Add(1)
		switch s.Text {
		case "refuse":
			return nil, errors.New("text: nobody greets so")
		case "panic":
			panic("oops")
		case "nil":
			return nil, nil
		}
		return greeter{s, env, closed}, nil
	})
}

func prepare(t *testing.T, host *plugintest.Host, request *pb.PrepareRequest) []*pb.PrepareResult {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	reply, err := host.Client.Plugin.Prepare(ctx, request)
	if err != nil {
		t.Fatal(err)
	}
	return reply.GetResults()
}

func TestPrepareIsIdempotent(t *testing.T) {
	t.Parallel()
	var built, closed atomic.Int32
	host := plugintest.New(t, greeterOf(&built, &closed))
	spec := &pb.Spec{Id: "x", Kind: "params", Component: "greet", Settings: []byte(`{"text":"hi"}`), Zone: "Europe/Oslo"}
	var wg sync.WaitGroup
	for range 16 {
		wg.Go(func() {
			for _, r := range prepare(t, host, &pb.PrepareRequest{Specs: []*pb.Spec{spec, spec}}) {
				if r.GetSpecId() != "x" || r.GetProblem() != nil {
					t.Errorf("result %v", r)
				}
			}
		})
	}
	wg.Wait()
	if built.Load() != 1 {
		t.Errorf("built %d times", built.Load())
	}
}

func TestReleaseCloses(t *testing.T) {
	t.Parallel()
	var built, closed atomic.Int32
	host := plugintest.New(t, greeterOf(&built, &closed))
	request := &pb.PrepareRequest{Specs: []*pb.Spec{{Id: "x", Kind: "params", Component: "greet", Settings: []byte(`{"text":"hi"}`)}}}
	prepare(t, host, request)
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	for range 2 {
		if _, err := host.Client.Plugin.Release(ctx, &pb.ReleaseRequest{SpecIds: []string{"x", "nobody"}}); err != nil {
			t.Fatal(err)
		}
	}
	if closed.Load() != 1 {
		t.Errorf("closed %d times", closed.Load())
	}
	reply, err := host.Client.Params.Resolve(ctx, &pb.ResolveRequest{SpecId: "x", Fire: &pb.Fire{}})
	if err != nil || reply.GetProblem().GetKind() != pb.Problem_UNKNOWN_SPEC {
		t.Errorf("after its release: %v, %v", reply, err)
	}
	prepare(t, host, request)
	if built.Load() != 2 {
		t.Errorf("built %d times", built.Load())
	}
}

// A component that a run still uses is closed after the run.
func TestReleaseWaitsForRuns(t *testing.T) {
	t.Parallel()
	closed := make(chan struct{})
	running, finish := make(chan struct{}), make(chan struct{})
	host := plugintest.New(t, pluginapi.JobOf("job", "For a test.", func(struct{}, pluginapi.Env) (pluginapi.Job, error) {
		return closableJob{closed: closed, run: func() {
			close(running)
			<-finish
			select {
			case <-closed:
				t.Error("closed while it was used")
			default:
			}
		}}, nil
	}))
	id, err := host.Prepare(pluginapi.KindJob, "job", nil)
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	wg.Go(func() { runRaw(t, host.Client, &pb.RunRequest{SpecId: id, RunId: "run", Fire: &pb.Fire{}}) })
	<-running
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	if _, err := host.Client.Plugin.Release(ctx, &pb.ReleaseRequest{SpecIds: []string{id}}); err != nil {
		t.Fatal(err)
	}
	close(finish)
	wg.Wait()
	<-closed
}

// A component that is released while it is built is closed as well.
func TestReleaseDuringPrepare(t *testing.T) {
	t.Parallel()
	closed := make(chan struct{})
	building, finish := make(chan struct{}), make(chan struct{})
	host := plugintest.New(t, pluginapi.JobOf("job", "For a test.", func(struct{}, pluginapi.Env) (pluginapi.Job, error) {
		close(building)
		<-finish
		return closableJob{closed: closed}, nil
	}))
	var wg sync.WaitGroup
	wg.Go(func() {
		got := prepare(t, host, &pb.PrepareRequest{Specs: []*pb.Spec{{Id: "x", Kind: "job", Component: "job"}}})[0].GetProblem()
		if got.GetKind() != pb.Problem_UNKNOWN_SPEC {
			t.Errorf("problem %v", got)
		}
	})
	<-building
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	if _, err := host.Client.Plugin.Release(ctx, &pb.ReleaseRequest{SpecIds: []string{"x"}}); err != nil {
		t.Fatal(err)
	}
	close(finish)
	wg.Wait()
	<-closed
}

type closableJob struct {
	closed chan struct{}
	run    func()
}

// Run implements pluginapi.Job.
func (j closableJob) Run(context.Context, *pluginapi.Run) (pluginapi.Result, error) {
	j.run()
	return pluginapi.Result{}, nil
}

// Close implements io.Closer.
func (j closableJob) Close() error {
	close(j.closed)
	return nil
}

func TestPrepareRefuses(t *testing.T) {
	t.Parallel()
	good := json.RawMessage(`{"text":"hi"}`)
	cal, err := calendar.New(calendar.Spec{Name: "cal"})
	if err != nil {
		t.Fatal(err)
	}
	tests := map[string]struct {
		spec      *pb.Spec
		calendars []*pb.CalendarData
		kind      pb.Problem_Kind
		text      string
	}{
		"no component":     {spec: &pb.Spec{Component: "hello", Settings: good}, kind: pb.Problem_INVALID, text: `no params named "hello"`},
		"another kind":     {spec: &pb.Spec{Kind: "job", Settings: good}, kind: pb.Problem_INVALID, text: `no job named "greet"`},
		"missing setting":  {spec: &pb.Spec{}, kind: pb.Problem_INVALID, text: "text: is required"},
		"two faults":       {spec: &pb.Spec{Settings: []byte(`{"count":0,"txt":1}`)}, kind: pb.Problem_INVALID, text: "count: expected at least 1, got 0"},
		"not JSON":         {spec: &pb.Spec{Settings: []byte("{")}, kind: pb.Problem_INVALID, text: "not JSON"},
		"refused by build": {spec: &pb.Spec{Settings: []byte(`{"text":"refuse"}`)}, kind: pb.Problem_INVALID, text: "text: nobody greets so"},
		"panic in build":   {spec: &pb.Spec{Settings: []byte(`{"text":"panic"}`)}, kind: pb.Problem_INTERNAL, text: "panic: oops"},
		"nothing built":    {spec: &pb.Spec{Settings: []byte(`{"text":"nil"}`)}, kind: pb.Problem_INTERNAL, text: "built as a <nil>"},
		"unknown zone":     {spec: &pb.Spec{Settings: good, Zone: "Mars/Olympus"}, kind: pb.Problem_INVALID, text: "Mars/Olympus"},
		"calendar not sent": {
			spec: &pb.Spec{Settings: good, Calendars: []string{"abc"}},
			kind: pb.Problem_UNKNOWN_SPEC, text: "abc",
		},
		"calendar of another hash": {
			spec:      &pb.Spec{Settings: good, Calendars: []string{"abc"}},
			calendars: []*pb.CalendarData{{Name: "cal", Hash: "abc", Data: cal.Marshal()}},
			kind:      pb.Problem_INVALID, text: "its hash is",
		},
		"broken calendar": {
			spec:      &pb.Spec{Settings: good, Calendars: []string{"abc"}},
			calendars: []*pb.CalendarData{{Name: "cal", Hash: "abc", Data: []byte("?")}},
			kind:      pb.Problem_INVALID, text: `calendar "cal"`,
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var built, closed atomic.Int32
			host := plugintest.New(t, greeterOf(&built, &closed))
			spec := test.spec
			spec.Id = "x"
			if spec.Kind == "" {
				spec.Kind = "params"
			}
			if spec.Component == "" {
				spec.Component = "greet"
			}
			for range 2 { // a refusal is not remembered
				got := prepare(t, host, &pb.PrepareRequest{Specs: []*pb.Spec{spec}, Calendars: test.calendars})[0].GetProblem()
				if got.GetKind() != test.kind || !strings.Contains(got.GetMessage(), test.text) {
					t.Errorf("problem %v, want %v with %q", got, test.kind, test.text)
				}
			}
		})
	}
}

func TestPrepareWithoutAnID(t *testing.T) {
	t.Parallel()
	host := plugintest.New(t, jobComponent(nil))
	got := prepare(t, host, &pb.PrepareRequest{Specs: []*pb.Spec{{Kind: "job", Component: "job"}}})[0].GetProblem()
	if got.GetKind() != pb.Problem_INVALID {
		t.Errorf("problem %v", got)
	}
}

func TestEnv(t *testing.T) {
	t.Parallel()
	cal, err := calendar.New(calendar.Spec{Name: "workdays", Weekly: []time.Weekday{time.Monday}})
	if err != nil {
		t.Fatal(err)
	}
	var got pluginapi.Env
	host := plugintest.New(t, pluginapi.TriggerOf("t", "For a test.", func(_ struct{}, env pluginapi.Env) (pluginapi.Trigger, error) {
		got = env
		return triggerFunc(func(_ context.Context, after time.Time) (time.Time, error) {
			if after.Location().String() != "Asia/Tokyo" {
				t.Errorf("asked in zone %s", after.Location())
			}
			return time.Time{}, nil
		}), nil
	}))
	trigger := host.Trigger("t", nil, plugintest.Zone("Asia/Tokyo"), plugintest.Seed(7), plugintest.Calendars(cal))
	if _, err := trigger.Next(t.Context(), start); err != nil {
		t.Fatal(err)
	}
	if got.Zone.String() != "Asia/Tokyo" || got.Seed != 7 || got.Log == nil || got.Calendars["workdays"].Hash() != cal.Hash() {
		t.Errorf("env %+v", got)
	}
	// The calendar is known by now, so its hash is enough.
	result := prepare(t, host, &pb.PrepareRequest{Specs: []*pb.Spec{{Id: "y", Kind: "trigger", Component: "t", Calendars: []string{cal.Hash()}}}})[0]
	if result.GetProblem() != nil || got.Zone != time.UTC {
		t.Errorf("%v, zone %s", result, got.Zone)
	}
}

// FuzzPrepare feeds arbitrary requests: there is an answer for each spec, and
// the plugin lives.
func FuzzPrepare(f *testing.F) {
	var built, closed atomic.Int32
	host := plugintest.New(f, greeterOf(&built, &closed))
	for _, seed := range []string{`{"text":"hi"}`, `{"text":null}`, `[]`, `{"text":"a","count":1e400}`, "\xff", `{"text":{}}`, ""} {
		f.Add("x", "params", "greet", []byte(seed), "UTC", []byte(seed))
	}
	f.Fuzz(func(t *testing.T, id, kind, component string, settings []byte, zone string, data []byte) {
		for _, text := range []string{id, kind, component, zone} {
			if !utf8.ValidString(text) {
				return // protobuf does not carry it
			}
		}
		results := prepare(t, host, &pb.PrepareRequest{
			Specs:     []*pb.Spec{{Id: id, Kind: kind, Component: component, Settings: settings, Zone: zone, Calendars: []string{"hash"}}, {Id: id, Kind: "params", Component: "greet", Settings: settings}},
			Calendars: []*pb.CalendarData{{Name: "cal", Hash: "hash", Data: data}},
		})
		if len(results) != 2 {
			t.Errorf("%d results", len(results))
		}
	})
}
