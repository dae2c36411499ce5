package webcall

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"
)

// ErrSlow is the cause that ends an exchange after its timeout.
var ErrSlow = errors.New("no answer within the timeout")

// Client makes exchanges: a request, and what came back. Its errors show
// neither the URL nor the secrets that the scrubber knows.
type Client struct {
	HTTP     *http.Client
	Scrubber Scrubber
	// Timeout bounds one exchange, from the connection to the end of the body.
	Timeout time.Duration
	// MaxAnswer is how much of a body is kept, in bytes.
	MaxAnswer int64
}

// Answer is what came back. The body is read and closed.
type Answer struct {
	*http.Response
	// Text is the beginning of the body, without secrets.
	Text string
	// Cut says that there was more than Text.
	Cut bool
	// Broken is why the body ended early, nil if it did not.
	Broken error
}

// Good reports whether the status is one of 2xx.
func (a *Answer) Good() bool { return a.StatusCode >= 200 && a.StatusCode < 300 }

// Exchange sends req and reads the answer, whatever its status. The exchange
// ends with ctx, whose cause is then the error, or with the timeout, which is an
// [ErrSlow]. The context of req itself is not used.
func (c *Client) Exchange(ctx context.Context, req *http.Request) (*Answer, error) {
	exchange, cancel := context.WithTimeoutCause(ctx, c.Timeout, ErrSlow)
	defer cancel()
	resp, err := c.HTTP.Do(req.WithContext(exchange))
	if err != nil {
		return nil, c.Failure(ctx, exchange, err)
	}
	defer resp.Body.Close()
	a := &Answer{Response: resp}
	text, cut, err := ReadHead(resp.Body, c.MaxAnswer)
	if err != nil {
		a.Broken = c.Failure(ctx, exchange, err)
		return a, nil
	}
	if a.Text, a.Cut = c.Scrubber.Scrub(text), cut; cut {
		a.Text = c.Scrubber.ScrubHead(text)
	}
	return a, nil
}

// Failure explains why there is no answer. ctx is the caller's, exchange ends
// with it or with the timeout.
func (c *Client) Failure(ctx, exchange context.Context, err error) error {
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.Is(context.Cause(exchange), ErrSlow):
		return fmt.Errorf("%w of %v", ErrSlow, c.Timeout)
	}
	return c.Scrubber.Error(Cause(err))
}

// NoRedirects is for http.Client.CheckRedirect of clients that follow none: a
// redirect would turn a POST into a GET or send the message to a stranger.
func NoRedirects(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

// Origin returns the scheme and the host of u, which are no secrets.
func Origin(u *url.URL) string { return u.Scheme + "://" + u.Host }

// Cause takes the URL off an error of net/http.
func Cause(err error) error {
	if wrapped, ok := errors.AsType[*url.Error](err); ok {
		return wrapped.Err
	}
	return err
}
