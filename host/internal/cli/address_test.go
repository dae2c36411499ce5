package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"testing"
)

// TestHostAddress: the order in which a host is looked for is the one that the
// help tells.
func TestHostAddress(t *testing.T) {
	t.Parallel()
	named := map[string]string{"flag.yaml": "h:2", "env.yaml": "h:4"}
	all := map[string]string{"flag.yaml": "h:2", "env.yaml": "h:4", "config.yaml": "h:5"}
	broken := map[string]string{"config.yaml": "broken"}
	for name, c := range map[string]struct {
		args  string
		env   map[string]string
		files map[string]string // what they say about http.listen
		want  string            // the address, or part of the error
		note  string            // part of what is written
	}{
		"--server":     {args: "--server h:1 -c flag.yaml", env: map[string]string{"AX_SERVER": "h:3", "AX_ADDR": "h:9"}, files: all, want: "h:1"},
		"AX_SERVER":    {env: map[string]string{"AX_SERVER": "h:3", "AX_ADDR": "h:9", "AX_CONFIG": "env.yaml"}, files: all, want: "h:3"},
		"--addr":       {args: "--addr h:1 -c flag.yaml", env: map[string]string{"AX_ADDR": "h:3", "AX_CONFIG": "env.yaml"}, files: all, want: "h:1"},
		"--config":     {args: "-c flag.yaml", env: map[string]string{"AX_ADDR": "h:3", "AX_CONFIG": "env.yaml"}, files: all, want: "h:2"},
		"AX_ADDR":      {env: map[string]string{"AX_ADDR": "h:3", "AX_CONFIG": "env.yaml"}, files: all, want: "h:3"},
		"AX_CONFIG":    {env: map[string]string{"AX_CONFIG": "env.yaml"}, files: all, want: "h:4"},
		"config.yaml":  {files: all, want: "h:5"},
		"nothing":      {files: named, want: defaultAddr},
		"broken":       {files: broken, want: defaultAddr, note: "config.yaml does not tell where the host is, asking http://127.0.0.1:8090: line 3 is broken"},
		"no API":       {args: "-c config.yaml", files: map[string]string{"config.yaml": ""}, want: "its host has no API"},
		"gone":         {args: "-c gone.yaml", files: all, want: "gone.yaml: file does not exist"},
		"gone too":     {env: map[string]string{"AX_CONFIG": "gone.yaml"}, files: all, want: "gone.yaml: file does not exist"},
		"named broken": {env: map[string]string{"AX_CONFIG": "config.yaml"}, files: broken, want: "line 3 is broken"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var errs bytes.Buffer
			d := testDeps("")
			d.Err = &errs
			d.Env = func(name string) string { return c.env[name] }
			d.Address = func(path string) (string, error) {
				listen, ok := c.files[path]
				switch {
				case !ok:
					return "", fmt.Errorf("read %s: %w", path, fs.ErrNotExist)
				case listen == "broken":
					return "", errors.New("line 3 is broken")
				}
				return listen, nil
			}
			p := &program{Deps: d}
			command, _, err := p.root().Find([]string{"health"})
			if err == nil {
				err = command.ParseFlags(strings.Fields(c.args))
			}
			if err != nil {
				t.Fatal(err)
			}
			to, err := p.target(command)
			got := to.address
			if err != nil {
				got = err.Error()
			}
			if got != c.want && (err == nil || !strings.Contains(got, c.want)) {
				t.Errorf("%q, want %q", got, c.want)
			}
			if !strings.Contains(errs.String(), c.note) || c.note == "" && errs.Len() > 0 {
				t.Errorf("it says %q, want %q", errs.String(), c.note)
			}
		})
	}
}
