package proxy

import (
	"context"
	"net"
	"time"
)

// backlog bounds the pieces that are under way in one direction.
const backlog = 256

// piece is something that was said, and when.
type piece struct {
	said time.Time
	text []byte
}

// copy passes on what from says, as late as the network is slow, until one of
// the two is closed.
func (p *Proxy) copy(ctx context.Context, to, from *net.TCPConn) {
	line := make(chan piece, backlog)
	p.wg.Go(func() {
		defer close(line)
		for {
			text := make([]byte, 32<<10)
			n, err := from.Read(text)
			if n > 0 {
				select {
				case line <- piece{time.Now(), text[:n]}:
				case <-ctx.Done():
					return
				}
			}
			if err != nil {
				return
			}
		}
	})
	for piece := range line {
		if !p.pass(ctx, piece.said) {
			return
		}
		if _, err := to.Write(piece.text); err != nil {
			return
		}
	}
}

// pass waits until the network lets through what was said at a time. It reports
// false if the connection ends before.
func (p *Proxy) pass(ctx context.Context, said time.Time) bool {
	for {
		state, changed := p.now()
		wait := time.Until(said.Add(state.Latency))
		if !state.Silent && wait <= 0 {
			return ctx.Err() == nil
		}
		if state.Silent {
			wait = time.Hour
		}
		timer := time.NewTimer(wait)
		select {
		case <-timer.C:
		case <-changed:
		case <-ctx.Done():
		}
		timer.Stop()
		if ctx.Err() != nil {
			return false
		}
	}
}
