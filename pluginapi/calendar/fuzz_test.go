package calendar

import (
	"bytes"
	"testing"
)

// FuzzHolidayFiles reads any bytes as CSV and as JSON: they are refused, or
// make a calendar that survives the wire.
func FuzzHolidayFiles(f *testing.F) {
	f.Add([]byte("date,name,kind\n2026-01-01,元旦,off\n2026-01-04,元旦,work\n"))
	f.Add([]byte("\ufeffKIND,DATE\noff,9999-12-31\n"))
	f.Add([]byte(`{"year":2026,"days":[{"name":"元旦","date":"2026-01-01","isOffDay":true}]}`))
	f.Add([]byte(`[{"date":"0001-01-01","isOffDay":false}]`))
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, parse := range []parser{ParseCSV, ParseJSON} {
			closed, open, err := parse(bytes.NewReader(data), "file")
			if err != nil {
				continue
			}
			c, err := New(Spec{Name: "c", Closed: closed, Open: open})
			if err != nil {
				t.Fatalf("rules that were read are refused: %v", err)
			}
			again, err := Unmarshal(c.Marshal())
			if err != nil || again.Hash() != c.Hash() {
				t.Fatalf("wire form %s reads as %v, %v", c.Marshal(), again, err)
			}
			for _, r := range closed {
				if got := c.IsOpen(r.From); got != again.IsOpen(r.From) {
					t.Fatalf("%s differs after the wire", r.From)
				}
			}
		}
	})
}

// FuzzUnmarshal reads any bytes as a calendar's wire form.
func FuzzUnmarshal(f *testing.F) {
	f.Add([]byte(`{"v":1,"layers":[{"name":"a","weekly":[1,2],"closed":[{"d":"2026-01-01..2026-01-03","n":"x","y":2026}],"open":[{"d":"day -1"}]}]}`))
	f.Add([]byte(`{"v":1,"layers":[{"name":"a","weekly":null},{"name":"b","weekly":[],"open":[{"d":"02-29"}]}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := Unmarshal(data)
		if err != nil {
			return
		}
		again, err := Unmarshal(c.Marshal())
		if err != nil || again.Hash() != c.Hash() {
			t.Fatalf("wire form %s reads as %v, %v", c.Marshal(), again, err)
		}
	})
}
