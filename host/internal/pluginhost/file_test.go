package pluginhost

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
)

func TestParseFileName(t *testing.T) {
	t.Parallel()
	here := runtime.GOOS + "_" + runtime.GOARCH
	good := map[string]fileLabel{
		"ax-plugin-exec":                            {plugin: "exec"},
		"ax-plugin-last-week-day2":                  {plugin: "last-week-day2"},
		"ax-plugin-exec.exe":                        {plugin: "exec"},
		"ax-plugin-exec_v1.2.3":                     {plugin: "exec", version: "1.2.3"},
		"ax-plugin-exec_v1.2.3-rc.1_" + here:        {plugin: "exec", version: "1.2.3-rc.1"},
		"ax-plugin-exec_v10.20.30_" + here + ".exe": {plugin: "exec", version: "10.20.30"},
		"ax-plugin-exec_" + here:                    {plugin: "exec"},
		"ax-plugin-exec_v1.2.3-SNAPSHOT_" + here:    {plugin: "exec", version: "1.2.3-SNAPSHOT"},
	}
	for name, want := range good {
		if got, err := parseFileName(name); err != nil || got != want {
			t.Errorf("parseFileName(%q) = %+v, %v, want %+v", name, got, err, want)
		}
	}
	for _, name := range []string{
		"README.md", "exec", "ax-plugin-", "ax-plugin-exec.bak", "ax-plugin-exec~", ".ax-plugin-exec.swp",
		"ax-plugin-exec.tmp", "ax-plugin-Exec", "ax-plugin-exec-", "ax-plugin--exec", "ax-plugin-exec.1",
		"ax-plugin-exec (copy)", "ax-plugin-exec_v1.2", ".DS_Store", "#ax-plugin-exec#", "ax-plugin-exec.part",
		"ax-plugin-exec_plan9_sparc", "ax-plugin-exec\n", "xax-plugin-exec",
	} {
		if got, err := parseFileName(name); err == nil {
			t.Errorf("parseFileName(%q) = %+v, want an error", name, got)
		}
	}
}

func TestOpenProgramRefuses(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write := func(name string, mode os.FileMode, content string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(path, mode); err != nil { // past the umask
			t.Fatal(err)
		}
		return path
	}
	good := write("good", 0o755, "#!/bin/sh\n")
	link := filepath.Join(dir, "link")
	if err := os.Symlink(good, link); err != nil {
		t.Fatal(err)
	}
	pipe := filepath.Join(dir, "pipe")
	if err := syscall.Mkfifo(pipe, 0o755); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		write("text", 0o644, "hello"):        "not executable",
		write("group", 0o775, "#!/bin/sh\n"): "others than its owner may write",
		write("world", 0o757, "#!/bin/sh\n"): "others than its owner may write",
		write("empty", 0o755, ""):            "empty",
		link:                                 "symbolic link",
		pipe:                                 "not a regular file",
		dir:                                  "not a regular file",
		filepath.Join(dir, "nothing"):        "no such file",
	} {
		if f, _, err := openProgram(path); err == nil {
			f.Close()
			t.Errorf("openProgram(%s) succeeded, want %q", path, want)
		} else if !strings.Contains(err.Error(), want) {
			t.Errorf("openProgram(%s) = %v, want %q", path, err, want)
		}
	}
	f, mark, err := openProgram(good)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if mark.size != 10 || mark.inode == 0 || mark.ctime == 0 {
		t.Errorf("stamp = %+v, want size, inode and ctime", mark)
	}
	sum, err := sumFile(f)
	if err != nil {
		t.Fatal(err)
	}
	if !sameSum(sum, "sha256:"+strings.ToUpper(sum)) {
		t.Errorf("sameSum does not accept the sum %s in capitals with its prefix", sum)
	}
}

func TestOpenProgramRefusesStrangersFile(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("needs root to give a file away")
	}
	path := filepath.Join(t.TempDir(), "stranger")
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Chown(path, 12345, 12345); err != nil {
		t.Fatal(err)
	}
	if _, _, err := openProgram(path); err == nil || !strings.Contains(err.Error(), "owned by user 12345") {
		t.Errorf("openProgram of a stranger's file = %v, want a refusal", err)
	}
}
