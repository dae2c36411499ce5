package executor

import (
	"errors"
	"time"

	"github.com/axsched/ax/host/internal/ax"
)

// moments is how long the database may take over an outcome until it is kept on
// the disk of this host as well.
const moments = time.Second

// Kept is the end of an attempt on its way to the database.
type Kept struct {
	Change ax.Change
	End    ax.Ended
}

type keptKey struct {
	id    ax.InstanceID
	fence int64
}

func (k Kept) key() keptKey { return keptKey{k.Change.Move.New.ID, k.Change.Move.Fence} }

var errKept = errors.New("kept until the database takes it")

// writeOrKeep writes an end, or keeps it if that takes longer than moments. Then
// it is on its way twice, and whichever comes first counts: both are the same
// conditional change. The error is errKept once the other way alone has to do.
func (e *Executor) writeOrKeep(k Kept) (applied bool, err error) {
	done := make(chan struct{})
	change := k.Change
	change.Done = func(ok bool, e error) {
		applied, err = ok, e
		close(done)
	}
	e.cfg.Writer.Submit(change)
	if e.cfg.Keep == nil {
		<-done
		return applied, err
	}
	timer := time.NewTimer(moments)
	defer timer.Stop()
	select {
	case <-done:
		if err == nil {
			return applied, nil
		}
	case <-timer.C:
	}
	e.mu.Lock()
	e.kept[k.key()] = true
	e.mu.Unlock()
	if kept := e.cfg.Keep(k); kept != nil {
		e.cfg.Log.Error("cannot keep an outcome on disk", "instance_id", k.Change.Move.New.ID, "error", kept)
		e.once(k.key())
		<-done
		return applied, err
	}
	<-done
	if err == nil && applied && e.once(k.key()) {
		return true, nil
	}
	return false, errKept
}

// once reports whether nobody has told of the end of this attempt yet.
func (e *Executor) once(key keptKey) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	there := e.kept[key]
	delete(e.kept, key)
	return there
}

// Delivered says that an end which was kept is in the database now. Those that an
// earlier life of the host has kept are told of too: nobody else could have.
func (e *Executor) Delivered(end ax.Ended, fence int64) {
	if e.once(keptKey{end.Instance.ID, fence}) || end.Instance.Owner != e.cfg.Incarnation {
		e.cfg.Ended(end)
	}
}
