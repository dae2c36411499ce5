package config

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// manyTasks is a configuration of n tasks as people write them.
func manyTasks(n int) string {
	var b strings.Builder
	b.WriteString("app: many\nnotifiers:\n  ops: {use: webhook, with: {url: https://ops.example/hook}}\ntasks:\n")
	for i := range n {
		fmt.Fprintf(&b, `  - name: report-%d
    description: Report of branch %d
    cron: "0 %d 10 ? * MON-FRI"
    timezone: Asia/Shanghai
    job:
      use: exec
      with:
        command: [/usr/local/bin/report, --branch, "%d"]
        env: {LANG: C.UTF-8}
    params:
      date: '{{ date "2006-01-02" (addDays -1 .ScheduledAt) }}'
    timeout: 5m
    retry: {count: 2, delays: [1m, 5m]}
    notify: {to: [ops], on: [failed, timeout], after: 1}
`, i, i, i%60, i)
	}
	return b.String()
}

func BenchmarkLoad10000Tasks(b *testing.B) {
	path := filepath.Join(b.TempDir(), "config.yaml")
	if err := os.WriteFile(path, []byte(manyTasks(10_000)), 0o600); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		c, err := Load(path, Options{Now: time.Now()})
		if err != nil {
			b.Fatal(err)
		}
		if len(c.Tasks) != 10_000 {
			b.Fatalf("%d tasks", len(c.Tasks))
		}
	}
}
