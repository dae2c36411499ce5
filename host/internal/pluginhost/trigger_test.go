package pluginhost

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/axsched/ax/pluginapi"
)

func TestTriggerAnswers(t *testing.T) {
	t.Parallel()
	th := startHost(t, "ax-plugin-alpha", "good", Policy{})
	tokyo, err := time.LoadLocation("Asia/Tokyo")
	if err != nil {
		t.Fatal(err)
	}
	trigger := th.Trigger(Spec{Use: "alpha/every", Settings: []byte(`{"seconds":60,"count":5}`), Zone: tokyo})
	times, exhausted, err := trigger.Next(t.Context(), time.Unix(59, 999), time.Unix(180, 0), 10)
	if err != nil || exhausted || !slices.EqualFunc(times, []int64{60, 120, 180}, sameSecond) {
		t.Errorf("Next = %v, %v, %v, want 60, 120 and 180 s", times, exhausted, err)
	}
	if len(times) > 0 && times[0].Location() != tokyo {
		t.Errorf("times are in %v, want the spec's zone", times[0].Location())
	}
	times, exhausted, err = trigger.Next(t.Context(), time.Unix(180, 0), time.Time{}, 10)
	if err != nil || !exhausted || !slices.EqualFunc(times, []int64{240, 300}, sameSecond) {
		t.Errorf("Next = %v, %v, %v, want 240 and 300 s, and nothing after", times, exhausted, err)
	}
	times, exhausted, err = trigger.Next(t.Context(), time.Unix(0, 0), time.Time{}, 2)
	if err != nil || exhausted || len(times) != 2 {
		t.Errorf("Next = %v, %v, %v, want two times", times, exhausted, err)
	}
}

func sameSecond(t time.Time, second int64) bool { return t.Equal(time.Unix(second, 0)) }

func TestNextManyAsksAllInOneCall(t *testing.T) {
	t.Parallel()
	th := startHost(t, "ax-plugin-alpha", "good", Policy{})
	var questions []NextQuestion
	for i := range 600 {
		questions = append(questions, NextQuestion{
			Trigger: th.Trigger(Spec{Use: "every", Settings: fmt.Appendf(nil, `{"seconds":%d}`, i+1)}),
			After:   time.Unix(0, 0), Max: 1,
		})
	}
	questions[300].Trigger = th.Trigger(Spec{Use: "evry"})
	questions[301].Trigger = th.Trigger(Spec{Use: "naughty", Settings: []byte(`{"how":"past"}`)})
	for i, a := range th.NextMany(t.Context(), questions) {
		switch i {
		case 300:
			if e := wantError[*NotFoundError](t, a.Err, "evry"); e.Suggestion != "every" {
				t.Errorf("suggestion = %q, want every", e.Suggestion)
			}
		case 301:
			wantError[*MisbehavedError](t, a.Err, "not after")
		default:
			if a.Err != nil || len(a.Times) != 1 || !sameSecond(a.Times[0], int64(i+1)) {
				t.Fatalf("answer %d = %+v", i, a)
			}
		}
	}
}

func TestTriggerProblems(t *testing.T) {
	t.Parallel()
	th := startHost(t, "ax-plugin-alpha", "good", Policy{CallTimeout: 2 * time.Second})
	ask := func(how string) error {
		_, _, err := th.Trigger(Spec{Use: "naughty", Settings: []byte(`{"how":"` + how + `"}`)}).
			Next(t.Context(), time.Unix(0, 0), time.Now().Add(time.Hour), 5)
		return err
	}
	wantError[*MisbehavedError](t, ask("past"), "not after")
	wantError[*MisbehavedError](t, ask("now"), "")
	wantError[*MisbehavedError](t, ask("panic"), "panic: naughty")
	if err := ask("fail"); err == nil || pluginapi.IsPermanent(err) || !strings.Contains(err.Error(), "alpha/naughty: next due time") {
		t.Errorf("error = %v, want one that names the component and is not permanent", err)
	}
	if err := ask("never"); !pluginapi.IsPermanent(err) {
		t.Errorf("error = %v, want a permanent one", err)
	}
	if err := ask("refuse"); !pluginapi.IsPermanent(err) || !strings.Contains(err.Error(), "no such way") {
		t.Errorf("error = %v, want a permanent one about the settings", err)
	}
	if err := ask("hang"); err == nil || !strings.Contains(err.Error(), "did not answer in time") {
		t.Errorf("error = %v, want one about time", err)
	}
	pid := th.status("alpha").PID
	th.use() // the others are still served, by the same process
	if got := th.status("alpha").PID; got != pid {
		t.Errorf("the process was replaced, from %d to %d", pid, got)
	}
}

