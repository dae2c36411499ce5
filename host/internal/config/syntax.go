package config

import (
	"bytes"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"gopkg.in/yaml.v3"
)

// explain says where a text stops being YAML and what probably went wrong.
// The parser names the line where the enclosing block begins, and no column.
func explain(data []byte, err error) *syntaxError {
	problem := strings.TrimPrefix(err.Error(), "yaml: ")
	stated := 1
	if m := statedLine.FindStringSubmatch(problem); m != nil {
		stated, _ = strconv.Atoi(m[1]) // digits; too many of them give 0
		problem = problem[len(m[0]):]
	}
	lines := bytes.SplitAfter(data, []byte("\n"))
	number := firstBadLine(lines)
	if number == 0 {
		number = min(max(stated, 1), len(lines))
	}
	text := strings.TrimRight(string(lines[number-1]), "\r\n")
	for _, f := range footguns {
		if m := f.shape.FindStringSubmatchIndex(text); m != nil {
			return &syntaxError{number, 1 + utf8.RuneCountInString(text[:m[2]]), f.problem(text[m[2]:m[3]])}
		}
	}
	indent := len(text) - len(strings.TrimLeft(text, " "))
	return &syntaxError{number, 1 + indent, "not YAML: " + problem +
		"; check the indentation, and that each quote and bracket that begins here is closed"}
}

var statedLine = regexp.MustCompile(`^line (\d+): `)

// footgun is something that people write and YAML does not mean. The first
// group of shape is the culprit.
type footgun struct {
	shape   *regexp.Regexp
	problem func(culprit string) string
}

// value matches what stands before a value: a key, a dash, or a bracket.
const value = `(?:[:\-]\s+|[\[{,]\s*)`

var footguns = []footgun{
	{regexp.MustCompile(`^\s*?(\t)`), func(string) string {
		return "a tab in the indentation: YAML wants spaces"
	}},
	{regexp.MustCompile(`(?:cron|schedule):\s+([*@].*)$`), func(culprit string) string {
		return "quote the schedule: " + quoted(culprit)
	}},
	{regexp.MustCompile(value + "([*&!@`%|>][^\\s].*|\\* .*)$"), func(culprit string) string {
		return "a value that begins with " + culprit[:1] + " means something else in YAML: quote it, as in " + quoted(culprit)
	}},
	{regexp.MustCompile(`[\[{].*?(\$\{.*?\})`), func(culprit string) string {
		return "inside [ ] and { } a value with ${…} must be quoted: " + quoted(culprit)
	}},
	{regexp.MustCompile(value + `(\{\{.*)$`), func(culprit string) string {
		return "a value that begins with {{ must be quoted: " + quoted(culprit)
	}},
	{regexp.MustCompile(`^\s*(?:- )?[\w.-]+:\s+([^"'\[{|>].*:\s.*)$`), func(culprit string) string {
		return `a value with ": " in it must be quoted: ` + quoted(culprit)
	}},
}

// quoted writes a value as YAML takes it: in single quotes, which need no
// escapes but for themselves.
func quoted(text string) string {
	text, _, _ = strings.Cut(text, " #")
	text = strings.TrimRight(text, " ,]}")
	if strings.HasPrefix(text, "{{") || strings.HasPrefix(text, "${") {
		text += strings.Repeat("}", max(0, strings.Count(text, "{")-strings.Count(text, "}")))
	}
	if !strings.ContainsAny(text, `"\`) {
		return `"` + text + `"`
	}
	return "'" + strings.ReplaceAll(text, "'", "''") + "'"
}

// maxSearchBytes bounds the text parsed in search of a bad line.
const maxSearchBytes = 32 << 20

// lookAhead is over how many lines a list or a text may go on, so that a
// beginning of the file that ends inside of it is no YAML although the file is.
const lookAhead = 20

// firstBadLine returns the number of the first line after which no beginning
// of the file is YAML any more, or 0 if that takes too long to find out.
func firstBadLine(lines [][]byte) int {
	ends := make([]int, len(lines)+1)
	for i, line := range lines {
		ends[i+1] = ends[i] + len(line)
	}
	whole := bytes.Join(lines, nil)
	budget := maxSearchBytes
	good := func(count int) bool {
		budget -= ends[count]
		return budget > 0 && parsesAll(whole[:ends[count]])
	}
	lo, hi := 0, len(lines)
	for budget > 0 {
		for hi-lo > 1 {
			if mid := (lo + hi) / 2; good(mid) {
				lo = mid
			} else {
				hi = mid
			}
		}
		next := 0
		for k := hi + 1; k <= min(hi+lookAhead, len(lines)) && next == 0; k++ {
			if good(k) {
				next = k
			}
		}
		if next == 0 && budget > 0 {
			return hi
		}
		lo, hi = next, len(lines)
	}
	return 0
}

func parsesAll(data []byte) bool {
	decoder := yaml.NewDecoder(bytes.NewReader(data))
	for {
		root, err := nextDocument(decoder)
		if err != nil {
			return false
		}
		if root == nil {
			return true
		}
	}
}
