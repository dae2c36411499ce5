package wire_test

import (
	"context"
	"errors"
	"reflect"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/axsched/ax/pluginapi"
	"github.com/axsched/ax/pluginapi/plugintest"
	pb "github.com/axsched/ax/pluginapi/proto/ax/plugin/v1"
	"github.com/axsched/ax/pluginapi/wire"
)

// recorder is a notifier and a listener that keeps what it got.
type recorder struct {
	pluginapi.NopListener
	messages []pluginapi.Message
	fires    []pluginapi.Fire
	outcomes []pluginapi.Outcome
	err      error
}

// Notify implements pluginapi.Notifier.
func (r *recorder) Notify(_ context.Context, msg pluginapi.Message) error {
	r.messages = append(r.messages, msg)
	return r.err
}

// Before implements pluginapi.Listener.
func (r *recorder) Before(_ context.Context, fire pluginapi.Fire) error {
	r.fires = append(r.fires, fire)
	return r.err
}

// After implements pluginapi.Listener.
func (r *recorder) After(_ context.Context, _ pluginapi.Fire, outcome pluginapi.Outcome) error {
	r.outcomes = append(r.outcomes, outcome)
	return nil
}

func (r *recorder) host(t *testing.T) *plugintest.Host {
	t.Helper()
	return plugintest.New(t,
		pluginapi.NotifierOf("rec", "For a test.", func(struct{}, pluginapi.Env) (pluginapi.Notifier, error) { return r, nil }),
		pluginapi.ListenerOf("rec", "For a test.", func(struct{}, pluginapi.Env) (pluginapi.Listener, error) { return r, nil }))
}

func TestNotify(t *testing.T) {
	t.Parallel()
	r := &recorder{}
	notifier := r.host(t).Notifier("rec", nil)
	msg := pluginapi.Message{
		ID: "1", App: "a", Task: "t", Event: "failed", Severity: "error", Title: "日本", Text: "two\nlines",
		Count: 3, First: start, Last: start.Add(time.Hour), Zone: "Asia/Tokyo",
	}
	if err := notifier.Notify(t.Context(), msg); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(r.messages, []pluginapi.Message{msg}) {
		t.Errorf("got %+v", r.messages)
	}
	r.err = pluginapi.Permanent(errors.New("no such channel"))
	if err := notifier.Notify(t.Context(), msg); !pluginapi.IsPermanent(err) || err.Error() != "no such channel" {
		t.Errorf("error %v", err)
	}
}

func TestListen(t *testing.T) {
	t.Parallel()
	r := &recorder{}
	listener := r.host(t).Listener("rec", nil)
	fire := pluginapi.Fire{Task: "t", ScheduledAt: start}
	outcome := pluginapi.Outcome{Status: "FAILED", Error: "bad", StartedAt: start, EndedAt: start, WillRetry: true}
	if err := errors.Join(listener.Before(t.Context(), fire), listener.After(t.Context(), fire, outcome),
		listener.Complete(t.Context(), fire, outcome)); err != nil {
		t.Fatal(err)
	}
	if len(r.fires) != 1 || r.fires[0].Task != "t" || !reflect.DeepEqual(r.outcomes, []pluginapi.Outcome{outcome}) {
		t.Errorf("got %+v and %+v", r.fires, r.outcomes)
	}
	r.err = errors.New("not now")
	if err := listener.Before(t.Context(), fire); err == nil || err.Error() != "not now" {
		t.Errorf("error %v", err)
	}
}

func TestResolve(t *testing.T) {
	t.Parallel()
	var built, closed atomic.Int32
	provider := plugintest.New(t, greeterOf(&built, &closed)).
		Params("greet", greeting{Text: "hi", Count: 2}, plugintest.Zone("Europe/Oslo"))
	zone, err := time.LoadLocation("America/New_York")
	if err != nil {
		t.Fatal(err)
	}
	got, err := provider.Params(t.Context(), pluginapi.Fire{ScheduledAt: start.In(zone)})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]any{"text": "hi", "count": int64(2), "zone": "Europe/Oslo", "due": "2026-02-28 19:00:00 -0500 EST"}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestResolveWithoutJSONForm(t *testing.T) {
	t.Parallel()
	provider := plugintest.New(t, pluginapi.ParamsOf("p", "For a test.", func(struct{}, pluginapi.Env) (pluginapi.ParamProvider, error) {
		return paramsFunc(func() map[string]any { return map[string]any{"f": func() {}} }), nil
	})).Params("p", nil)
	if _, err := provider.Params(t.Context(), pluginapi.Fire{}); !pluginapi.IsPermanent(err) {
		t.Errorf("error %v", err)
	}
}

type paramsFunc func() map[string]any

// Params implements pluginapi.ParamProvider.
func (f paramsFunc) Params(context.Context, pluginapi.Fire) (map[string]any, error) { return f(), nil }

