package webcall

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/axsched/ax/pluginapi"
)

// answering is a transport that answers by a function.
type answering func(req *http.Request) (*http.Response, error)

func (a answering) RoundTrip(req *http.Request) (*http.Response, error) { return a(req) }

func newClient(transport http.RoundTripper) *Client {
	return &Client{
		HTTP:     &http.Client{Transport: transport, CheckRedirect: NoRedirects},
		Scrubber: NewScrubber("s3cret-token"), Timeout: 10 * time.Second, MaxAnswer: 20,
	}
}

func newRequest(t *testing.T) *http.Request {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "https://h.example/s3cret-token", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	return req
}

func TestExchange(t *testing.T) {
	t.Parallel()
	const long = "token s3cret-token and more"
	answers := answering(func(*http.Request) (*http.Response, error) {
		w := httptest.NewRecorder()
		w.Header().Set("Location", "https://elsewhere.example/")
		w.WriteHeader(http.StatusFound)
		fmt.Fprint(w, long)
		return w.Result(), nil
	})
	a, err := newClient(answers).Exchange(t.Context(), newRequest(t))
	if err != nil || a.StatusCode != http.StatusFound || a.Good() || a.Text != "token [hidden] a" || !a.Cut || a.Broken != nil {
		t.Errorf("answer %+v, error %v", a, err)
	}
}

// An answer that breaks off still has its status.
func TestBrokenAnswer(t *testing.T) {
	t.Parallel()
	cut := errors.New("connection reset by s3cret-token")
	breaks := answering(func(*http.Request) (*http.Response, error) {
		body := io.MultiReader(strings.NewReader("half"), readerFunc(func([]byte) (int, error) { return 0, cut }))
		return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(body)}, nil
	})
	a, err := newClient(breaks).Exchange(t.Context(), newRequest(t))
	if err != nil || !a.Good() || a.Text != "" || a.Broken == nil || a.Broken.Error() != "read the answer: connection reset by [hidden]" || !errors.Is(a.Broken, cut) {
		t.Errorf("answer %+v, error %v", a, err)
	}
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

func TestEndsOfAnExchange(t *testing.T) {
	t.Parallel()
	hangs := answering(func(req *http.Request) (*http.Response, error) {
		<-req.Context().Done()
		return nil, req.Context().Err()
	})
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		_, err := newClient(hangs).Exchange(t.Context(), newRequest(t))
		if !errors.Is(err, ErrSlow) || err.Error() != "no answer within the timeout of 10s" || time.Since(start) != 10*time.Second {
			t.Errorf("error %v after %v", err, time.Since(start))
		}
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(time.Second, func() { cancel(pluginapi.ErrDrain) })
		if _, err := newClient(hangs).Exchange(ctx, newRequest(t)); !errors.Is(err, pluginapi.ErrDrain) {
			t.Errorf("error %v", err)
		}
	})
	refused := pluginapi.Permanent(errors.New("s3cret-token is refused"))
	fails := answering(func(*http.Request) (*http.Response, error) { return nil, refused })
	_, err := newClient(fails).Exchange(t.Context(), newRequest(t))
	if !errors.Is(err, refused) || !pluginapi.IsPermanent(err) || err.Error() != "[hidden] is refused" {
		t.Errorf("error %v", err)
	}
}

func TestDialect(t *testing.T) {
	t.Parallel()
	d := &Dialect{Name: "a robot", CodeKey: "errcode", TextKey: "errmsg", Troubles: map[int]Trouble{
		1: {Cure: "mend it", Permanent: true}, 2: {Cure: "wait", Blocked: time.Minute},
	}}
	broken := errors.New("broken")
	tests := map[string]struct {
		status    int
		body      string
		broken    error
		want      string
		permanent bool
	}{
		"yes":         {200, `{"errcode":0,"errmsg":"ok"}`, nil, "", false},
		"permanent":   {200, `{"errcode":1,"errmsg":"a\nb"}`, nil, "errcode 1: a b (mend it)", true},
		"blocked":     {200, `{"errcode":2}`, nil, "errcode 2 (wait), retry after 1m0s", false},
		"unheard of":  {200, `{"errcode":3,"errmsg":"c"}`, nil, "errcode 3: c", false},
		"by status":   {400, `{"errcode":1}`, nil, "errcode 1 (mend it)", true},
		"web page":    {200, "<html>", nil, "the answer is not that of a robot", false},
		"other JSON":  {200, `{"ok":true}`, nil, "the answer is not that of a robot", false},
		"null":        {200, `{"errcode":null}`, nil, "the answer is not that of a robot", false},
		"broken":      {200, "", broken, "broken", false},
		"only status": {502, "<html>", nil, "", false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := d.Judge(&Answer{Response: &http.Response{StatusCode: tt.status}, Text: tt.body, Broken: tt.broken})
			if refusal, ok := errors.AsType[*RefusalError](err); ok {
				err = refusal.Outcome()
			}
			if got := fmt.Sprint(err); got != tt.want && (tt.want != "" || err != nil) || pluginapi.IsPermanent(err) != tt.permanent {
				t.Errorf("error %v, want %q", err, tt.want)
			}
		})
	}
}
