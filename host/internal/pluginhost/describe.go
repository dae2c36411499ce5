package pluginhost

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"syscall"

	"github.com/axsched/ax/pluginapi"
	"github.com/axsched/ax/pluginapi/wire"
)

// maxManifest bounds what a program may print when it is described.
const maxManifest = 4 << 20

// describer asks programs what they offer without letting them serve.
type describer struct {
	spawner *spawner
	limits  limits
	owner   string // value of ownerEnv
}

// describe runs the program with wire.DescribeFlag and reads its manifest.
// The program gets the base environment, no settings and little time.
func (d *describer) describe(ctx context.Context, path string, program *os.File) (wire.Manifest, error) {
	var stdout, stderr bytes.Buffer
	var tooLong bool
	ctx, cancel := context.WithTimeout(ctx, d.limits.describe)
	defer cancel()
	c, err := d.spawner.start(launch{
		path: path, program: program, args: []string{wire.DescribeFlag},
		env: append(Policy{}.environ(), ownerEnv+"="+d.owner),
		onStdout: func(line []byte, cut bool) {
			if tooLong = tooLong || cut || stdout.Len()+len(line) > maxManifest; !tooLong {
				stdout.Write(append(line, '\n'))
			}
		},
		onStderr: func(line []byte, _ bool) {
			if stderr.Len() < tailLineSize {
				stderr.WriteString(printable(line[:min(len(line), tailLineSize)]) + "\n")
			}
		},
		bytesPerSec: maxManifest,
	})
	if err != nil {
		return wire.Manifest{}, err
	}
	select {
	case <-c.exited:
	case <-ctx.Done():
		c.signalGroup(syscall.SIGKILL)
		<-c.exited
		return wire.Manifest{}, fmt.Errorf("describe: no answer to %s within %v", wire.DescribeFlag, d.limits.describe)
	}
	if !c.cmd.ProcessState.Success() {
		return wire.Manifest{}, fmt.Errorf("describe: it %s on %s: %s",
			c.status(), wire.DescribeFlag, bytes.TrimSpace(stderr.Bytes()))
	}
	if tooLong {
		return wire.Manifest{}, fmt.Errorf("describe: it printed more than %d bytes", maxManifest)
	}
	m, err := wire.ParseManifest(stdout.Bytes())
	if err != nil {
		return wire.Manifest{}, fmt.Errorf("describe: %w; it printed %q", err, stdout.Bytes()[:min(stdout.Len(), 200)])
	}
	return boundManifest(m, checkManifest(m))
}

// checkManifest reports what is wrong with a manifest, all at once.
func checkManifest(m wire.Manifest) error {
	errs := []error{(pluginapi.Info{Name: m.Name, Version: m.Version}).Check()}
	if m.Protocol < 1 {
		errs = append(errs, fmt.Errorf("it speaks protocol %d, this host speaks %d: build it against a newer pluginapi",
			m.Protocol, wire.ProtocolVersion))
	}
	known := 0
	seen := make(map[string]bool)
	for _, c := range m.Components {
		full := string(c.Kind) + " " + c.Name
		if !slices.Contains(pluginapi.Kinds(), c.Kind) {
			continue // for a newer host
		}
		known++
		if (pluginapi.Info{Name: c.Name, Version: "0.0.0"}).Check() != nil {
			errs = append(errs, fmt.Errorf("component %q: the name is not lower case letters, digits and dashes", c.Name))
		}
		if seen[full] {
			errs = append(errs, fmt.Errorf("it offers the %s twice", full))
		}
		seen[full] = true
	}
	if known == 0 {
		errs = append(errs, errors.New("it offers no component that this host knows"))
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("check manifest: %w", err)
	}
	return nil
}

// checkLabel reports a manifest that contradicts the name of its file.
func checkLabel(label fileLabel, m wire.Manifest) error {
	switch {
	case m.Name != label.plugin:
		return fmt.Errorf("it calls itself %q, its file is named for %q", m.Name, label.plugin)
	case label.version != "" && m.Version != label.version:
		return fmt.Errorf("it calls itself version %s, its file is named for %s", m.Version, label.version)
	}
	return nil
}
