package executor

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	"github.com/axsched/ax/host/internal/ax"
)

const (
	// maxWait bounds a deferred run of a task without a timeout.
	maxWait = 24 * time.Hour
	// firstPause and lastPause bound the waits between tries to write an outcome.
	firstPause = 250 * time.Millisecond
	lastPause  = 30 * time.Second
)

// Settle writes the end of an attempt: the final state, or RETRYING while the
// retry policy grants another attempt, and returns when that is done. If the
// database is away it goes on trying until the executor is stopped; the attempt
// is never made again because of that.
func (e *Executor) Settle(a ax.Attempt, out ax.Outcome) {
	inst := a.Instance
	inst.EndedAt, inst.Deferred, inst.CallbackHash, inst.DeadlineAt = out.EndedAt, false, "", time.Time{}
	inst.Message, inst.Error, inst.Data = out.Message, out.Error, out.Data
	inst.Status = out.Status
	events := []ax.Event{e.event(&inst, out.EndedAt, ax.StageOutcome, level(out.Status), describe(out))}

	delay, again := a.Task.Retry.Next(inst.Attempt, out)
	if again {
		inst.Status, inst.RetryAt = ax.StatusRetrying, out.EndedAt.Add(delay)
		events = append(events, e.event(&inst, out.EndedAt, ax.StageRetryScheduled, "info",
			fmt.Sprintf("attempt %d of %d follows in %s", inst.Attempt+1, a.Task.Retry.MaxAttempts(), delay)))
	}
	e.end(ax.Change{
		Move:   &ax.Move{From: ax.StatusRunning, Fence: a.Instance.Fence, New: inst},
		Events: events,
	}, a, ax.Ended{Task: a.Task, Instance: inst, Outcome: out, WillRetry: again})
}

// deferred notes that the job will report its end by a callback.
func (e *Executor) deferred(a ax.Attempt, out ax.Outcome, token string) {
	inst := a.Instance
	inst.Deferred, inst.CallbackHash, inst.Message = true, hash(token), out.Message
	inst.DeadlineAt = inst.StartedAt.Add(maxWait)
	if a.Task.Timeout > 0 {
		inst.DeadlineAt = inst.StartedAt.Add(a.Task.Timeout)
	}
	now := e.cfg.Now()
	e.end(ax.Change{
		Move: &ax.Move{From: ax.StatusRunning, Fence: inst.Fence, New: inst},
		Events: []ax.Event{e.event(&inst, now, ax.StageDeferred, "info",
			"waits for the callback until "+inst.DeadlineAt.UTC().Format(time.RFC3339))},
	}, a, ax.Ended{Task: a.Task, Instance: inst, Outcome: out})
}

// end writes the end of an attempt and tells of it. If the database does not take
// it within moments it is kept on disk; without a place for that it is tried again
// and again.
func (e *Executor) end(change ax.Change, a ax.Attempt, end ax.Ended) {
	kept := Kept{Change: change, End: end}
	for pause := firstPause; ; pause = min(2*pause, lastPause) {
		applied, err := e.writeOrKeep(kept)
		switch {
		case errors.Is(err, errKept):
			return // Delivered tells of it
		case err == nil && applied:
			e.cfg.Ended(end)
			return
		case err == nil:
			e.stale(kept)
			return
		}
		e.cfg.Log.Error("cannot write an outcome, will try again",
			"instance_id", a.Instance.ID, "task", a.Task.Name, "in", pause, "error", err)
		if !e.pause(pause) {
			e.cfg.Log.Error("an outcome was not written; the instance will be found LOST at the next start",
				"instance_id", a.Instance.ID, "task", a.Task.Name)
			return
		}
	}
}

// stale tells of an end that came too late: another attempt holds the instance, or
// it was given up.
func (e *Executor) stale(k Kept) {
	inst := k.End.Instance
	text := fmt.Sprintf("attempt %d ended %s after the instance had been taken from it", inst.Attempt, k.End.Outcome.Status)
	if k.End.Outcome.Error != "" {
		text += ": " + k.End.Outcome.Error
	}
	e.cfg.Log.Warn("the outcome of a stale attempt was not written: another one holds the instance",
		"instance_id", inst.ID, "task", inst.TaskName, "fence", k.Change.Move.Fence)
	e.cfg.Writer.Submit(ax.Change{Events: []ax.Event{e.event(&inst, e.cfg.Now(), ax.StageLateResult, "warn", text)}})
}

// pause waits, and reports false if the executor gives up meanwhile.
func (e *Executor) pause(d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-e.ctx.Done():
		return false
	}
}

// ErrToken says that a callback's token is not the one that was handed out.
var ErrToken = errors.New("the token does not belong to this instance")

// CheckToken compares the token of a callback with what the row holds.
func CheckToken(inst *ax.Instance, token string) error {
	if !inst.Deferred || subtle.ConstantTimeCompare([]byte(hash(token)), []byte(inst.CallbackHash)) != 1 {
		return ErrToken
	}
	return nil
}

func newToken() string {
	var b [24]byte
	rand.Read(b[:]) // never fails since Go 1.24
	return hex.EncodeToString(b[:])
}

func hash(token string) string {
	sum := sha256.Sum256([]byte(token))
	return hex.EncodeToString(sum[:])
}

func level(s ax.Status) string {
	if s == ax.StatusSuccess {
		return "info"
	}
	return "error"
}

func describe(out ax.Outcome) string {
	text := string(out.Status) + " after " + out.EndedAt.Sub(out.StartedAt).Round(time.Millisecond).String()
	if out.Message != "" {
		text += ": " + out.Message
	}
	if out.Error != "" {
		text += ": " + out.Error
	}
	return text
}
