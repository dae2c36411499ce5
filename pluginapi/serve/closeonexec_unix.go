//go:build unix

package serve

import "syscall"

func closeOnExec(fd uintptr) { syscall.CloseOnExec(int(fd)) }
