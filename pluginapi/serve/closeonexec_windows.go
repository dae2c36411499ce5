package serve

import "syscall"

func closeOnExec(fd uintptr) { syscall.CloseOnExec(syscall.Handle(fd)) }
