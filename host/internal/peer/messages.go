package peer

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/axsched/ax/host/internal/ax"
)

// shortest is the wait for room below which it is not worth asking again.
const shortest = 20 * time.Millisecond

// Dispatch hands an attempt over. nil means RECEIVED: it is in the other host's
// bounded queue. While that is full Dispatch waits, until ctx ends; that is how a
// host that is overrun slows the others down. Many attempts at once share
// requests.
//
// A *RefusalError, and any other error than ErrUnconfirmed, means that the other host
// does not have the attempt. After ErrUnconfirmed it may: then another host may
// get it only with a higher fence, by which the claim of the first one fails.
func (c *Client) Dispatch(ctx context.Context, d Dispatch) error {
	for {
		left := time.Until(deadline(ctx))
		// The answer should arrive before ctx ends.
		wait := left - min(left/10, time.Second)
		if ctx.Err() != nil || wait < shortest {
			return &RefusalError{Code: Busy, Text: "no room came free in time"}
		}
		text, err := c.dispatches.do(ctx, dispatchItem{
			Instance: wireInstance(d.Instance), Revision: d.Revision, WaitMS: wait.Milliseconds(), SentAt: d.SentAt,
		})
		if err != nil {
			return err
		}
		var answer dispatchAnswer
		if err := json.Unmarshal(text, &answer); err != nil {
			return fmt.Errorf("%w: decode the answer: %w", ErrUnconfirmed, err)
		}
		switch answer.Code {
		case "":
			return nil
		case Busy: // others of the batch were faster
		default:
			return &RefusalError{Code: answer.Code, Text: answer.Text}
		}
	}
}

// Ended tells the host that schedules the task of the end of an attempt.
func (c *Client) Ended(ctx context.Context, end Ended) error {
	_, err := c.ends.do(ctx, endedItem{Instance: wireInstance(end.Instance), WillRetry: end.WillRetry})
	return err
}

// Cancel asks the attempt with this fence to end, and reports whether it runs or
// waits there.
func (c *Client) Cancel(ctx context.Context, id ax.InstanceID, fence int64, cause string) (found bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, shortCall)
	defer cancel()
	var answer cancelAnswer
	err = c.call(ctx, c.calls, "cancel", cancelRequest{Instance: id, Fence: fence, Cause: cause}, &answer)
	return answer.Found, err
}

// Changed hints that tasks are to be read anew; none means any.
func (c *Client) Changed(ctx context.Context, tasks ...ax.TaskID) error {
	ctx, cancel := context.WithTimeout(ctx, shortCall)
	defer cancel()
	return c.call(ctx, c.calls, "changed", changedRequest{Tasks: tasks}, nil)
}

// Leaving says that this host drains.
func (c *Client) Leaving(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, shortCall)
	defer cancel()
	return c.call(ctx, c.calls, "leaving", empty{}, nil)
}

// Drain asks the host to leave scheduling, or to take part in it again; by is the
// person who wants it. The error is what the other host says against it, or that
// it could not be reached.
func (c *Client) Drain(ctx context.Context, undo bool, by string) error {
	ctx, cancel := context.WithTimeout(ctx, shortCall)
	defer cancel()
	var answer drainAnswer
	if err := c.call(ctx, c.calls, "drain", drainRequest{Undo: undo, By: by}, &answer); err != nil {
		return err
	}
	if answer.Refusal != "" {
		return errors.New(answer.Refusal)
	}
	return nil
}

// Run asks the host to start a task by hand that it schedules. A *RefusalError says
// why it does not; after any other error it may have.
func (c *Client) Run(ctx context.Context, r Run) (ax.InstanceID, error) {
	ctx, cancel := context.WithTimeout(ctx, shortCall)
	defer cancel()
	var answer runAnswer
	if err := c.call(ctx, c.calls, "run", r, &answer); err != nil {
		return 0, err
	}
	if answer.Code != "" {
		return 0, &RefusalError{Code: answer.Code, Text: answer.Text}
	}
	return answer.Instance, nil
}

// Ping asks for a sign of life, over a connection that is used for nothing else.
func (c *Client) Ping(ctx context.Context) error { return c.call(ctx, c.probes, "ping", empty{}, nil) }

// post returns how batches of one kind are sent.
func (c *Client) post(name string) func(context.Context, []json.RawMessage) ([]json.RawMessage, error) {
	return func(ctx context.Context, items []json.RawMessage) ([]json.RawMessage, error) {
		var answer batchAnswer
		err := c.call(ctx, c.calls, name, batchRequest{items}, &answer)
		return answer.Answers, err
	}
}
