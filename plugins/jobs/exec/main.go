// Command exec is the plugin of jobs that run a program or a shell script.
//
// # Environment
//
// A command does not see the environment of the host, whose secrets are none of
// its business, but always
//
//	PATH, LANG, TMPDIR   those of the plugin; else a usual PATH, C.UTF-8, unset
//	HOME, USER, LOGNAME  of the user that it runs as
//	SHELL, TZ            /bin/sh, and the task's time zone
//	AX_TASK, AX_INSTANCE_ID, AX_ATTEMPT, AX_SCHEDULED_AT, AX_FENCE, AX_NODE
//	AX_SHARD, AX_SHARDS  which part of the work it is, from 0, of how many (strategy: broadcast)
//	AX_TRACE_ID, TRACEPARENT  the run's trace, and its attempt's span as W3C Trace Context
//	AX_PARAM_NAME        every parameter that is text, a number, a truth value or null
//	AX_PARAMS            all parameters as a JSON object
//
// with the task's own variables laid over the first three lines. AX_SCHEDULED_AT
// is RFC 3339 in the task's zone. In AX_PARAM_NAME the name is in capitals, with
// _ for everything but ASCII letters and digits. Parameters over 100 KiB are not
// passed, which the run's log tells.
//
// In the arguments of command, ${params.NAME} is replaced by a parameter. In
// shell it is not, since the shell would run whatever the parameter says; there
// "$AX_PARAM_NAME" is safe.
//
// # Processes
//
// A command leads a process group of its own, and nothing of that group outlives
// the run: not its background processes, not at a timeout, not if the plugin or
// the host is killed (see guard). Only a process that starts a session of its
// own escapes.
//
// # Output
//
// Both output streams share a pipe, so their lines keep their order; standard
// input is empty. Bytes that are no UTF-8 are replaced, lines are cut at 16 KiB.
// The last line with something in it becomes the run's message or part of its
// error. A last line such as
//
//	::ax-result {"rows": 1204}
//
// adds to the result's data, which always hold exit_code, duration_ms,
// output_bytes and dropped_bytes.
package main

import (
	"os"

	"github.com/axsched/ax/pluginapi"
	"github.com/axsched/ax/pluginapi/serve"
)

func main() {
	if len(os.Args) == 2 && os.Args[1] == guardFlag {
		runGuard(os.Stdin)
		return
	}
	r := &runner{host: os.Getenv, guard: &guard{}}
	serve.Main(
		pluginapi.Info{Name: "exec", Version: "0.1.0", Description: "Runs programs and shell scripts."},
		pluginapi.JobOf("exec", "Runs a program or a shell script in a process group of its own.", r.newExec),
	)
}
