package host

import (
	"os"
	"path/filepath"
	"testing"
)

func TestReadProcessors(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]struct {
		busy, total float64
		ok          bool
	}{
		"cpu  10 20 30 400 50 1 2 3 99 99\ncpu0 1 1 1 1 1\n": {66, 516, true},
		"cpu  10 20 30 400 50\n":                             {60, 510, true},
		"cpu  10 20 x 400 50\n":                              {},
		"intr 1 2 3 4 5 6\n":                                 {},
		"":                                                   {},
	} {
		path := filepath.Join(t.TempDir(), "stat")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if busy, total, ok := readProcessors(path); busy != want.busy || total != want.total || ok != want.ok {
			t.Errorf("%q: %v busy of %v, %v", text, busy, total, ok)
		}
	}
	if _, _, ok := readProcessors("/no/such/file"); ok {
		t.Error("a file that is not there tells something")
	}
}

func TestMachineLoad(t *testing.T) {
	t.Parallel()
	var m machine
	if cpu, memory := m.load(); cpu < 0 || cpu > 1 || memory < 1<<20 {
		t.Errorf("busy %v, memory %d", cpu, memory)
	}
}
