// Package docs_test executes what the documentation shows: samples of YAML are
// validated, commands run, programs are built, and tables that repeat what the
// code knows are compared with it.
package docs_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// block is a fenced block of a page.
type block struct {
	page string // as a path from this folder
	line int
	lang string
	text string
	// mark is the text of an HTML comment on the line before, such as
	// "parse only: it needs a network".
	mark string
}

// pages lists all pages for people, as paths from this folder.
func pages(t *testing.T) []string {
	t.Helper()
	var all []string
	for _, pattern := range []string{"*.md", "../*.md", "../*/README.md", "../examples/*/README.md"} {
		names, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, names...)
	}
	if len(all) < 10 {
		t.Fatalf("found the pages %q only", all)
	}
	return all
}

// blocks returns the fenced blocks of a page in their order.
func blocks(t *testing.T, page string) []block {
	t.Helper()
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	var all []block
	var open *block
	before := ""
	for i, line := range strings.Split(string(text), "\n") {
		switch lang, fence := strings.CutPrefix(line, "```"); {
		case fence && open == nil:
			open = &block{page: page, line: i + 1, lang: lang, mark: comment(before)}
		case fence:
			all = append(all, *open)
			open = nil
		case open != nil:
			open.text += line + "\n"
		}
		before = line
	}
	if open != nil {
		t.Fatalf("%s:%d: the block has no end", page, open.line)
	}
	return all
}

func comment(line string) string {
	if text, ok := strings.CutPrefix(line, "<!-- "); ok {
		if text, ok = strings.CutSuffix(text, " -->"); ok {
			return text
		}
	}
	return ""
}

// marked returns the one block of a page with a mark.
func marked(t *testing.T, page, mark string) block {
	t.Helper()
	for _, b := range blocks(t, page) {
		if b.mark == mark {
			return b
		}
	}
	t.Fatalf("%s has no block marked %q", page, mark)
	return block{}
}

// generated compares the part of a page between the marks "generated: NAME" and
// "end" with what it should be. UPDATE=1 writes it anew.
func generated(t *testing.T, page, name, want string) {
	t.Helper()
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	begin, end := "<!-- generated: "+name+" -->\n", "<!-- end -->"
	before, rest, found := strings.Cut(string(text), begin)
	old, after, ended := strings.Cut(rest, end)
	switch {
	case !found || !ended:
		t.Fatalf("%s has no place for %q", page, name)
	case old == want:
	case os.Getenv("UPDATE") != "":
		if err := os.WriteFile(page, []byte(before+begin+want+end+after), 0o644); err != nil {
			t.Fatal(err)
		}
	default:
		t.Errorf("%s: the part %q is stale: make generate", page, name)
	}
}
