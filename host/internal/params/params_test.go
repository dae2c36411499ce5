package params

import (
	"strings"
	"testing"
	"time"
)

func values(t *testing.T, at, zone string) Values {
	t.Helper()
	loc, err := time.LoadLocation(zone)
	if err != nil {
		t.Fatal(err)
	}
	due, err := time.ParseInLocation("2006-01-02 15:04:05", at, loc)
	if err != nil {
		t.Fatal(err)
	}
	return Values{App: "shop", Task: "report", InstanceID: "42", Kind: "scheduled", ScheduledAt: due}
}

func TestRender(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, raw, want string }{
		{"none", ``, ``},
		{"null", `null`, ``},
		{"plain is kept as it is", `{"n":12345678901234567890,"s":"x"}`, `{"n":12345678901234567890,"s":"x"}`},
		{"yesterday", `{"d":"{{ date \"2006-01-02\" (addDays -1 .ScheduledAt) }}"}`, `{"d":"2026-02-28"}`},
		{"pipe", `{"d":"{{ .ScheduledAt | addDays -1 | date \"20060102\" }}"}`, `{"d":"20260228"}`},
		{"nested", `{"a":[1,{"b":"{{.Task}}-{{.Kind}}"}],"c":true}`, `{"a":[1,{"b":"report-scheduled"}],"c":true}`},
		{"month", `{"m":"{{ .ScheduledAt | addMonths -1 | startOfMonth | date \"2006-01-02T15:04\" }}"}`, `{"m":"2026-02-01T00:00"}`},
		{"month end", `{"m":"{{ .ScheduledAt | addMonths -1 | endOfMonth | date \"01-02\" }}"}`, `{"m":"02-28"}`},
		{"zone", `{"z":"{{ .ScheduledAt | in \"UTC\" | date \"02 15:04\" }}"}`, `{"z":"28 23:30"}`},
		{"unix", `{"u":"{{ unix .ScheduledAt }}"}`, `{"u":"1772321400"}`},
	}
	v := values(t, "2026-03-01 07:30:00", "Asia/Shanghai")
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			tmpl, err := Compile([]byte(tt.raw))
			if err != nil {
				t.Fatal(err)
			}
			got, err := tmpl.Render(v)
			if err != nil {
				t.Fatal(err)
			}
			if string(got) != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
}

func TestAddMonthsKeepsToTheMonth(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		from string
		n    int
		want string
	}{{"2026-03-31", -1, "2026-02-28"}, {"2028-03-31", -1, "2028-02-29"}, {"2026-01-31", 1, "2026-02-28"}, {"2026-01-15", -13, "2024-12-15"}} {
		at, _ := time.Parse(time.DateOnly, tt.from)
		if got := addMonths(tt.n, at).Format(time.DateOnly); got != tt.want {
			t.Errorf("addMonths(%d, %s) = %s, want %s", tt.n, tt.from, got, tt.want)
		}
	}
}

func TestErrorsNameTheParameter(t *testing.T) {
	t.Parallel()
	if _, err := Compile([]byte(`{"a":{"b":["x","{{ nope }}"]}}`)); err == nil || !strings.Contains(err.Error(), "params.a.b[1]") {
		t.Errorf("got %v", err)
	}
	tmpl, err := Compile([]byte(`{"zone":"{{ .ScheduledAt | in \"Mars\" }}"}`))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tmpl.Render(values(t, "2026-03-01 07:30:00", "UTC")); err == nil || !strings.Contains(err.Error(), "params.zone") {
		t.Errorf("got %v", err)
	}
}

func TestRenderIsBounded(t *testing.T) {
	t.Parallel()
	tmpl, err := Compile([]byte(`{"x":"{{ printf \"%1000000d\" 1 }}"}`))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tmpl.Render(values(t, "2026-03-01 07:30:00", "UTC")); err == nil {
		t.Error("a megabyte was rendered")
	}
}

func TestMerge(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ base, over, want string }{
		{``, ``, ``}, {`{"a":1}`, ``, `{"a":1}`}, {``, `{"a":1}`, `{"a":1}`},
		{`{"a":1,"b":2}`, `{"b":3,"c":4}`, `{"a":1,"b":3,"c":4}`},
	} {
		got, err := Merge([]byte(tt.base), []byte(tt.over))
		if err != nil || string(got) != tt.want {
			t.Errorf("Merge(%s, %s) = %s, %v; want %s", tt.base, tt.over, got, err, tt.want)
		}
	}
}