func TestTriggerThatEndsItsProcess(t *testing.T) {
	t.Parallel()
	th := startHost(t, "ax-plugin-alpha", "good", Policy{})
	for how, want := range map[string]string{
		"exit":  "leaving for no reason",
		"crash": "panic: boom in a goroutine",
	} {
		_, _, err := th.Trigger(Spec{Use: "naughty", Settings: []byte(`{"how":"` + how + `"}`)}).
			Next(t.Context(), time.Unix(0, 0), time.Time{}, 1)
		wantError[*UnavailableError](t, err, want)
		th.use() // waits for the back-off and the new process
	}
	if s := th.status("alpha"); s.Restarts != 2 || s.State != StateReady {
		t.Errorf("status = %+v, want ready after 2 restarts", s)
	}
	if !strings.Contains(th.log.String(), "the plugin panicked") {
		t.Error("the log has no record of the panic")
	}
}

func TestHostChecksAnswers(t *testing.T) {
	t.Parallel()
	th := newHost(t, nil)
	lies := map[string]string{
		"lies-past": "not after", "lies-now": "later than", "lies-unordered": "not after", "lies-twice": "not after",
		"lies-late": "later than", "lies-many": "at most 3", "lies-about-spec": "another question",
		"lies-count": "0 answers to 1", "no-trigger": "does not implement",
	}
	for name := range lies {
		th.put(filePrefix+name, "bad")
	}
	th.put("ax-plugin-lies-far", "bad")
	th.put("ax-plugin-forgetful", "bad")
	th.start()
	after := time.Unix(1_000_000, 0)
	for name, want := range lies {
		times, _, err := th.Trigger(Spec{Use: name + "/lie"}).Next(t.Context(), after, after.Add(time.Hour), 3)
		wantError[*MisbehavedError](t, err, want)
		if len(times) != 0 {
			t.Errorf("%s: times %v were taken", name, times)
		}
	}
	_, _, err := th.Trigger(Spec{Use: "lies-far/lie"}).Next(t.Context(), after, time.Time{}, 3)
	wantError[*MisbehavedError](t, err, "beyond the year 9999")
	_, _, err = th.Trigger(Spec{Use: "forgetful/lie"}).Next(t.Context(), after, time.Time{}, 3)
	if err == nil || !strings.Contains(err.Error(), "who are you?") {
		t.Errorf("error = %v, want the problem that stays after preparing twice", err)
	}
}

// One call that hangs is no reason to end a process, many in a row are.
func TestHangingCallsGetTheProcessReplaced(t *testing.T) {
	t.Parallel()
	th := startHost(t, "ax-plugin-hangs-in-next", "bad",
		Policy{CallTimeout: 100 * time.Millisecond, DrainTimeout: 50 * time.Millisecond},
		func(l *limits) { l.slowCalls = 3 })
	ask := func() error {
		_, _, err := th.Trigger(Spec{Use: "lie"}).Next(t.Context(), time.Unix(0, 0), time.Time{}, 1)
		return err
	}
	wantError[*UnavailableError](t, ask(), "did not answer Next within 100ms")
	pid := th.status("hangs-in-next").PID
	wantError[*UnavailableError](t, ask(), "did not answer Next within 100ms")
	if got := th.status("hangs-in-next").PID; got != pid {
		t.Errorf("the process was replaced after 2 calls, from %d to %d", pid, got)
	}
	wantError[*UnavailableError](t, ask(), "did not answer Next within 100ms")
	if got := th.status("hangs-in-next").PID; got == pid {
		t.Error("the process stays after 3 calls")
	}
	awaitGone(t, pid)
}

func TestSpecsAreReleasedAndPreparedAgain(t *testing.T) {
	t.Parallel()
	th := startHost(t, "ax-plugin-alpha", "good", Policy{}, func(l *limits) {
		l.health, l.specTTL = 2*time.Millisecond, time.Nanosecond
	})
	for range 200 {
		th.use()
	}
	if s := th.status("alpha"); s.Restarts != 0 {
		t.Errorf("status = %+v", s)
	}
}

func TestValidate(t *testing.T) {
	t.Parallel()
	th := startHost(t, "ax-plugin-alpha", "good", Policy{})
	check := func(kind pluginapi.Kind, use, settings string) error {
		return th.Validate(t.Context(), kind, Spec{Use: use, Settings: json.RawMessage(settings)})
	}
	if err := check(pluginapi.KindTrigger, "every", `{"seconds":1}`); err != nil {
		t.Errorf("good settings: %v", err)
	}
	if err := check(pluginapi.KindTrigger, "every", `{"second":1}`); err == nil || !pluginapi.IsPermanent(err) {
		t.Errorf("unknown key: %v, want a permanent error", err)
	}
	wantError[*NotFoundError](t, check(pluginapi.KindJob, "every", `{}`), "job")
	var notFound *NotFoundError
	if err := check(pluginapi.KindTrigger, "beta/every", `{}`); !errors.As(err, &notFound) || notFound.Suggestion != "alpha/every" {
		t.Errorf("unknown plugin: %v, want the suggestion alpha/every", err)
	}
}
