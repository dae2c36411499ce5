package spelling

import "testing"

func TestNearest(t *testing.T) {
	t.Parallel()
	known := []string{"timeout", "timezone", "on", "exec", "hello/exec"}
	for word, want := range map[string]string{
		"timeuot":   "timeout",  // two letters swapped
		"Timezone":  "timezone", // another case
		"tmezone":   "timezone",
		"exce":      "exec",
		"helo/exec": "hello/exec",
		"no":        "on",
		"xy":        "", // as far from "on" as that is long
		"calendar":  "",
		"":          "",
		"zéitzone":  "timezone",
	} {
		if got := Nearest(word, known); got != want {
			t.Errorf("%q: %q, want %q", word, got, want)
		}
	}
	if got := Nearest("exec", nil); got != "" {
		t.Errorf("of no words: %q", got)
	}
}
