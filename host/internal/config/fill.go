package config

import (
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"unicode/utf8"

	"gopkg.in/yaml.v3"

	"github.com/axsched/ax/host/internal/spelling"
)

// reference matches ${env:NAME}, ${file:PATH}, ${secret:NAME} and the escape $${.
// The shell's own ${NAME} is no reference and stays as it is; words close to env and
// file are matched to be refused.
var reference = regexp.MustCompile(`\$\$\{|\$\{([a-zA-Z]+):([^}]*)\}`)

var envName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// filledStyle marks a scalar with a value from ${…}, which is never shown. It is
// a style of our own, far from those of package yaml.
const filledStyle yaml.Style = 1 << 30

func filled(n *yaml.Node) bool { return n.Style&filledStyle != 0 }

// fill replaces the references in a text. The values are noted as secrets.
func (d *decoder) fill(n *yaml.Node) {
	if n.Tag != "!!str" || !strings.Contains(n.Value, "${") {
		return
	}
	n.Value = reference.ReplaceAllStringFunc(n.Value, func(match string) string {
		if match == "$${" {
			return "${"
		}
		m := reference.FindStringSubmatch(match)
		value, err := "", error(nil)
		if d.bare && refersTo(m[1]) {
			err = errBare(match)
		} else {
			value, err = d.lookUp(m[1], m[2])
		}
		switch {
		case errors.Is(err, errNoReference):
			return match
		case err != nil:
			d.fault(n, "%v", err)
			n.Kind = 0
			return ""
		}
		n.Style |= filledStyle
		d.secret(value)
		return value
	})
}

// errNoReference says that ${…} is something of the shell.
var errNoReference = errors.New("no reference")

func (d *decoder) lookUp(source, name string) (string, error) {
	switch source {
	case "env":
		return d.lookUpEnv(name)
	case "file":
		return d.lookUpFile(name)
	case "secret":
		if d.bare || shellWord(name) {
			return "", errNoReference // a task that people make names its secrets
		}
		return "", fmt.Errorf("${secret:%s} is for tasks that are made over the API or in the console: write ${env:NAME} or ${file:PATH} here, or $${ for a ${ that is to stay", name)
	}
	if guess := spelling.Nearest(source, []string{"env", "file"}); guess != "" && !shellWord(name) {
		return "", fmt.Errorf("${%s:…} is not known, did you mean ${%s:…}? Write $${ for a ${ that is to stay", source, guess)
	}
	return "", errNoReference
}

// shellWord reports whether ${x:word} says something to a shell, such as ${x:-word}.
func shellWord(word string) bool { return strings.ContainsAny(word[:min(1, len(word))], "-=?+") }

func (d *decoder) lookUpEnv(name string) (string, error) {
	if !envName.MatchString(name) {
		return "", fmt.Errorf("${env:%s}: expected the name of an environment variable, such as ${env:OPS_URL}", name)
	}
	value, ok := d.options.Env(name)
	if !ok {
		return "", fmt.Errorf("the environment variable %s is not set", name)
	}
	if !utf8.ValidString(value) {
		return "", fmt.Errorf("the environment variable %s is not UTF-8", name)
	}
	return value, nil
}

// lookUpFile returns the content of a file without its last line end, which
// editors add.
func (d *decoder) lookUpFile(name string) (string, error) {
	if name == "" {
		return "", errors.New("${file:}: expected the path of a file, such as ${file:secrets/token}")
	}
	data, err := d.readFile(beside(d.path, name), maxSecretBytes)
	if err != nil {
		return "", fmt.Errorf("${file:%s}: %w", name, err)
	}
	if !utf8.Valid(data) {
		return "", fmt.Errorf("${file:%s}: the file is not UTF-8", name)
	}
	return strings.TrimSuffix(strings.TrimSuffix(string(data), "\n"), "\r"), nil
}

// beside resolves a path that is relative to the file that names it.
func beside(file, path string) string {
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(filepath.Dir(file), path)
}

// Secrets shorter than that would blot out half of every log.
const (
	minSecretBytes     = 4
	minSecretLineBytes = 8
)

// secret notes a value that must never be shown. Logs are written line by
// line, so the longer lines of a text count as well.
func (l *loader) secret(value string) {
	if len(value) >= minSecretBytes {
		l.secrets[value] = true
	}
	if !strings.Contains(value, "\n") {
		return
	}
	for line := range strings.Lines(value) {
		if line = strings.TrimSpace(line); len(line) >= minSecretLineBytes {
			l.secrets[line] = true
		}
	}
}
