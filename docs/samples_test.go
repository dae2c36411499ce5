package docs_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"go/parser"
	"go/token"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/axsched/ax/host"
)

// TestSamples looks at every block of every page: what language it is in says
// how.
func TestSamples(t *testing.T) {
	dir := world(t)
	t.Setenv("OPS_URL", "http://127.0.0.1:1/hook")
	t.Setenv("OPS_KEY", "sample")
	t.Setenv("AX_DB_PASSWORD", "sample")
	t.Setenv("SHOP_TOKEN", "sample")
	t.Setenv("FILES_KEY", "sample")
	t.Setenv("AX_CLUSTER_SECRET", "a secret of the samples")
	t.Setenv("BOB_HASH", "$2a$12$Thou1HHmCcXNmkSCEI71UuxHVOnaxq8togeh7o4XuxCvqbwENNggC")
	write(t, dir, "secrets/token", "sample")
	writeCertificate(t, dir)
	shell := shell{dir: dir, addr: startHost(t, write(t, dir, "config.example.yaml", exampleConfig(t)))}
	for _, page := range pages(t) {
		t.Run(filepath.Base(page), func(t *testing.T) {
			for _, b := range blocks(t, page) {
				t.Run(fmt.Sprintf("line %d %s", b.line, b.lang), func(t *testing.T) { check(t, b, shell) })
			}
		})
	}
}

func check(t *testing.T, b block, s shell) {
	if mark, ok := strings.CutPrefix(b.mark, "cluster: "); ok && b.lang != "yaml" && mark != "files" {
		return // a test of host/e2e runs it on two hosts
	}
	switch b.lang {
	case "yaml":
		checkYAML(t, b, s.dir)
	case "console":
		s.console(t, b)
	case "sh":
		if strings.HasPrefix(b.mark, "parse only: ") {
			s.run(t, b.text, "-n")
		} else {
			s.run(t, b.text, "-eu")
		}
	case "json":
		if !json.Valid([]byte(b.text)) {
			t.Error("it is not JSON")
		}
	case "go":
		text := b.text
		if !strings.Contains(text, "package ") {
			text = "package sample\n" + text
		}
		if _, err := parser.ParseFile(token.NewFileSet(), b.page, text, 0); err != nil {
			t.Error(err)
		}
	case "text", "mermaid", "sql": // TestAgainstHost runs SQL
	default:
		t.Errorf("blocks in %q are not tested: use yaml, sh, console, json, go, text or mermaid", b.lang)
	}
}

// checkYAML validates a sample as "ax validate" does. One without an app is
// the content of an included file; one with it is config.yaml for the commands
// after it.
func checkYAML(t *testing.T, b block, dir string) {
	name, text := "config.yaml", b.text
	if !regexp.MustCompile(`(?m)^app:`).MatchString(text) {
		name, text = "sample.yaml", "app: sample\n"+text
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	checked, err := host.Check(ctx, write(t, dir, name, text), io.Discard)
	if checked != nil {
		defer checked.Close()
		checked.CheckSettings(ctx)
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, fault := range checked.Faults {
		t.Error(fault)
	}
}

// shell runs commands in a directory, beside a host.
type shell struct{ dir, addr string }

func (s shell) run(t *testing.T, script, flags string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "bash", flags, "-c", script)
	cmd.Dir = s.dir
	cmd.Env = append(os.Environ(), "LC_ALL=C.UTF-8", "AX_ADDR="+s.addr, "PATH="+filepath.Join(s.dir, "bin")+":"+os.Getenv("PATH"))
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Errorf("%s%s%s%v", script, out, stderr.String(), err)
	}
	return string(out)
}

var datedWarning = regexp.MustCompile(`(?m)^warning: .* has lists of holidays .*\n`)

// console runs the commands after "$ " and compares what they print. A line
// "…" stands for any lines, a … in a line for any text.
func (s shell) console(t *testing.T, b block) {
	for part := range strings.SplitSeq("\n"+b.text, "\n$ ") {
		command, want, _ := strings.Cut(strings.TrimSuffix(part, "\n")+"\n", "\n")
		if command == "" {
			continue
		}
		// Of coming years without holidays it is warned from a certain day on.
		got := datedWarning.ReplaceAllString(s.run(t, command, "-eu"), "")
		pattern := "^"
		for line := range strings.Lines(want) {
			if line == "…\n" {
				pattern += "(.*\n)*"
			} else {
				pattern += strings.ReplaceAll(regexp.QuoteMeta(line), "…", ".*")
			}
		}
		if !regexp.MustCompile(pattern + "\n*$").MatchString(got) {
			t.Errorf("$ %s\nprints\n%s\nthe page says\n%s", command, got, want)
		}
	}
}

// TestLinks wants every link to a file to lead somewhere.
func TestLinks(t *testing.T) {
	t.Parallel()
	link := regexp.MustCompile(`\]\(([^)#:]+)(#[^)]*)?\)`)
	for _, page := range pages(t) {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range link.FindAllStringSubmatch(string(text), -1) {
			if _, err := os.Stat(filepath.Join(filepath.Dir(page), m[1])); err != nil {
				t.Errorf("%s links to %s: %v", page, m[1], err)
			}
		}
	}
}
