package cli

import (
	"bytes"
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/axsched/ax/host/internal/api"
	"github.com/axsched/ax/host/internal/api/apitest"
)

// stepping returns a server of a backfill that is further each time it is asked;
// done says how many due times have run by then, all of them in the end. at is
// called with the number of the question, from 1 on.
func stepping(t *testing.T, at func(asked int), done ...int) *httptest.Server {
	t.Helper()
	backend, _ := apitest.Sample()
	asked, total := 0, done[len(done)-1]
	backend.OnProgress = func(_ context.Context, name string, _ api.BackfillSpan) (api.BackfillProgress, error) {
		n := done[min(asked, len(done)-1)]
		asked++
		at(asked)
		return api.BackfillProgress{Task: name, Total: total, Succeeded: n, Waiting: total - n, Done: n == total}, nil
	}
	return newServer(t, backend)
}

func nothing(int) {}

func TestBackfillBar(t *testing.T) {
	t.Parallel()
	server := stepping(t, nothing, 0, 1, 2)
	d := testDeps(server.URL)
	var out, errs bytes.Buffer
	d.Out, d.Err, d.Terminal = &out, &errs, true
	if code := Run(t.Context(), d, []string{"backfill", "warm-up", "--wait"}); code != ExitOK {
		t.Errorf("exit code %d: %s", code, errs.String())
	}
	want := "\r\x1b[K[..............................]   0% 0 of 2 done, 2 waiting" +
		"\r\x1b[K[###############...............]  50% 1 of 2 done, 1 waiting\r\x1b[K"
	if errs.String() != want || out.String() != "2 of 2 done\n" {
		t.Errorf("shown\n%q\n%q", errs.String(), out.String())
	}
}

// Without a terminal there is a line for each tenth at most.
func TestBackfillLines(t *testing.T) {
	t.Parallel()
	r := execute(t, stepping(t, nothing, 0, 1, 15, 16, 30).URL, []string{"backfill", "warm-up", "--wait"}, "")
	if want := "0 of 30 done, 30 waiting\n15 of 30 done, 15 waiting\n"; r.err != want || r.out != "30 of 30 done\n" {
		t.Errorf("%+v, want %q", r, want)
	}
}

func TestInterruptedBackfillGoesOn(t *testing.T) {
	t.Parallel()
	ctx, interrupt := context.WithCancel(t.Context())
	d := testDeps(stepping(t, func(asked int) {
		if asked == 2 {
			interrupt()
		}
	}, 0, 1, 9).URL)
	var out, errs bytes.Buffer
	d.Out, d.Err = &out, &errs
	if code := Run(ctx, d, []string{"backfill", "warm-up", "--from", "3d"}); code != ExitInterrupted {
		t.Errorf("exit code %d", code)
	}
	for _, want := range []string{"goes on in the host", "ax backfill warm-up\n", "ax instances --task warm-up --kind backfill\n", "ax backfill warm-up --cancel\n"} {
		if !strings.Contains(errs.String(), want) {
			t.Errorf("no %q in %s", want, errs.String())
		}
	}
}

// A host that is restarted meanwhile is waited for.
func TestBackfillOutlivesARestart(t *testing.T) {
	t.Parallel()
	inner := stepping(t, nothing, 0, 1)
	n := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if n++; n == 2 {
			panic(http.ErrAbortHandler) // the connection breaks
		}
		inner.Config.Handler.ServeHTTP(w, r)
	}))
	defer server.Close()
	if r := execute(t, server.URL, []string{"backfill", "warm-up", "--wait"}, ""); r.code != ExitOK || r.out != "1 of 1 done\n" {
		t.Errorf("%+v", r)
	}
}
