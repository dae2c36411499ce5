package serve

import (
	"fmt"
	"io"
	"os"
	"strconv"

	"github.com/axsched/ax/pluginapi/wire"
)

// openLifeline opens the pipe by which a plugin notices that its host is gone,
// nil if the host gave none.
func openLifeline() (*os.File, error) {
	text := os.Getenv(wire.LifelineEnv)
	if text == "" {
		return nil, nil
	}
	fd, err := strconv.ParseUint(text, 10, 31)
	if err != nil {
		return nil, fmt.Errorf("%s=%q is not a file descriptor", wire.LifelineEnv, text)
	}
	closeOnExec(uintptr(fd)) // where keepFiles cannot do that
	return os.NewFile(uintptr(fd), "lifeline"), nil
}

// watch returns once the host is gone.
func watch(lifeline *os.File) {
	// Neither bytes nor an error other than the end of file are expected; a
	// pipe that cannot be read is as good as gone.
	_, _ = io.Copy(io.Discard, lifeline)
}
