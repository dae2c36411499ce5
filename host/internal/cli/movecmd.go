package cli

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
)

// MoveOptions are the flags of "ax migrate --from --to".
type MoveOptions struct {
	From, To string
	// Progress is told how far it is, in rows.
	Progress func(table string, done, total int64)
}

// MoveReport says what a move did.
type MoveReport struct {
	Rows   map[string]int64 `json:"rows"`
	Now    int64            `json:"moved"`
	Before bool             `json:"was_complete"`
}

// move runs "ax migrate" with --from.
func (p *program) move(ctx context.Context, o MoveOptions) error {
	if o.From == "" || o.To == "" {
		return usage(errors.New("give both --from and --to"))
	}
	line := moveLine{p: p, tenths: -1}
	o.Progress = line.draw
	report, err := p.Move(ctx, o)
	line.clear()
	if err != nil {
		if ctx.Err() != nil {
			return fmt.Errorf("interrupted; the same command goes on where it stopped: %w", context.Cause(ctx))
		}
		return err
	}
	return p.show(report, func() string { return movedText(report) })
}

// moveLine shows the progress: a bar that is redrawn on a terminal, else a line for
// each tenth.
type moveLine struct {
	p      *program
	tenths int
	drawn  bool
}

func (l *moveLine) draw(table string, done, total int64) {
	if l.p.Terminal {
		fmt.Fprintf(l.p.Err, "\r\x1b[K%s %d of %d rows, %s", bar(int(done), int(total)), done, total, table)
		l.drawn = true
		return
	}
	if tenths := int(10 * done / max(total, 1)); tenths > l.tenths {
		l.tenths = tenths
		fmt.Fprintf(l.p.Err, "%d of %d rows\n", done, total)
	}
}

func (l *moveLine) clear() {
	if l.drawn {
		fmt.Fprint(l.p.Err, "\r\x1b[K")
	}
}

func movedText(r MoveReport) string {
	t := newTable("TABLE", "ROWS")
	var all int64
	for _, name := range slices.Sorted(maps.Keys(r.Rows)) {
		t.add(name, fmt.Sprint(r.Rows[name]))
		all += r.Rows[name]
	}
	if r.Before {
		return t.String() + "everything was moved before, nothing was done\n"
	}
	return t.String() + fmt.Sprintf("%d rows are there, %d of them came just now\n", all, r.Now)
}
