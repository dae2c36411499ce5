package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/axsched/ax/pluginapi"
	"github.com/axsched/ax/plugins/internal/notice"
)

const (
	// resultMark begins a last line of output that holds the result's data.
	resultMark = "::ax-result "
	// maxMessage is the length of messages and of output in errors, in runes.
	maxMessage = 200
)

// report turns the end of a command into the outcome of the attempt.
func (j *job) report(run *pluginapi.Run, end *ending) (pluginapi.Result, error) {
	line := end.out.last
	data, marked, err := resultData(line)
	if marked {
		line = end.out.previous
	}
	if err != nil {
		run.Log.Warn("the last line of output is not taken as result", "error", err)
	}
	result := pluginapi.Result{Data: end.data()}
	maps.Copy(result.Data, data)
	line = notice.Cut(strings.TrimSpace(line), maxMessage)

	how, code := endText(end.state)
	switch {
	case end.stopped != nil:
		return result, fmt.Errorf("%w; the command ended with %s%s", end.stopped, how, suffix(line))
	case code < 0 || !slices.Contains(j.cfg.SuccessCodes, code):
		err := errors.New(how + suffix(line))
		if slices.Contains(j.cfg.NoRetryCodes, code) {
			err = pluginapi.Permanent(err)
		}
		return result, err
	}
	result.Message = orElse(line, fmt.Sprintf("exit %d", code))
	return result, nil
}

// data are the facts of an end; result lines may add to them.
func (e *ending) data() map[string]any {
	data := map[string]any{
		"exit_code":     e.state.ExitCode(),
		"duration_ms":   e.took.Milliseconds(),
		"output_bytes":  e.out.total,
		"dropped_bytes": e.out.dropped(),
	}
	if status, ok := e.state.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		const shellBase = 128 // how shells number the end by a signal
		data["exit_code"] = shellBase + int(status.Signal())
		data["signal"] = unix.SignalName(status.Signal())
	}
	return data
}

// endText says how a command ended. The code is negative if a signal ended it.
func endText(state *os.ProcessState) (how string, code int) {
	status, ok := state.Sys().(syscall.WaitStatus)
	if ok && status.Signaled() {
		return "signal " + unix.SignalName(status.Signal()), -1
	}
	return fmt.Sprintf("exit status %d", state.ExitCode()), state.ExitCode()
}

func suffix(line string) string {
	if line == "" {
		return ""
	}
	return ": " + line
}

// resultData reads a result line; marked says that line is one, good or bad.
func resultData(line string) (data map[string]any, marked bool, err error) {
	text, marked := strings.CutPrefix(line, resultMark)
	if !marked {
		return nil, false, nil
	}
	if err := json.Unmarshal([]byte(text), &data); err != nil {
		return nil, true, fmt.Errorf("read the JSON object after %q: %w", strings.TrimSpace(resultMark), err)
	}
	return data, true, nil
}
