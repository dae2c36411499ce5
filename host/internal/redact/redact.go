// Package redact takes secrets out of texts: what a configuration got from the
// environment or from files must not show in logs, rows or messages.
package redact

import (
	"bytes"
	"encoding/json"
	"io"
	"slices"
	"strings"
	"sync/atomic"
)

const (
	// Mark stands for a secret.
	Mark = "[secret]"
	// shortest is the length below which a value is no secret worth hiding: it
	// would blank out half of every text.
	shortest = 4
	// shortestLine is the same for a line of a secret that has several, such as a
	// key: output comes line by line, and a log may indent them.
	shortestLine = 12
)

// Redactor replaces a set of secrets. The zero value replaces nothing. Safe for
// concurrent use, also while the set is changed.
type Redactor struct{ set atomic.Pointer[set] }

type set struct {
	secrets  []string // longest first
	replacer *strings.Replacer
}

// Set makes secrets the set to replace, in their plain and their JSON form, and
// those of several lines also line by line.
// Values that were secret before stay so: what was logged under an old
// configuration may still be on its way.
func (r *Redactor) Set(secrets []string) {
	all := map[string]bool{}
	if old := r.set.Load(); old != nil {
		for _, s := range old.secrets {
			all[s] = true
		}
	}
	for _, s := range secrets {
		for _, form := range []string{s, strings.TrimSpace(s), inJSON(s)} {
			if len(form) >= shortest {
				all[form] = true
			}
		}
		for line := range strings.Lines(s) {
			if line = strings.TrimSpace(line); len(line) >= shortestLine {
				all[line] = true
			}
		}
	}
	next := &set{}
	for s := range all {
		next.secrets = append(next.secrets, s)
	}
	slices.SortFunc(next.secrets, func(a, b string) int {
		if len(a) != len(b) {
			return len(b) - len(a)
		}
		return strings.Compare(a, b)
	})
	pairs := make([]string, 0, 2*len(next.secrets))
	for _, s := range next.secrets {
		pairs = append(pairs, s, Mark)
	}
	next.replacer = strings.NewReplacer(pairs...)
	r.set.Store(next)
}

func inJSON(s string) string {
	b, err := json.Marshal(s)
	if err != nil {
		return s
	}
	return string(b[1 : len(b)-1])
}

// String returns s without secrets.
func (r *Redactor) String(s string) string {
	set := r.set.Load()
	if set == nil || len(set.secrets) == 0 || !set.in(s) {
		return s
	}
	return set.replacer.Replace(s)
}

// Bytes returns b without secrets.
func (r *Redactor) Bytes(b []byte) []byte {
	if !r.Found(b) {
		return b
	}
	return []byte(r.String(string(b)))
}

// Found reports whether b holds a secret.
func (r *Redactor) Found(b []byte) bool {
	set := r.set.Load()
	if set == nil {
		return false
	}
	return slices.ContainsFunc(set.secrets, func(s string) bool { return bytes.Contains(b, []byte(s)) })
}

func (s *set) in(text string) bool {
	return slices.ContainsFunc(s.secrets, func(secret string) bool { return strings.Contains(text, secret) })
}

// Writer returns a writer that passes whole writes on to w without secrets; a
// logger makes one write a line.
func (r *Redactor) Writer(w io.Writer) io.Writer { return writer{r, w} }

type writer struct {
	r *Redactor
	w io.Writer
}

func (w writer) Write(p []byte) (int, error) {
	if _, err := w.w.Write(w.r.Bytes(p)); err != nil {
		return 0, err
	}
	return len(p), nil
}
