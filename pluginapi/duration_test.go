package pluginapi

import (
	"encoding/json"
	"strings"
	"testing"
	"time"
)

func TestParseDuration(t *testing.T) {
	t.Parallel()
	const day = 24 * time.Hour
	tests := map[string]struct {
		want time.Duration
		text string // as String writes it
	}{
		"90s":         {90 * time.Second, "1m30s"},
		"5m":          {5 * time.Minute, "5m"},
		"1d":          {day, "1d"},
		"1h30m":       {90 * time.Minute, "1h30m"},
		"1.5d":        {36 * time.Hour, "1d12h"},
		"2w":          {14 * day, "2w"},
		"0s":          {0, "0s"},
		"250ms":       {250 * time.Millisecond, "250ms"},
		"0.5ms":       {500 * time.Microsecond, "0s"},
		" 10s ":       {10 * time.Second, "10s"},
		"1m1m":        {2 * time.Minute, "2m"},
		"106751d":     {106751 * day, "15250w1d"},
		"1d2h3m4s5ms": {day + 2*time.Hour + 3*time.Minute + 4*time.Second + 5*time.Millisecond, "1d2h3m4s5ms"},
	}
	for text, test := range tests {
		got, err := ParseDuration(text)
		if err != nil || got.Std() != test.want {
			t.Errorf("%q: %v, %v, want %v", text, got.Std(), err, test.want)
		}
		if got.String() != test.text {
			t.Errorf("%q is written %q, want %q", text, got, test.text)
		}
	}
}

func TestParseDurationRefuses(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                      "empty duration",
		"90":                    "no unit",
		"1h30":                  "no unit",
		"-5m":                   "negative",
		"5 m":                   "unknown unit",
		"5x":                    "unknown unit",
		"5min":                  `unknown unit "min"`,
		"m":                     "malformed number",
		".5s":                   "malformed number",
		"1.s":                   "malformed number",
		"1.2.3s":                "malformed number",
		"300y":                  "unknown unit",
		"106752d":               "292 years",
		"9e9d":                  "unknown unit",
		"+5s":                   "unknown unit",
		"1d106751d":             "292 years",
		"99999999999999999999s": "292 years",
	} {
		if got, err := ParseDuration(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, %v, want %q", text, got, err, want)
		}
	}
}

func TestDurationInJSON(t *testing.T) {
	t.Parallel()
	var got struct{ D Duration }
	if err := json.Unmarshal([]byte(`{"D":"2h"}`), &got); err != nil || got.D.Std() != 2*time.Hour {
		t.Errorf("%v, %v", got, err)
	}
	if raw, err := json.Marshal(got); err != nil || string(raw) != `{"D":"2h"}` {
		t.Errorf("%s, %v", raw, err)
	}
	for _, raw := range []string{`{"D":90}`, `{"D":true}`, `{"D":null}`, `{"D":["1s"]}`} {
		err := json.Unmarshal([]byte(raw), &got)
		if err == nil || !strings.Contains(err.Error(), durationUnits) {
			t.Errorf("%s: %v, want the units named", raw, err)
		}
	}
}

func FuzzParseDuration(f *testing.F) {
	for _, seed := range []string{"1h30m", "1.5d", "-1s", "99999999w", "1.999999999s"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		d, err := ParseDuration(text)
		if err != nil {
			return
		}
		again, err := ParseDuration(d.String())
		if d < 0 || err != nil || again != Duration(d.Std().Truncate(time.Millisecond)) {
			t.Errorf("%q is %d, written %q, read again as %d, %v", text, d, d, again, err)
		}
	})
}