func TestGarbageInCalls(t *testing.T) {
	t.Parallel()
	r := &recorder{}
	host := r.host(t)
	notifier, err := host.Prepare(pluginapi.KindNotifier, "rec", nil)
	if err != nil {
		t.Fatal(err)
	}
	listener, err := host.Prepare(pluginapi.KindListener, "rec", nil)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	notified, err := host.Client.Notifier.Notify(ctx, &pb.NotifyRequest{SpecId: notifier, Message: []byte("{")})
	if err != nil || notified.GetProblem().GetKind() != pb.Problem_INVALID {
		t.Errorf("%v, %v", notified, err)
	}
	for _, request := range []*pb.NoticeRequest{
		{SpecId: listener, Event: "after", Outcome: []byte("{")},
		{SpecId: listener, Event: "sideways", Outcome: []byte("{}")},
		{SpecId: listener, Event: "before", Fire: &pb.Fire{Params: []byte("{")}},
		{SpecId: notifier, Event: "before"},
	} {
		reply, err := host.Client.Listener.Notice(ctx, request)
		if err != nil || reply.GetProblem().GetKind() != pb.Problem_INVALID {
			t.Errorf("%v: %v, %v", request, reply, err)
		}
	}
}

func TestCallsNeedADeadline(t *testing.T) {
	t.Parallel()
	host := plugintest.New(t, jobComponent(nil))
	_, err := host.Client.Plugin.Health(context.WithoutCancel(t.Context()), &pb.HealthRequest{})
	if status.Code(err) != codes.FailedPrecondition {
		t.Errorf("a call without a deadline gave %v", err)
	}
}

func TestLargeMessages(t *testing.T) {
	t.Parallel()
	r := &recorder{}
	notifier := r.host(t).Notifier("rec", nil)
	for _, test := range []struct {
		size int
		code codes.Code
	}{{15 << 20, codes.OK}, {17 << 20, codes.ResourceExhausted}} {
		err := notifier.Notify(t.Context(), pluginapi.Message{Text: strings.Repeat("x", test.size)})
		if status.Code(errors.Unwrap(err)) != test.code && (err != nil || test.code != codes.OK) {
			t.Errorf("%d bytes gave %v", test.size, err)
		}
	}
}

func TestHealth(t *testing.T) {
	t.Parallel()
	running, finish := make(chan struct{}), make(chan struct{})
	j := plugintest.New(t, jobComponent(func(context.Context, *pluginapi.Run) (pluginapi.Result, error) {
		close(running)
		<-finish
		return pluginapi.Result{}, nil
	}))
	ended := make(chan plugintest.Attempt, 1)
	go func() { ended <- j.Job("job", nil).Run(t.Context(), pluginapi.Fire{}) }()
	<-running
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
	defer cancel()
	reply, err := j.Client.Plugin.Health(ctx, &pb.HealthRequest{})
	if err != nil || !reply.GetOk() || reply.GetInFlight() != 1 {
		t.Errorf("%v, %v", reply, err)
	}
	close(finish)
	<-ended
}

func TestManifestRoundTrip(t *testing.T) {
	t.Parallel()
	m, err := wire.NewManifest(pluginapi.Info{Name: "p", Version: "1.0.0"}, []pluginapi.Component{jobComponent(nil)})
	if err != nil {
		t.Fatal(err)
	}
	if got := wire.DecodeManifest(wire.EncodeManifest(m)); !reflect.DeepEqual(got, m) {
		t.Errorf("got %+v, want %+v", got, m)
	}
}

func TestUnfitPlugins(t *testing.T) {
	t.Parallel()
	good := jobComponent(nil)
	type named = pluginapi.Info
	tests := map[string]struct {
		info       pluginapi.Info
		components []pluginapi.Component
		want       string
	}{
		"name":           {named{Name: "My Plugin", Version: "1.0.0"}, []pluginapi.Component{good}, "lower case letters"},
		"version":        {named{Name: "p", Version: "v1.0"}, []pluginapi.Component{good}, "semantic version"},
		"no components":  {named{Name: "p", Version: "1.0.0"}, nil, "no components"},
		"twice":          {named{Name: "p", Version: "1.0.0"}, []pluginapi.Component{good, good}, `job "job" is there twice`},
		"by hand":        {named{Name: "p", Version: "1.0.0"}, []pluginapi.Component{{Kind: "robot", Name: "x"}}, "unknown kind"},
		"component name": {named{Name: "p", Version: "1.0.0"}, []pluginapi.Component{pluginapi.JobOf[struct{}]("A B", "d", nil)}, `"A B"`},
		"settings":       {named{Name: "p", Version: "1.0.0"}, []pluginapi.Component{pluginapi.JobOf[int]("j", "d", nil)}, "must be a struct"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := wire.NewManifest(test.info, test.components)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v, want %q", err, test.want)
			}
		})
	}
}
