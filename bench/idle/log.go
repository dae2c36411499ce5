package main

import (
	"bufio"
	"cmp"
	"io"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// kind is a sort of statement, whatever its values.
type kind struct {
	text  string
	n     int
	scans int // how often it read a whole table
	rows  int // the most rows that it read then
}

var (
	values = regexp.MustCompile(`'[^']*'|\b\d+\b|0x[0-9a-f]+`)
	lists  = regexp.MustCompile(`\?(, ?\?)+`)
	spaces = regexp.MustCompile(`\s+`)
	read   = regexp.MustCompile(`Rows_examined: (\d+)`)
)

const shown = 110 // characters of a statement

// readLog reads the log of statements from an offset on, the most frequent kind
// first.
func readLog(path string, from int64) ([]*kind, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if _, err := f.Seek(from, io.SeekStart); err != nil {
		return nil, err
	}
	found := map[string]*kind{}
	var text strings.Builder
	scan, rows := false, 0
	end := func() {
		name := spaces.ReplaceAllString(lists.ReplaceAllString(values.ReplaceAllString(text.String(), "?"), "?, …"), " ")
		if name = strings.TrimSuffix(strings.TrimSpace(name), ";"); len(name) > shown {
			name = name[:shown] + "…"
		}
		text.Reset()
		if name == "" {
			return
		}
		k := found[name]
		if k == nil {
			k = &kind{text: name}
			found[name] = k
		}
		k.n++
		if scan {
			k.scans, k.rows = k.scans+1, max(k.rows, rows)
		}
	}
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		line := lines.Text()
		switch {
		case strings.HasPrefix(line, "#"):
			if text.Len() > 0 {
				end()
				scan, rows = false, 0
			}
			if m := read.FindStringSubmatch(line); m != nil {
				rows, _ = strconv.Atoi(m[1])
			}
			scan = scan || strings.Contains(line, "Full_scan: Yes") || strings.Contains(line, "Full_join: Yes")
		case strings.HasPrefix(line, "SET timestamp="), strings.HasPrefix(line, "use "):
		default:
			text.WriteString(line + "\n")
		}
	}
	end()
	kinds := make([]*kind, 0, len(found))
	for _, k := range found {
		kinds = append(kinds, k)
	}
	slices.SortFunc(kinds, func(a, b *kind) int { return cmp.Or(cmp.Compare(b.n, a.n), strings.Compare(a.text, b.text)) })
	return kinds, lines.Err()
}
