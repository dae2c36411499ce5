package pluginhost

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"syscall"
)

// filePrefix begins the name of every plugin file.
const filePrefix = "ax-plugin-"

// fileName is ax-plugin-NAME with an optional version (_v1.2.3), an optional
// platform (_linux_amd64) and an optional .exe. Copies of editors, backups and
// temporary files do not match, and are therefore never run.
var fileName = regexp.MustCompile(`^ax-plugin-([a-z][a-z0-9]*(?:-[a-z0-9]+)*)` +
	`(?:_v([0-9]+\.[0-9]+\.[0-9]+(?:-[0-9A-Za-z.-]+)?))?` +
	`(?:_([a-z0-9]+_[a-z0-9]+))?(?:\.exe)?$`)

// fileLabel is what the name of a plugin file says.
type fileLabel struct {
	plugin  string
	version string // may be empty
}

// parseFileName reads the name of a file. The error says why it cannot be a
// plugin of this machine.
func parseFileName(name string) (fileLabel, error) {
	m := fileName.FindStringSubmatch(name)
	if m == nil {
		return fileLabel{}, fmt.Errorf("its name is not %sNAME[_vX.Y.Z][_os_arch]", filePrefix)
	}
	if here := runtime.GOOS + "_" + runtime.GOARCH; m[3] != "" && m[3] != here {
		return fileLabel{}, fmt.Errorf("it is for %s, this machine is %s", m[3], here)
	}
	return fileLabel{plugin: m[1], version: m[2]}, nil
}

// stamp tells whether a file changed without reading it.
type stamp struct {
	size         int64
	mtime, ctime int64 // nanoseconds since 1970
	inode        uint64
	mode         fs.FileMode
}

// openProgram opens the file at path and makes sure that it may be run: a
// regular file with an execute bit, owned by root or the host's user, and
// writable by its owner alone. The caller closes the file. Later reads and
// starts go through this one file, so nobody can put another one in between.
func openProgram(path string) (*os.File, stamp, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if errors.Is(err, syscall.ELOOP) {
		return nil, stamp{}, errors.New("it is a symbolic link; put the file itself here")
	}
	if err != nil {
		return nil, stamp{}, fmt.Errorf("open %s: %w", filepath.Base(path), err)
	}
	info, err := f.Stat()
	if err == nil {
		err = checkProgram(info)
	}
	if err != nil {
		f.Close()
		return nil, stamp{}, err
	}
	return f, stampOf(info), nil
}

func checkProgram(info fs.FileInfo) error {
	if !info.Mode().IsRegular() {
		return errors.New("it is not a regular file")
	}
	perm := info.Mode().Perm()
	if perm&0o111 == 0 {
		return fmt.Errorf("it is not executable (mode %04o); chmod 755 it", perm)
	}
	if perm&0o022 != 0 {
		return fmt.Errorf("others than its owner may write it (mode %04o); chmod 755 it", perm)
	}
	if uid := ownerOf(info); uid != 0 && uid != os.Geteuid() {
		return fmt.Errorf("it is owned by user %d, neither root nor the host's user %d; chown it to one of them", uid, os.Geteuid())
	}
	if info.Size() == 0 {
		return errors.New("it is empty")
	}
	return nil
}

// sumFile returns the SHA-256 of the whole file in hex. It does not move the
// file's offset.
func sumFile(f *os.File) (string, error) {
	info, err := f.Stat()
	if err != nil {
		return "", fmt.Errorf("read size of program: %w", err)
	}
	sum := sha256.New()
	if _, err := io.Copy(sum, io.NewSectionReader(f, 0, info.Size())); err != nil {
		return "", fmt.Errorf("read program: %w", err)
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}

// sameSum compares a checksum with one that a person wrote.
func sameSum(sum, wanted string) bool {
	return strings.EqualFold(sum, strings.TrimPrefix(strings.TrimSpace(wanted), "sha256:"))
}
