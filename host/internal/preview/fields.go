package preview

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/axsched/ax/host/internal/ax"
	"github.com/axsched/ax/pluginapi"
)

// Field is a key of a task that differs.
type Field struct {
	// Field is the key as the configuration has it, with dots for keys within.
	Field string `json:"field"`
	// Before and After are the values in words. Settings and parameters are
	// shown nowhere, so both are empty for them.
	Before string `json:"before,omitempty"`
	After  string `json:"after,omitempty"`
}

// hidden are keys whose values may hold secrets.
func hidden(key string) bool {
	return key == "params" || key == "with" || strings.HasSuffix(key, ".with")
}

// changedFields returns the keys in which two definitions differ, in order. Where
// a task comes from, and the version of its schedule, are no keys.
func changedFields(before, after *ax.Task) []Field {
	old, new := describe(before), describe(after)
	all := maps.Clone(old)
	maps.Copy(all, new)
	var fields []Field
	for _, key := range slices.Sorted(maps.Keys(all)) {
		switch {
		case old[key] == new[key]:
		case hidden(key):
			fields = append(fields, Field{Field: key})
		default:
			fields = append(fields, Field{Field: key, Before: old[key], After: new[key]})
		}
	}
	return fields
}

// describe returns the values of a task in words, by the keys that the
// configuration has for them. It goes by the JSON form, so that no key is
// forgotten, and corrects what has other words there.
func describe(t *ax.Task) map[string]string {
	words := map[string]string{}
	var tree map[string]any
	encoded, err := json.Marshal(t)
	if err == nil {
		decoder := json.NewDecoder(bytes.NewReader(encoded))
		decoder.UseNumber()
		err = decoder.Decode(&tree)
	}
	if err != nil {
		// Settings that are no JSON: their text is all that there is.
		return map[string]string{"with": fmt.Sprintf("%+v", *t)}
	}
	flatten(words, "", tree)
	for key, d := range map[string]time.Duration{
		"every": t.Schedule.Every, "delay": t.Schedule.Delay, "jitter": t.Schedule.Jitter, "timeout": t.Timeout, "grace": t.Grace,
		"retry.max": t.Retry.Max, "misfire.threshold": t.Misfire.Threshold, "misfire.window": t.Misfire.Window,
	} {
		if delete(words, key); d != 0 {
			words[key] = pluginapi.Duration(d).String()
		}
	}
	var delays, blackouts []string
	for _, d := range t.Retry.Delays {
		delays = append(delays, pluginapi.Duration(d).String())
	}
	for _, b := range t.Schedule.Blackouts {
		blackouts = append(blackouts, b.String())
	}
	words["retry.delays"], words["blackout"] = strings.Join(delays, ", "), strings.Join(blackouts, "; ")
	delete(words, "version")
	delete(words, "source")
	return words
}

// flatten adds the leaves of a JSON object.
func flatten(words map[string]string, prefix string, tree map[string]any) {
	for key, value := range tree {
		key = prefix + strings.ToLower(key)
		switch {
		case key == "schedule": // its keys are those of the task
			flatten(words, "", value.(map[string]any))
			continue
		case strings.HasSuffix(key, ".use"):
			key = strings.TrimSuffix(key, ".use")
		case hidden(key):
			text, _ := json.Marshal(value) // it was JSON before
			words[key] = string(text)
			continue
		}
		switch value := value.(type) {
		case map[string]any:
			flatten(words, key+".", value)
		case []any:
			var list []string
			for _, item := range value {
				list = append(list, fmt.Sprint(item))
			}
			words[key] = strings.Join(list, ", ")
		case nil:
		default:
			words[key] = fmt.Sprint(value)
		}
	}
}
