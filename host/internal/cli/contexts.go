package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"gopkg.in/yaml.v3"
)

// contexts is a file with hosts that somebody talks to.
type contexts struct {
	// Current is the one in use, empty for none.
	Current  string               `yaml:"current,omitempty"`
	Contexts map[string]hostEntry `yaml:"contexts,omitempty"`
}

// hostEntry is one of them.
type hostEntry struct {
	Server string `yaml:"server"`
	// Token stands in the file itself, or in another one.
	Token     string `yaml:"token,omitempty"`
	TokenFile string `yaml:"token_file,omitempty"`
	CA        string `yaml:"ca,omitempty"`
}

// contextsPath is where the file is: AX_CONTEXTS, or below the folder for settings
// of the user.
func (p *program) contextsPath() string {
	if path := p.Env("AX_CONTEXTS"); path != "" {
		return path
	}
	dir := p.Env("XDG_CONFIG_HOME")
	if dir == "" {
		home := p.Env("HOME")
		if home == "" {
			return ""
		}
		dir = filepath.Join(home, ".config")
	}
	return filepath.Join(dir, "ax", "contexts.yaml")
}

// readContexts reads the file; one that is not there has no contexts.
func (p *program) readContexts() (contexts, error) {
	var c contexts
	path := p.contextsPath()
	text, err := os.ReadFile(path)
	if path == "" || errors.Is(err, fs.ErrNotExist) {
		return c, nil
	}
	if err != nil {
		return c, fmt.Errorf("read the contexts: %w", err)
	}
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	decoder.KnownFields(true)
	if err := decoder.Decode(&c); err != nil {
		return c, fmt.Errorf("read the contexts in %s: %w", path, err)
	}
	info, err := os.Stat(path)
	if err == nil && info.Mode().Perm()&0o077 != 0 && strings.Contains(string(text), "token:") {
		return c, fmt.Errorf("others can read the tokens in %s: chmod 600 %s", path, path)
	}
	return c, nil
}

// writeContexts replaces the file, so that only its owner can read it.
func (p *program) writeContexts(c contexts) error {
	path := p.contextsPath()
	if path == "" {
		return errors.New("HOME is not set, so there is no place for contexts: set AX_CONTEXTS to a file")
	}
	text, err := yaml.Marshal(c)
	if err != nil {
		return fmt.Errorf("encode the contexts: %w", err)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return fmt.Errorf("make the folder of contexts: %w", err)
	}
	next := path + ".new"
	if err := os.WriteFile(next, text, 0o600); err != nil {
		return fmt.Errorf("write the contexts: %w", err)
	}
	if err := os.Rename(next, path); err != nil {
		return fmt.Errorf("write the contexts: %w", err)
	}
	return nil
}

// contextNamed returns the host of a context; without a name that of the one in use,
// or nothing if there is none.
func (p *program) contextNamed(name string) (target, error) {
	c, err := p.readContexts()
	if err != nil {
		return target{}, usage(err)
	}
	if name == "" {
		if name = c.Current; name == "" {
			return target{}, nil
		}
	}
	entry, known := c.Contexts[name]
	if !known {
		return target{}, usage(fmt.Errorf("there is no context %q: \"ax context\" lists those that are there", name))
	}
	to := target{address: entry.Server, token: entry.Token, ca: entry.CA}
	if entry.TokenFile != "" {
		text, err := os.ReadFile(entry.TokenFile)
		if err != nil {
			return to, usage(fmt.Errorf("read the token of the context %s: %w", name, err))
		}
		to.token = strings.TrimSpace(string(text))
	}
	return to, nil
}
