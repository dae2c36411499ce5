package store

import (
	"database/sql"
	"encoding/json"
	"time"
)

// micros is the stored form of a time; the zero time is NULL.
func micros(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return t.UnixMicro()
}

// fromMicros is the reverse of micros, in UTC.
func fromMicros(v sql.NullInt64) time.Time {
	if !v.Valid {
		return time.Time{}
	}
	return time.UnixMicro(v.Int64).UTC()
}

// timeColumn scans a column written by micros.
type timeColumn struct{ t *time.Time }

func (c timeColumn) Scan(v any) error {
	var n sql.NullInt64
	if err := n.Scan(v); err != nil {
		return err
	}
	*c.t = fromMicros(n)
	return nil
}

func flag(b bool) any {
	if b {
		return int64(1)
	}
	return int64(0)
}

// jsonColumn scans a column of JSON text, NULL as nil.
type jsonColumn struct{ j *json.RawMessage }

func (c jsonColumn) Scan(v any) error {
	var s sql.NullString
	if err := s.Scan(v); err != nil {
		return err
	}
	*c.j = nil
	if s.Valid {
		*c.j = json.RawMessage(s.String)
	}
	return nil
}

// jsonText is the stored form of JSON; nothing is NULL.
func jsonText(j json.RawMessage) any {
	if len(j) == 0 {
		return nil
	}
	return string(j)
}

// timesColumn scans a list of times written by timesText.
type timesColumn struct{ ts *[]time.Time }

func (c timesColumn) Scan(v any) error {
	var s sql.NullString
	if err := s.Scan(v); err != nil {
		return err
	}
	*c.ts = nil
	if !s.Valid {
		return nil
	}
	var us []int64
	if err := json.Unmarshal([]byte(s.String), &us); err != nil {
		return err
	}
	for _, u := range us {
		*c.ts = append(*c.ts, time.UnixMicro(u).UTC())
	}
	return nil
}

// timesText stores a list of times as a JSON array of microseconds; an empty
// list is NULL.
func timesText(ts []time.Time) any {
	if len(ts) == 0 {
		return nil
	}
	us := make([]int64, len(ts))
	for i, t := range ts {
		us[i] = t.UnixMicro()
	}
	b, _ := json.Marshal(us) // integers always marshal
	return string(b)
}
