package spool

import (
	"fmt"
	"os"
	"reflect"
	"testing"
	"time"
)

// TestOldSpoolIsRead: the file of a release before this one. What is in it must
// be readable for good.
func TestOldSpoolIsRead(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("testdata/result-v1.json")
	if err != nil {
		t.Fatal(err)
	}
	r, err := decode(text)
	if err != nil {
		t.Fatal(err)
	}
	got := fmt.Sprintln(r.Move.From, r.Move.Fence, r.Move.New.ID, r.Move.New.ScheduledAt.UnixMicro(), string(r.Move.New.Params), r.Move.New.RetryAt.UnixMicro(),
		r.Events[0].ID, r.Events[0].Stage, r.Outcome.Status, r.Outcome.Error, r.WillRetry)
	const want = `RUNNING 3 1152921504606846983 1906545600123456 {"day":"2030-06-01"} 1906545660123456 ` +
		`99 outcome FAILED exit status 3 true` + "\n"
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	text, err = encode(r)
	again, err2 := decode(text)
	if err != nil || err2 != nil || !reflect.DeepEqual(again, r) {
		t.Errorf("%+v became %+v (%v, %v)", r, again, err, err2)
	}
	for _, wrong := range []string{"", "{}", `{"Move":{"New":{"ID":5,"Status":"SUCCESS"},"From":"MISSED"}}`} {
		if _, err := decode([]byte(wrong)); err == nil {
			t.Errorf("%q is no result", wrong)
		}
	}
}

// TestUnreadableRowStays where somebody can look at it, and stops nothing.
func TestUnreadableRowStays(t *testing.T) {
	t.Parallel()
	b := setup(t, nil)
	if err := b.file.insert(t.Context(), []row{{instance: 9, result: []byte("{"), failedAt: time.Now()}}); err != nil {
		t.Fatal(err)
	}
	b.put(t, 1)
	if left, err := b.runOnce(t.Context()); left != 0 || err != nil {
		t.Fatalf("%d left, %v", left, err)
	}
	b.want(t, 1)
	if got := b.told(); got != "1:D" {
		t.Errorf("told of %s", got)
	}
}
