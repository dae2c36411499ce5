package host

import (
	"os"
	"strconv"
	"strings"
)

// machine tells how busy this machine is. It is not safe for concurrent use.
type machine struct{ busy, total float64 }

// load returns the share of the machine that was busy since the last call, 0 to 1,
// and the bytes of memory that this process uses; zero where the system does not
// say.
func (m *machine) load() (cpu float64, memory int64) {
	if busy, total, ok := readProcessors("/proc/stat"); ok {
		if span := total - m.total; span > 0 {
			cpu = min(max((busy-m.busy)/span, 0), 1)
		}
		m.busy, m.total = busy, total
	}
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return cpu, 0
	}
	if fields := strings.Fields(string(text)); len(fields) > 1 {
		pages, _ := strconv.ParseInt(fields[1], 10, 64)
		memory = pages * int64(os.Getpagesize())
	}
	return cpu, memory
}

// readProcessors sums up the first line of /proc/stat, which counts the time of
// all processors by what they did: user, nice, system, idle, waiting for a disk,
// and so on.
func readProcessors(path string) (busy, total float64, ok bool) {
	text, err := os.ReadFile(path)
	if err != nil {
		return 0, 0, false
	}
	line, _, _ := strings.Cut(string(text), "\n")
	fields := strings.Fields(line)
	if len(fields) < 6 || fields[0] != "cpu" {
		return 0, 0, false
	}
	const idle, disk, guest = 3, 4, 8 // guest is part of user already
	for i, field := range fields[1:min(len(fields), 1+guest)] {
		n, err := strconv.ParseFloat(field, 64)
		if err != nil {
			return 0, 0, false
		}
		total += n
		if i != idle && i != disk {
			busy += n
		}
	}
	return busy, total, true
}
