package wire

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/grpc"

	"github.com/axsched/ax/pluginapi"
	pb "github.com/axsched/ax/pluginapi/proto/ax/plugin/v1"
)

// eventStream keeps what is sent, and when.
type eventStream struct {
	grpc.ServerStream
	begin  time.Time
	events []*pb.RunEvent
	at     []time.Duration
	broken bool
	pause  func() time.Duration // of each Send, if set
}

// Send implements grpc.ServerStreamingServer.
func (s *eventStream) Send(e *pb.RunEvent) error {
	if s.broken {
		return errors.New("stream is broken")
	}
	if s.pause != nil {
		time.Sleep(s.pause())
	}
	s.events = append(s.events, e)
	s.at = append(s.at, time.Since(s.begin))
	return nil
}

type jobFunc func(ctx context.Context, run *pluginapi.Run) (pluginapi.Result, error)

// Run implements pluginapi.Job.
func (f jobFunc) Run(ctx context.Context, run *pluginapi.Run) (pluginapi.Result, error) {
	return f(ctx, run)
}

// pumpJob runs f as a jobRun does, with the given stream.
func pumpJob(t *testing.T, stream *eventStream, f func(ctx context.Context, r *jobRun) error) error {
	t.Helper()
	stream.begin = time.Now()
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	r := &jobRun{stream: stream, ring: newRing()}
	ended := r.start(ctx, jobFunc(func(ctx context.Context, _ *pluginapi.Run) (pluginapi.Result, error) {
		return pluginapi.Result{}, f(ctx, r)
	}), nil)
	return r.pump(ended, cancel)
}

func TestQuietRunBeats(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		stream := &eventStream{}
		if err := pumpJob(t, stream, func(context.Context, *jobRun) error {
			time.Sleep(time.Hour + time.Second)
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		beats := 0
		for _, e := range stream.events {
			if e.GetBeat() != nil {
				beats++
			}
		}
		if want := int(time.Hour / beatInterval); beats != want || len(stream.events) != want+1 {
			t.Errorf("%d beats in an hour and %d events, want %d beats and an outcome", beats, len(stream.events), want)
		}
	})
}

func TestLinesWaitForCompanyButNotLong(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		stream := &eventStream{}
		if err := pumpJob(t, stream, func(_ context.Context, r *jobRun) error {
			time.Sleep(time.Second)
			r.line("info", "one")
			time.Sleep(lingerTime / 2)
			r.line("info", "two")
			time.Sleep(time.Second)
			r.setProgress(1, 2, "half")
			r.setProgress(2, 2, "all") // only the latest is of interest
			time.Sleep(time.Second)
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		if len(stream.events) != 3 {
			t.Fatalf("events %v", stream.events)
		}
		if got := len(stream.events[0].GetLogs().GetLines()); got != 2 || stream.at[0] != time.Second+lingerTime {
			t.Errorf("%d lines after %s", got, stream.at[0])
		}
		if got := stream.events[1].GetProgress().GetMessage(); got != "all" {
			t.Errorf("progress %q", got)
		}
	})
}

func TestBrokenStreamWaitsForTheJob(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		stream := &eventStream{broken: true}
		ended := false
		err := pumpJob(t, stream, func(ctx context.Context, r *jobRun) error {
			r.line("info", "does not arrive")
			<-ctx.Done()
			time.Sleep(time.Minute)
			ended = true
			return nil
		})
		if err == nil || !ended {
			t.Errorf("error %v, job ended: %t", err, ended)
		}
	})
}

// Whatever the host's pace, every line arrives or is counted where it is
// missing, and the job ends in bounded time.
func TestEveryLineIsAccountedFor(t *testing.T) {
	t.Parallel()
	const n = 3 * ringLines
	gaps := 0
	for seed := range uint64(12) {
		synctest.Test(t, func(t *testing.T) {
			rnd := rand.New(rand.NewPCG(seed, 1))
			stall := []time.Duration{time.Millisecond, time.Second, 3 * stallLimit}[seed%3]
			pauses := rand.New(rand.NewPCG(seed, 2))
			stream := &eventStream{pause: func() time.Duration { return time.Duration(pauses.Int64N(int64(stall))) }}
			var texts []string
			cancelAt := rnd.IntN(n)
			err := pumpJob(t, stream, func(_ context.Context, r *jobRun) error {
				for i := range n {
					text := fmt.Sprint(i, strings.Repeat(".", rnd.IntN(300)))
					texts = append(texts, text)
					r.line([]string{levelOutput, "info", "error"}[rnd.IntN(3)], text)
					if i == cancelAt {
						r.ring.hurry() // as the end of the context does
					}
				}
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
			next := 0
			for _, e := range stream.events {
				logs := e.GetLogs()
				var missing gap
				if logs.GetDropped() > 0 {
					gaps++
				}
				for range logs.GetDropped() {
					missing.add(line{text: texts[next]})
					next++
				}
				if missing.bytes != logs.GetDroppedBytes() {
					t.Fatalf("seed %d: %d bytes are missing before line %d, told are %d", seed, missing.bytes, next, logs.GetDroppedBytes())
				}
				for _, l := range logs.GetLines() {
					if l.GetText() != texts[next] {
						t.Fatalf("seed %d: line %d is %.10q", seed, next, l.GetText())
					}
					next++
				}
			}
			if next != len(texts) {
				t.Fatalf("seed %d: %d lines of %d are accounted for", seed, next, len(texts))
			}
		})
	}
	if gaps == 0 {
		t.Error("no line was dropped: the test saw too little")
	}
}

func TestJobThatEndsItsGoroutine(t *testing.T) {
	t.Parallel()
	stream := &eventStream{}
	if err := pumpJob(t, stream, func(context.Context, *jobRun) error {
		runtime.Goexit()
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if got := stream.events[0].GetOutcome().GetProblem().GetKind(); got != pb.Problem_INTERNAL {
		t.Errorf("outcome %v", stream.events[0])
	}
}
