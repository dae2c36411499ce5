package peer

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/axsched/ax/host/internal/ax"
)

// filled returns an instance in which every field is set.
func filled(t *testing.T) ax.Instance {
	t.Helper()
	var inst ax.Instance
	v := reflect.ValueOf(&inst).Elem()
	at := time.Date(2030, 6, 1, 12, 0, 0, 123456000, time.UTC)
	for i := range v.NumField() {
		switch f := v.Field(i); f.Interface().(type) {
		case time.Time:
			f.Set(reflect.ValueOf(at.Add(time.Duration(i) * time.Second)))
		default:
			switch f.Kind() {
			case reflect.Int, reflect.Int64:
				f.SetInt(1<<40 + int64(i))
			case reflect.Bool:
				f.SetBool(true)
			case reflect.String:
				f.SetString(fmt.Sprint("text ", i))
			case reflect.Slice:
				f.SetBytes([]byte(`{"n":7}`))
			default:
				t.Fatalf("field %s: what is a %s?", v.Type().Field(i).Name, f.Kind())
			}
		}
	}
	return inst
}

func TestMessages(t *testing.T) {
	t.Parallel()
	host := newDesk(10)
	c := connect(t, serve(t, host, nil).address, nil)
	want := Dispatch{Instance: filled(t), Revision: 12, SentAt: time.Date(2026, 3, 1, 9, 0, 0, 7e6, time.UTC)}
	if err := c.Dispatch(within(t, time.Minute), want); err != nil {
		t.Fatal(err)
	}
	if got := host.got(); len(got) != 1 || !reflect.DeepEqual(got[0], want) {
		t.Errorf("received %+v\nwant %+v", got, want)
	}
	end := Ended{Instance: filled(t), WillRetry: true}
	if err := c.Ended(t.Context(), end); err != nil || len(host.ends) != 1 || !reflect.DeepEqual(host.ends[0], end) {
		t.Errorf("ended %+v (%v)", host.ends, err)
	}
	for fence, want := range map[int64]bool{3: true, 2: false} {
		if found, err := c.Cancel(t.Context(), 7, fence, "canceled"); err != nil || found != want {
			t.Errorf("cancel with fence %d: found %v (%v)", fence, found, err)
		}
	}
	if err := errors.Join(c.Changed(t.Context(), 1, 2), c.Changed(t.Context()), c.Leaving(t.Context()), c.Drain(t.Context(), false, "lin"), c.Ping(t.Context())); err != nil {
		t.Error(err)
	}
	if heard := strings.Join(host.heard, ", "); heard != "changed by a, 1, 2, changed by a, a leaves, drain for lin" {
		t.Errorf("heard %s", heard)
	}
	if err := c.Drain(t.Context(), true, "lin"); err == nil || err.Error() != "it is not drained" {
		t.Errorf("a refusal arrived as %v", err)
	}
	run := Run{Task: "t", Params: json.RawMessage(`{"a":1}`), Force: true, By: "lin", Key: "k", Digest: "d", AskedAt: time.Date(2026, 3, 1, 10, 0, 0, 0, time.UTC)}
	if id, err := c.Run(t.Context(), run); err != nil || id != 42 || host.heard[len(host.heard)-1] != `t by lin with {"a":1}, k d at 10:00:00` {
		t.Errorf("a run: %d, %v, heard %s", id, err, host.heard[len(host.heard)-1])
	}
	run.Force = false
	_, err := c.Run(t.Context(), run)
	if refusal, ok := errors.AsType[*RefusalError](err); !ok || refusal.Code != Running || refusal.Text != "t runs" {
		t.Errorf("a run that is refused: %v", err)
	}
}

