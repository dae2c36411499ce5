package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/axsched/ax/pluginapi"
)

const (
	// ownPrefix begins the names of the variables that describe the run.
	ownPrefix   = "AX_"
	defaultPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
	// maxVariable bounds a variable made of parameters. Linux refuses to start
	// a program with a string of 128 KiB or more in its environment.
	maxVariable = 100 << 10
)

// environment makes the variables of a run; later ones win. The plugin's own
// environment is not passed on, except for what baseEnv names. skipped holds
// the names of variables that cannot be passed: too large, or with a NUL byte.
func environment(host lookup, who account, task map[string]string, run *pluginapi.Run) (env, skipped []string) {
	vars := baseEnv(host, who, run.ScheduledAt.Location())
	maps.Copy(vars, task)
	maps.Copy(vars, fireEnv(&run.Fire))
	for name, value := range paramEnv(run.Params) {
		if len(value) > maxVariable || strings.ContainsRune(value, 0) {
			skipped = append(skipped, name)
			continue
		}
		vars[name] = value
	}
	for _, name := range slices.Sorted(maps.Keys(vars)) {
		env = append(env, name+"="+vars[name])
	}
	slices.Sort(skipped)
	return env, skipped
}

// lookup reads a variable of the plugin's own environment.
type lookup func(name string) string

// baseEnv is the environment of every command, whatever the host was started
// with: PATH, LANG and TMPDIR of the plugin (with defaults), the account's
// HOME, USER and LOGNAME, and TZ, the task's time zone.
func baseEnv(host lookup, who account, zone *time.Location) map[string]string {
	vars := map[string]string{
		"PATH":    orElse(host("PATH"), defaultPath),
		"LANG":    orElse(host("LANG"), "C.UTF-8"),
		"SHELL":   shellPath,
		"HOME":    who.home,
		"USER":    who.name,
		"LOGNAME": who.name,
	}
	if dir := host("TMPDIR"); dir != "" {
		vars["TMPDIR"] = dir
	}
	if name := zone.String(); name != "Local" && name != "" {
		vars["TZ"] = name
	}
	return vars
}

func orElse(value, fallback string) string {
	if value == "" {
		return fallback
	}
	return value
}

// fireEnv tells the command which run it is.
func fireEnv(fire *pluginapi.Fire) map[string]string {
	env := map[string]string{
		"AX_TASK":         fire.Task,
		"AX_INSTANCE_ID":  fire.InstanceID,
		"AX_ATTEMPT":      strconv.Itoa(fire.Attempt),
		"AX_SCHEDULED_AT": fire.ScheduledAt.Format(time.RFC3339Nano),
		"AX_TRACE_ID":     fire.TraceID,
		"TRACEPARENT":     fire.TraceParent(),
		"AX_FENCE":        strconv.FormatInt(fire.Fence, 10),
		"AX_NODE":         fire.Node,
	}
	if fire.Shards > 0 {
		env["AX_SHARD"], env["AX_SHARDS"] = strconv.Itoa(fire.Shard), strconv.Itoa(fire.Shards)
	}
	return env
}

// paramEnv offers every scalar parameter as AX_PARAM_NAME and all of them as
// a JSON object in AX_PARAMS. If two names become the same variable, the one
// that sorts last wins.
func paramEnv(params map[string]any) map[string]string {
	vars := map[string]string{"AX_PARAMS": jsonText(params)}
	if params == nil {
		vars["AX_PARAMS"] = "{}"
	}
	for _, name := range slices.Sorted(maps.Keys(params)) {
		if text, ok := scalarText(params[name]); ok {
			vars["AX_PARAM_"+variableName(name)] = text
		}
	}
	return vars
}

func variableName(param string) string {
	return strings.Map(func(r rune) rune {
		if r > unicode.MaxASCII || !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			return '_'
		}
		return unicode.ToUpper(r)
	}, param)
}

// paramText writes a parameter for a command line: scalars as they are, lists
// and objects as JSON.
func paramText(value any) string {
	if text, ok := scalarText(value); ok {
		return text
	}
	return jsonText(value)
}

// scalarText writes numbers without exponent, and null as an empty text.
func scalarText(value any) (string, bool) {
	switch v := value.(type) {
	case nil:
		return "", true
	case string:
		return v, true
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64), true
	case bool, int, int64, uint64, json.Number:
		return fmt.Sprint(v), true
	}
	return "", false
}

func jsonText(value any) string {
	raw, err := json.Marshal(value)
	if err != nil { // not possible for what came out of JSON
		return fmt.Sprint(value)
	}
	return string(raw)
}
