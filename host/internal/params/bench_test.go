package params

import (
	"testing"
	"time"
)

func BenchmarkRender(b *testing.B) {
	tmpl, err := Compile([]byte(`{"day":"{{ date \"2006-01-02\" (addDays -1 .ScheduledAt) }}","n":1}`))
	if err != nil {
		b.Fatal(err)
	}
	v := Values{Task: "report", ScheduledAt: time.Date(2026, 3, 1, 10, 0, 0, 0, time.UTC)}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := tmpl.Render(v); err != nil {
			b.Fatal(err)
		}
	}
}
