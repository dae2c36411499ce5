package peer

import (
	"context"
	"time"

	"github.com/hashicorp/go-hclog"
)

// pingTimeout is how long a ping may take. A late answer is no proof of
// anything, so it is generous.
const pingTimeout = 2 * time.Second

// prober pings one incarnation.
type prober struct {
	client      *Client
	incarnation string
	peers       *Peers
	log         hclog.Logger
	ctx         context.Context
	quit        context.CancelFunc
	state       probeState // owned by run
}

type probeState int

// States of what pings have shown.
const (
	unknown probeState = iota
	reachable
	slow
	broken
)

func (p *prober) stop() {
	p.quit()
	p.client.Close()
}

func (p *prober) run() {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-timer.C:
		case <-p.ctx.Done():
			return
		}
		err := p.ping()
		if p.ctx.Err() != nil {
			return
		}
		p.judge(err)
		timer.Reset(p.peers.every())
	}
}

// ping asks for a sign of life, a second time if a connection breaks: it may be
// that only the connection has come to its end.
func (p *prober) ping() error {
	ctx, cancel := context.WithTimeout(p.ctx, pingTimeout)
	defer cancel()
	err := p.client.Ping(ctx)
	if err != nil && ctx.Err() == nil {
		err = p.client.Ping(ctx)
	}
	return err
}

// judge tells of a change.
func (p *prober) judge(err error) {
	before := p.state
	switch {
	case err == nil:
		p.state = reachable
	case Broken(err):
		p.state = broken
	default:
		p.state = slow
	}
	if p.state == before {
		return
	}
	switch p.state {
	case reachable:
		p.log.Debug("a host answers")
		p.peers.cfg.Trusted(p.incarnation)
	case broken:
		p.peers.cfg.Suspect(p.incarnation, err)
	case slow:
		p.log.Warn("a host does not answer; it is not taken for dead because of that", "error", err)
	case unknown:
	}
}
