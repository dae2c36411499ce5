package pluginapi

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// Duration is a length of time in settings. It is written with units, such as
// "90s", "1h30m" or "1.5d", and is never negative. A day is 24 hours and a week
// is 7 days, whatever the clocks of a zone do.
type Duration time.Duration

// Units and pattern of a Duration as text; the pattern is what the JSON Schema
// of a settings field says.
const (
	durationUnits   = "ms, s, m, h, d or w"
	durationPattern = `^([0-9]+(\.[0-9]+)?(ms|s|m|h|d|w))+$`
)

// ParseDuration reads a Duration. The error says which units there are.
func ParseDuration(text string) (Duration, error) {
	rest := strings.TrimSpace(text)
	switch {
	case rest == "":
		return 0, fmt.Errorf("empty duration: want a number with a unit (%s)", durationUnits)
	case strings.HasPrefix(rest, "-"):
		return 0, fmt.Errorf("duration %q is negative", text)
	}
	var sum time.Duration
	for rest != "" {
		part, after, err := leadingDuration(rest)
		if err != nil {
			return 0, fmt.Errorf("duration %q: %w", text, err)
		}
		if sum > math.MaxInt64-part {
			return 0, fmt.Errorf("duration %q is longer than 292 years", text)
		}
		sum, rest = sum+part, after
	}
	return Duration(sum), nil
}

// leadingDuration reads one number with its unit from the start of text.
func leadingDuration(text string) (part time.Duration, rest string, err error) {
	end := strings.IndexFunc(text, func(r rune) bool { return r != '.' && (r < '0' || r > '9') })
	if end < 0 {
		return 0, "", fmt.Errorf("%q has no unit: want %s, as in %q", text, durationUnits, text+"s")
	}
	number, rest := text[:end], text[end:]
	end = strings.IndexFunc(rest, func(r rune) bool { return r < 'a' || r > 'z' })
	if end < 0 {
		end = len(rest)
	}
	unit, ok := unitLength(rest[:end])
	if !ok {
		return 0, "", fmt.Errorf("unknown unit %q: want %s", rest[:end], durationUnits)
	}
	part, err = scale(number, unit)
	return part, rest[end:], err
}

func unitLength(unit string) (time.Duration, bool) {
	const day = 24 * time.Hour
	switch unit {
	case "ms":
		return time.Millisecond, true
	case "s":
		return time.Second, true
	case "m":
		return time.Minute, true
	case "h":
		return time.Hour, true
	case "d":
		return day, true
	case "w":
		return 7 * day, true
	}
	return 0, false
}

// scale multiplies a decimal number by a unit; whole numbers stay exact.
func scale(number string, unit time.Duration) (time.Duration, error) {
	whole, fraction, dotted := strings.Cut(number, ".")
	if whole == "" || dotted && fraction == "" {
		return 0, fmt.Errorf("malformed number %q", number)
	}
	n, err := strconv.ParseInt(whole, 10, 64)
	if err != nil || n > math.MaxInt64/int64(unit) {
		return 0, errors.New("longer than 292 years")
	}
	length := time.Duration(n) * unit
	if !dotted {
		return length, nil
	}
	f, err := strconv.ParseFloat("0."+fraction, 64)
	if err != nil {
		return 0, fmt.Errorf("malformed number %q", number)
	}
	part := time.Duration(math.Round(f * float64(unit)))
	if length > math.MaxInt64-part {
		return 0, errors.New("longer than 292 years")
	}
	return length + part, nil
}

// Std returns d as the type of package time.
func (d Duration) Std() time.Duration { return time.Duration(d) }

// String writes d with the largest units that hold it exactly, as in "1d12h".
func (d Duration) String() string {
	if d <= 0 {
		return "0s"
	}
	var b strings.Builder
	for _, unit := range []string{"w", "d", "h", "m", "s", "ms"} {
		length, _ := unitLength(unit)
		if n := time.Duration(d) / length; n > 0 {
			fmt.Fprintf(&b, "%d%s", n, unit)
			d -= Duration(n * length)
		}
	}
	if b.Len() == 0 {
		return "0s" // below a millisecond
	}
	return b.String()
}

// MarshalText implements encoding.TextMarshaler.
func (d Duration) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (d *Duration) UnmarshalText(text []byte) error {
	parsed, err := ParseDuration(string(text))
	if err != nil {
		return err
	}
	*d = parsed
	return nil
}

// UnmarshalJSON implements json.Unmarshaler, to explain why a bare number is
// refused.
func (d *Duration) UnmarshalJSON(raw []byte) error {
	text, err := strconv.Unquote(string(raw))
	if err != nil {
		return fmt.Errorf("duration %s is not a string with a unit (%s)", raw, durationUnits)
	}
	return d.UnmarshalText([]byte(text))
}
