package peer

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/axsched/ax/host/internal/ax"
)

const (
	// linger is how long the answer to a batch waits for items that have no
	// room yet once another one has: those in the queue are confirmed soon, and
	// the rest comes again, but not for every single place that becomes free.
	linger = 200 * time.Millisecond
	// maxWait bounds how long a sender is kept waiting for room.
	maxWait = 5 * time.Minute
)

func decode[T any](body []byte) (T, error) {
	var v T
	if err := json.Unmarshal(body, &v); err != nil {
		return v, fmt.Errorf("decode a message: %w", err)
	}
	return v, nil
}

// dispatch receives a batch of attempts. It answers when all have a place or a
// refusal; or shortly after the first has, while others find no room; or when
// nobody would wait any longer.
func (s *Server) dispatch(ctx context.Context, _ string, body []byte) (any, error) {
	batch, err := decode[batchRequest](body)
	if err != nil {
		return nil, err
	}
	items := make([]dispatchItem, len(batch.Items))
	for i, text := range batch.Items {
		if items[i], err = decode[dispatchItem](text); err != nil {
			return nil, err
		}
	}
	answers := make([]json.RawMessage, len(items))
	for i, answer := range s.receiveAll(ctx, items) {
		if answers[i], err = json.Marshal(answer); err != nil {
			return nil, fmt.Errorf("encode an answer: %w", err)
		}
	}
	return batchAnswer{answers}, nil
}

func (s *Server) receiveAll(ctx context.Context, items []dispatchItem) []dispatchAnswer {
	ctx, enough := context.WithCancel(ctx)
	defer enough()
	answers := make([]dispatchAnswer, len(items))
	var all sync.WaitGroup
	var first sync.Once
	for i := range items {
		all.Go(func() {
			answers[i] = s.receive(ctx, items[i])
			first.Do(func() { time.AfterFunc(linger, enough) })
		})
	}
	all.Wait()
	return answers
}

func (s *Server) receive(ctx context.Context, item dispatchItem) dispatchAnswer {
	wait := min(time.Duration(max(item.WaitMS, 0))*time.Millisecond, maxWait)
	ctx, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	err := s.cfg.Host.Receive(ctx, Dispatch{Instance: ax.Instance(item.Instance), Revision: item.Revision, SentAt: item.SentAt})
	refusal, refused := errors.AsType[*RefusalError](err)
	switch {
	case err == nil:
		return dispatchAnswer{}
	case refused:
		return dispatchAnswer{Code: refusal.Code, Text: refusal.Text}
	case ctx.Err() != nil:
		return dispatchAnswer{Code: Busy, Text: "the queue is full"}
	}
	return dispatchAnswer{Code: Unable, Text: err.Error()}
}

func (s *Server) ended(_ context.Context, _ string, body []byte) (any, error) {
	batch, err := decode[batchRequest](body)
	if err != nil {
		return nil, err
	}
	ends := make([]Ended, len(batch.Items))
	answers := make([]json.RawMessage, len(batch.Items))
	for i, text := range batch.Items {
		item, err := decode[endedItem](text)
		if err != nil {
			return nil, err
		}
		ends[i], answers[i] = Ended{ax.Instance(item.Instance), item.WillRetry}, json.RawMessage("{}")
	}
	s.cfg.Host.Ended(ends)
	return batchAnswer{answers}, nil
}

func (s *Server) cancel(_ context.Context, _ string, body []byte) (any, error) {
	req, err := decode[cancelRequest](body)
	if err != nil {
		return nil, err
	}
	return cancelAnswer{s.cfg.Host.Cancel(req.Instance, req.Fence, req.Cause)}, nil
}

func (s *Server) changed(_ context.Context, from string, body []byte) (any, error) {
	req, err := decode[changedRequest](body)
	if err != nil {
		return nil, err
	}
	s.cfg.Host.Changed(from, req.Tasks)
	return empty{}, nil
}

func (s *Server) leaving(_ context.Context, from string, _ []byte) (any, error) {
	s.cfg.Host.Leaving(from)
	return empty{}, nil
}

func (s *Server) drain(_ context.Context, _ string, body []byte) (any, error) {
	req, err := decode[drainRequest](body)
	if err != nil {
		return nil, err
	}
	var answer drainAnswer
	if err := s.cfg.Host.Drain(req.Undo, req.By); err != nil {
		answer.Refusal = err.Error()
	}
	return answer, nil
}

func (s *Server) run(ctx context.Context, _ string, body []byte) (any, error) {
	req, err := decode[Run](body)
	if err != nil {
		return nil, err
	}
	id, err := s.cfg.Host.Run(ctx, req)
	if refusal, ok := errors.AsType[*RefusalError](err); ok {
		return runAnswer{Code: refusal.Code, Text: refusal.Text}, nil
	}
	return runAnswer{Instance: id}, err
}

func (s *Server) ping(context.Context, string, []byte) (any, error) { return empty{}, nil }