// TestBackPressure: with a full queue a sender waits, and what comes free is
// used; who does not want to wait any longer knows that he was not heard.
func TestBackPressure(t *testing.T) {
	t.Parallel()
	host := newDesk(3)
	c := connect(t, serve(t, host, nil).address, nil)
	results := make(chan error, 300)
	for id := range 300 {
		go func() { results <- c.Dispatch(within(t, time.Minute), dispatch(id)) }()
	}
	for range 3 {
		if err := <-results; err != nil {
			t.Fatal(err)
		}
	}
	err := c.Dispatch(within(t, 300*time.Millisecond), dispatch(999))
	refusal, ok := errors.AsType[*RefusalError](err)
	if !(ok && refusal.Code == Busy) && !errors.Is(err, context.DeadlineExceeded) || errors.Is(err, ErrUnconfirmed) {
		t.Errorf("a full queue: %v", err)
	}
	if n := len(host.got()); n != 3 {
		t.Errorf("%d in a queue of 3", n)
	}
	host.free(297)
	for range 297 {
		if err := <-results; err != nil {
			t.Fatal(err)
		}
	}
	seen := map[ax.InstanceID]bool{}
	for _, d := range host.got() {
		if seen[d.Instance.ID] {
			t.Errorf("instance %s received twice", d.Instance.ID)
		}
		seen[d.Instance.ID] = true
	}
	if len(seen) != 300 || seen[999] {
		t.Errorf("%d of 300 received, the one that was given up among them: %v", len(seen), seen[999])
	}
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		err  error
		want RefusalCode
	}{
		{&RefusalError{Code: Draining}, Draining},
		{fmt.Errorf("receive: %w", &RefusalError{Code: Fenced, Text: "no database"}), Fenced},
		{errors.New("what is that?"), Unable},
	} {
		host := newDesk(1)
		host.refusal = tt.err
		c := connect(t, serve(t, host, nil).address, nil)
		err := c.Dispatch(within(t, time.Minute), dispatch(1))
		if refusal, ok := errors.AsType[*RefusalError](err); !ok || refusal.Code != tt.want || errors.Is(err, ErrUnconfirmed) {
			t.Errorf("%v arrived as %v, want %s", tt.err, err, tt.want)
		}
	}
}

// TestUnconfirmed: the other host dies while it holds the request.
func TestUnconfirmed(t *testing.T) {
	t.Parallel()
	host := newDesk(0)
	at := serve(t, host, nil)
	c := connect(t, at.address, nil)
	if err := c.Ping(t.Context()); err != nil {
		t.Fatal(err)
	}
	result := make(chan error)
	go func() { result <- c.Dispatch(within(t, time.Minute), dispatch(1)) }()
	<-host.waiting
	at.kill()
	if err := <-result; !errors.Is(err, ErrUnconfirmed) || !Broken(err) {
		t.Errorf("the host died: %v, want unconfirmed and broken", err)
	}
	// Now nobody is there: it is certain that nothing arrived.
	if err := c.Dispatch(within(t, time.Minute), dispatch(2)); err == nil || errors.Is(err, ErrUnconfirmed) || !Broken(err) {
		t.Errorf("nobody is there: %v, want broken and no doubt", err)
	}
}

func TestTooLarge(t *testing.T) {
	t.Parallel()
	c := connect(t, serve(t, newDesk(1), nil).address, nil)
	d := dispatch(1)
	d.Instance.Message = strings.Repeat("x", maxItem)
	if err := c.Dispatch(within(t, time.Minute), d); !errors.Is(err, ErrTooLarge) {
		t.Errorf("error %v", err)
	}
	d.Instance.Message = strings.Repeat("x", maxBatchBytes) // large, but no more than that
	if err := c.Dispatch(within(t, time.Minute), d); err != nil {
		t.Error(err)
	}
}

func TestClose(t *testing.T) {
	t.Parallel()
	c := connect(t, serve(t, newDesk(0), nil).address, nil)
	result := make(chan error)
	go func() { result <- c.Dispatch(within(t, time.Minute), dispatch(1)) }()
	c.Close()
	if err := <-result; err == nil {
		t.Error("received by nobody")
	}
	if err := c.Ping(t.Context()); !errors.Is(err, ErrClosed) {
		t.Errorf("after Close: %v", err)
	}
}

func BenchmarkDispatch(b *testing.B) {
	host := newDesk(0)
	go func() {
		for {
			select {
			case host.room <- struct{}{}:
			case <-b.Context().Done():
				return
			}
		}
	}()
	c := connect(b, serve(b, host, nil).address, nil)
	d := dispatch(1)
	d.Instance.Params = []byte(`{"day":"2030-06-01","branch":"north"}`)
	const senders = 256
	work := make(chan struct{})
	var all sync.WaitGroup
	for range senders {
		all.Go(func() {
			for range work {
				if err := c.Dispatch(b.Context(), d); err != nil {
					b.Error(err)
				}
			}
		})
	}
	for b.Loop() {
		work <- struct{}{}
	}
	close(work)
	all.Wait()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "dispatches/s")
}

func BenchmarkPing(b *testing.B) {
	c := connect(b, serve(b, newDesk(0), nil).address, nil)
	for b.Loop() {
		if err := c.Ping(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
}
