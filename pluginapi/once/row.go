package once

import (
	"context"
	"database/sql"
	"fmt"
	"time"
	"unicode/utf8"

	"github.com/axsched/ax/pluginapi"
)

// maxKey is how much of a key is kept to be read by people, in characters.
const maxKey = 190

// row is one key in a table.
type row struct{ table, id, key string }

// holder is who claimed it.
type holder struct {
	instance string
	at       time.Time
}

func (r row) insert(ctx context.Context, tx *sql.Tx, fire pluginapi.Fire) error {
	_, err := tx.ExecContext(ctx, "INSERT INTO "+r.table+" (id, business_key, instance_id, fence, touched, claimed_at) VALUES (?, ?, ?, ?, 0, ?)",
		r.id, cut(r.key), fire.InstanceID, fire.Fence, time.Now().UnixMicro())
	if err != nil {
		return fmt.Errorf("claim %q: %w", r.key, err)
	}
	return nil
}

func (r row) read(ctx context.Context, tx *sql.Tx) (h holder, err error) {
	var at int64
	err = tx.QueryRowContext(ctx, "SELECT instance_id, claimed_at FROM "+r.table+" WHERE id = ?", r.id).Scan(&h.instance, &at)
	if err != nil {
		return h, fmt.Errorf("look who claimed %q: %w", r.key, err)
	}
	h.at = time.UnixMicro(at)
	return h, nil
}

// touch reports whether the row is there by now. The value always changes: some
// servers do not count rows that stay as they are.
func (r row) touch(ctx context.Context, tx *sql.Tx) (there bool, err error) {
	return r.update(ctx, tx, "UPDATE "+r.table+" SET touched = touched + 1 WHERE id = ?", r.id)
}

// raise notes a fence if the row has no higher one.
func (r row) raise(ctx context.Context, tx *sql.Tx, fence int64) (passed bool, err error) {
	return r.update(ctx, tx, "UPDATE "+r.table+" SET fence = ?, touched = touched + 1 WHERE id = ? AND fence <= ?", fence, r.id, fence)
}

func (r row) update(ctx context.Context, tx *sql.Tx, text string, args ...any) (bool, error) {
	res, err := tx.ExecContext(ctx, text, args...)
	if err != nil {
		return false, fmt.Errorf("claim %q: %w", r.key, err)
	}
	n, err := res.RowsAffected()
	if err != nil {
		return false, fmt.Errorf("claim %q: %w", r.key, err)
	}
	return n > 0, nil
}

// cut takes what is too long off the end of a key. The hash is that of all of it.
func cut(key string) string {
	for i, n := 0, 0; i < len(key); n++ {
		if n == maxKey {
			return key[:i]
		}
		_, size := utf8.DecodeRuneInString(key[i:])
		i += size
	}
	return key
}
