package pluginhost

import (
	"debug/elf"
	"errors"
	"fmt"
	"os"
	"runtime"
	"syscall"
)

// machines are the ELF names of the platforms that Go calls by other names.
var machines = map[string]elf.Machine{
	"amd64": elf.EM_X86_64, "386": elf.EM_386, "arm64": elf.EM_AARCH64, "arm": elf.EM_ARM,
	"riscv64": elf.EM_RISCV, "ppc64le": elf.EM_PPC64, "s390x": elf.EM_S390, "loong64": elf.EM_LOONGARCH,
}

// explainExec adds to the error of a start what the system does not say.
func explainExec(program *os.File, err error) error {
	switch {
	case errors.Is(err, syscall.ENOEXEC):
		return fmt.Errorf("%w: %s", err, programForm(program))
	case errors.Is(err, syscall.ENOENT):
		return fmt.Errorf("%w: its interpreter or C library loader is missing on this machine", err)
	case errors.Is(err, syscall.EACCES):
		return fmt.Errorf("%w: is the directory mounted noexec, or its interpreter not executable?", err)
	}
	return err
}

// programForm says what an unusable program is.
func programForm(program *os.File) string {
	file, err := elf.NewFile(program)
	if err != nil {
		return "the file is neither a complete program nor a script that begins with #!"
	}
	if want, ok := machines[runtime.GOARCH]; ok && file.Machine != want {
		return fmt.Sprintf("the program is built for %s, this machine is %s", file.Machine, want)
	}
	return "the program is damaged or incomplete"
}
