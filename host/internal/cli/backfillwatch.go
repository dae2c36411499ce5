package cli

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/axsched/ax/host/internal/api"
	"github.com/axsched/ax/host/internal/ax"
)

const (
	// firstLook and longestLook bound the time between two looks at a backfill:
	// short at first, since it may be over in a moment.
	firstLook   = 100 * time.Millisecond
	longestLook = time.Second
	// barWidth is how many columns the bar takes.
	barWidth = 30
)

// backfillWatch follows the backfills of a task.
type backfillWatch struct {
	program *program
	client  *client
	task    string
	span    api.BackfillSpan

	tenths int // of the last line shown where lines are not redrawn
	drawn  bool
}

func (w *backfillWatch) ask(ctx context.Context) (api.BackfillProgress, error) {
	var b api.BackfillProgress
	return b, w.client.get(ctx, taskPath(w.task, "backfill"), spanQuery(w.span), &b)
}

// wait shows the progress until nothing waits or runs any more. It outlives a
// restart of the host.
func (w *backfillWatch) wait(ctx context.Context) error {
	w.tenths = -1
	look, answered := firstLook, time.Time{}
	for {
		b, err := w.ask(ctx)
		switch {
		case ctx.Err() != nil:
			return w.left()
		case err == nil:
			answered = time.Now()
			if b.Done {
				return w.end(b)
			}
			w.draw(b)
		case answered.IsZero() || !away(err) || time.Since(answered) > patience:
			return err
		}
		select {
		case <-ctx.Done():
			return w.left()
		case <-time.After(look):
			look = min(look*3/2, longestLook)
		}
	}
}

// away reports whether a host may be back in a moment.
func away(err error) bool {
	if _, ok := errors.AsType[*unreachable](err); ok {
		return true
	}
	refused, ok := errors.AsType[*refusal](err)
	return ok && refused.Status == http.StatusServiceUnavailable
}

// draw shows the progress: a bar that is redrawn on a terminal, else a line for
// each tenth.
func (w *backfillWatch) draw(b api.BackfillProgress) {
	errs := w.program.Err
	if w.program.Terminal {
		fmt.Fprintf(errs, "\r\x1b[K%s %s", bar(ended(b), b.Total), backfillText(b))
		w.drawn = true
		return
	}
	if tenths := 10 * ended(b) / max(b.Total, 1); tenths > w.tenths {
		w.tenths = tenths
		fmt.Fprintln(errs, backfillText(b))
	}
}

// bar shows a part of a whole.
func bar(part, whole int) string {
	full := barWidth * part / max(whole, 1)
	return fmt.Sprintf("[%s%s] %3d%%", strings.Repeat("#", full), strings.Repeat(".", barWidth-full), 100*part/max(whole, 1))
}

// clear takes the bar away.
func (w *backfillWatch) clear() {
	if w.drawn {
		fmt.Fprint(w.program.Err, "\r\x1b[K")
		w.drawn = false
	}
}

// end shows how it ended.
func (w *backfillWatch) end(b api.BackfillProgress) error {
	w.clear()
	if err := w.program.show(b, func() string { return backfillText(b) + "\n" }); err != nil {
		return err
	}
	if b.Failed == 0 {
		return nil
	}
	return fmt.Errorf("%s did not succeed, see: %s", count(b.Failed, "run"),
		instancesOf(w.task, ax.StatusFailed, ax.StatusTimeout, ax.StatusLost))
}

// left says what goes on after an interrupt.
func (w *backfillWatch) left() error {
	w.clear()
	return fmt.Errorf("interrupted; the backfill goes on in the host\nsee how far it is:  ax backfill %s\nsee its runs:       %s\ncancel the rest:    ax backfill %s --cancel",
		w.task, instancesOf(w.task), w.task)
}
