// Command exec is the plugin of jobs that run a program or a shell script.
package main

import (
	"math"
	"os"

	"golang.org/x/sys/unix"

	"github.com/axsched/ax/pluginapi"
	"github.com/axsched/ax/pluginapi/serve"
)

func main() {
	if len(os.Args) == 2 && os.Args[1] == guardFlag {
		runGuard(os.Stdin)
		return
	}
	keepFiles()
	r := &runner{host: os.Getenv, guard: &guard{}}
	serve.Main(
		pluginapi.Info{Name: "exec", Version: "0.1.0", Description: "Runs programs and shell scripts."},
		pluginapi.JobOf("exec", "Runs a program or a shell script in a process group of its own.", r.newExec),
	)
}

// keepFiles keeps the files that the host handed down, such as pipes, from
// being handed further down to commands. Files opened here are safe anyway.
func keepFiles() {
	const firstAfterStderr = 3
	// Kernels before 5.11 lack this; commands there see some files too many.
	_ = unix.CloseRange(firstAfterStderr, math.MaxInt32, unix.CLOSE_RANGE_CLOEXEC)
}
