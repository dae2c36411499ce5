package serve

import (
	"math"

	"golang.org/x/sys/unix"
)

// keepFiles keeps the files that the host handed down, the lifeline and the
// program itself, from being handed further down to what jobs start. Files that
// Go opens are safe anyway.
func keepFiles() {
	const firstAfterStderr = 3
	// Kernels before 5.11 lack this; what jobs start there sees a file too many.
	_ = unix.CloseRange(firstAfterStderr, math.MaxInt32, unix.CLOSE_RANGE_CLOEXEC)
}
