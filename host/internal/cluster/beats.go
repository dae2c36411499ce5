package cluster

import (
	"context"
	"time"
)

// beats writes signs of life and looks for those of others until ctx ends.
func (v *View) beats(ctx context.Context) {
	interval := v.cfg.Limits.Heartbeat
	pause := interval / 5 // after a failure
	timer := time.NewTimer(interval)
	defer timer.Stop()
	nextBeat, nextLook := v.now()+interval, v.urgent()
	for {
		timer.Reset(max(min(nextBeat, nextLook)-v.now(), 0))
		kicked := false
		select {
		case <-timer.C:
		case <-v.kick:
			kicked = true
		case <-ctx.Done():
			return
		}
		if now := v.now(); kicked || now >= nextBeat {
			// Those that could not be sent are not made up for.
			nextBeat = max(nextBeat, now-interval) + interval
			if !v.beatOnce(ctx) {
				nextBeat, nextLook = v.now()+pause, v.now()+interval
				continue
			}
		}
		if nextLook = v.now() + pause; v.lookOnce(ctx) {
			nextLook = v.urgent()
		}
	}
}

// urgent returns when there should be another look, if nothing is due before.
func (v *View) urgent() time.Duration {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.roster.at + v.roster.urgent()
}

// beatOnce writes a sign of life and reports whether that went well.
func (v *View) beatOnce(stopping context.Context) bool {
	ctx, cancel := context.WithTimeout(stopping, v.cfg.Limits.Heartbeat)
	defer cancel()
	err := v.beat(ctx)
	if stopping.Err() != nil {
		return false // which is no trouble
	}
	switch failed := v.failing.Swap(err != nil); {
	case err != nil && !failed:
		v.cfg.Log.Error("cannot say that this host lives, will try again and again", "error", err)
	case err == nil && failed:
		v.cfg.Log.Info("can say again that this host lives")
	}
	return err == nil
}

// lookOnce looks for the signs of life of others and reports whether that went
// well.
func (v *View) lookOnce(stopping context.Context) bool {
	ctx, cancel := context.WithTimeout(stopping, v.cfg.Limits.Heartbeat)
	defer cancel()
	err := v.look(ctx)
	if stopping.Err() != nil {
		return false // which is no trouble
	}
	switch failed := v.blind; {
	case err != nil && !failed:
		v.cfg.Log.Error("cannot look for other hosts, will try again and again", "error", err)
	case err == nil && failed:
		v.cfg.Log.Info("can look for other hosts again")
	}
	v.blind = err != nil
	return err == nil
}
