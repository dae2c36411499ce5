package wire

import (
	"errors"
	"fmt"
	"io"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"
	_ "time/tzdata"
	"unicode/utf8"

	"google.golang.org/protobuf/proto"

	"github.com/axsched/ax/pluginapi"
	pb "github.com/axsched/ax/pluginapi/proto/ax/plugin/v1"
)

func TestFireRoundTrip(t *testing.T) {
	t.Parallel()
	zone, err := time.LoadLocation("Asia/Shanghai")
	if err != nil {
		t.Fatal(err)
	}
	fire := pluginapi.Fire{
		App: "app", Task: "report", InstanceID: "i", Kind: "manual", Attempt: 2, MaxAttempts: 3,
		ScheduledAt: time.Date(2026, 10, 1, 10, 0, 0, 123456000, zone), TraceID: "t", Node: "n", Fence: 9,
		Params: map[string]any{
			"id": int64(math.MaxInt64), "big": 1e300, "half": 0.5, "list": []any{int64(1), "x", nil, true},
			"map": map[string]any{"n": int64(-7)},
		},
	}
	in, err := EncodeFire(fire)
	if err != nil {
		t.Fatal(err)
	}
	got, err := decodeFire(in, loadZone)
	if err != nil {
		t.Fatal(err)
	}
	if got.ScheduledAt.String() != fire.ScheduledAt.String() {
		t.Errorf("due time %s, want %s", got.ScheduledAt, fire.ScheduledAt)
	}
	got.ScheduledAt = fire.ScheduledAt
	if !reflect.DeepEqual(got, fire) {
		t.Errorf("got\n%#v, want\n%#v", got, fire)
	}
}

func TestFireWithoutAZoneOrParams(t *testing.T) {
	t.Parallel()
	if _, err := EncodeFire(pluginapi.Fire{ScheduledAt: time.Now()}); err == nil {
		t.Error("a due time in time.Local was taken")
	}
	if _, err := EncodeFire(pluginapi.Fire{Params: map[string]any{"n": math.NaN()}}); err == nil {
		t.Error("params that have no JSON form were taken")
	}
	for _, in := range []*pb.Fire{{Zone: "Local"}, {Zone: "Mars/Olympus"}, {Zone: "../etc/passwd"}, {Params: []byte("[1]")}, {Params: []byte("{")}} {
		if _, err := decodeFire(in, loadZone); err == nil {
			t.Errorf("%v was taken", in)
		}
	}
	got, err := decodeFire(&pb.Fire{}, loadZone)
	if err != nil || got.ScheduledAt.Location() != time.UTC || got.Params != nil {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestTimes(t *testing.T) {
	t.Parallel()
	for _, at := range []time.Time{{}, time.Unix(0, 0), time.Date(9999, 12, 31, 23, 59, 59, 999999000, time.UTC)} {
		if got := DecodeTime(EncodeTime(at), nil); !got.Equal(at) {
			t.Errorf("%s becomes %s", at, got)
		}
	}
	if got := decodeDeadline(0); !got.IsZero() {
		t.Errorf("no deadline becomes %s", got)
	}
}

func TestProblems(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		err       error
		kind      pb.Problem_Kind
		permanent bool
		wait      time.Duration
	}{
		"plain":             {io.EOF, pb.Problem_RETRYABLE, false, 0},
		"permanent":         {pluginapi.Permanent(io.EOF), pb.Problem_PERMANENT, true, 0},
		"wrapped permanent": {fmt.Errorf("send: %w", pluginapi.Permanent(io.EOF)), pb.Problem_PERMANENT, true, 0},
		"invalid":           {problem(pb.Problem_INVALID, "no"), pb.Problem_INVALID, true, 0},
		"unknown spec":      {problem(pb.Problem_UNKNOWN_SPEC, "no"), pb.Problem_UNKNOWN_SPEC, false, 0},
		"broken text":       {errors.New("\xff\xfe"), pb.Problem_RETRYABLE, false, 0},
		"busy":              {fmt.Errorf("send: %w", pluginapi.RetryAfter(io.EOF, time.Minute)), pb.Problem_RETRYABLE, false, time.Minute},
		"busy for ever":     {pluginapi.RetryAfter(io.EOF, math.MaxInt64), pb.Problem_RETRYABLE, false, maxRetryAfter},
		"busy, permanent":   {pluginapi.Permanent(pluginapi.RetryAfter(io.EOF, time.Minute)), pb.Problem_PERMANENT, true, 0},
		"no text":           {errors.New(""), pb.Problem_RETRYABLE, false, 0},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			raw, err := proto.Marshal(EncodeProblem(test.err))
			if err != nil {
				t.Fatal(err)
			}
			var in pb.Problem
			if err := proto.Unmarshal(raw, &in); err != nil {
				t.Fatal(err)
			}
			got := DecodeProblem(&in)
			if p, ok := errors.AsType[*ProblemError](got); !ok || p.Kind != test.kind {
				t.Errorf("problem %#v, want kind %v", got, test.kind)
			}
			if pluginapi.IsPermanent(got) != test.permanent || got.Error() == "" {
				t.Errorf("permanent: %t, text %q", !test.permanent, got)
			}
			if wait := pluginapi.RetryWait(got); wait != test.wait {
				t.Errorf("wait %v, want %v", wait, test.wait)
			}
		})
	}
	if got := DecodeProblem(&pb.Problem{RetryAfter: math.MinInt64}); pluginapi.RetryWait(got) != 0 {
		t.Errorf("a wait that lies in the past becomes %v", pluginapi.RetryWait(got))
	}
	if long := EncodeProblem(errors.New(strings.Repeat("长", MaxMessage))); proto.Size(long) > 2*maxProblem || !utf8.ValidString(long.GetMessage()) {
		t.Errorf("a long problem takes %d bytes", proto.Size(long))
	}
	if DecodeProblem(EncodeProblem(nil)) != nil {
		t.Error("no error becomes one")
	}
}

func TestReasons(t *testing.T) {
	t.Parallel()
	for _, cause := range []error{pluginapi.ErrTimeout, pluginapi.ErrCanceled, pluginapi.ErrReplaced, pluginapi.ErrDrain} {
		if got := DecodeReason(EncodeReason(cause)); !errors.Is(got, cause) {
			t.Errorf("%v becomes %v", cause, got)
		}
	}
	if got := DecodeReason("of a newer host"); !errors.Is(got, pluginapi.ErrCanceled) {
		t.Errorf("an unknown reason becomes %v", got)
	}
	if got := EncodeReason(io.EOF); got != "" {
		t.Errorf("an unknown cause becomes %q", got)
	}
}
