package console

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"html/template"
	"io/fs"
	"maps"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strings"
)

// pageSet holds the templates of all pages in one language, by name.
type pageSet map[string]*template.Template

// shared are the templates that every page uses.
var shared = []string{"templates/layout.html", "templates/parts.html"}

// parse reads all templates, once for each language.
func (s *console) parse() (map[string]pageSet, error) {
	names, err := fs.Glob(files, "templates/*.html")
	if err != nil {
		return nil, fmt.Errorf("list the templates: %w", err)
	}
	sets := map[string]pageSet{}
	for _, lang := range languages() {
		base, err := template.New("").Option("missingkey=error").Funcs(s.functions(s.words[lang])).ParseFS(files, shared...)
		if err != nil {
			return nil, fmt.Errorf("read the templates: %w", err)
		}
		sets[lang] = pageSet{}
		for _, name := range names {
			t, err := template.Must(base.Clone()).ParseFS(files, name)
			if err != nil {
				return nil, fmt.Errorf("read the template %s: %w", name, err)
			}
			sets[lang][strings.TrimSuffix(path.Base(name), ".html")] = t
		}
	}
	return sets, nil
}

// functions are what templates can call beside the methods of page.
func (s *console) functions(words catalog) template.FuncMap {
	f := template.FuncMap{
		"t": words.text, "n": words.count,
		"path":   url.PathEscape,
		"word":   words.word,
		"plural": words.plural,
		"asset":  func(name string) string { return "/static/" + name + "?v=" + s.assets[name] },
		"lower":  strings.ToLower,
		"number": number,
		"line":   firstLine,
		"json":   indented,
		"list":   func(items ...any) []any { return items },
		"add":    func(a, b int) int { return a + b },
		"id":     elementID,
		"has":    func(list []string, text string) bool { return slices.Contains(list, text) },
	}
	maps.Copy(f, durationFunctions(words))
	return f
}

// render writes a page. It is made whole before the first byte leaves, so that
// one that fails leaves no half page behind.
func (s *console) render(w http.ResponseWriter, r *http.Request, status int, name string, p *page) {
	var b bytes.Buffer
	if err := s.pages[p.Lang][name].ExecuteTemplate(&b, "layout", p); err != nil {
		s.log.Error("a page cannot be made", "page", name, "error", err)
		http.Error(w, "internal error; the log of the host tells more", http.StatusInternalServerError)
		return
	}
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Language", p.Lang)
	h.Set("Cache-Control", "no-store")
	h.Set("Vary", "Accept-Language, Cookie")
	w.WriteHeader(status)
	if r.Method != http.MethodHead {
		_, _ = w.Write(b.Bytes()) // the client is gone if this fails
	}
}

// renderPart writes a part of a page, for a page that is open already.
func (s *console) renderPart(w http.ResponseWriter, status int, name, part string, p *page) {
	var b bytes.Buffer
	if err := s.pages[p.Lang][name].ExecuteTemplate(&b, part, p); err != nil {
		s.log.Error("a part of a page cannot be made", "page", name, "part", part, "error", err)
		http.Error(w, "internal error; the log of the host tells more", http.StatusInternalServerError)
		return
	}
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_, _ = w.Write(b.Bytes()) // the client is gone if this fails
}

// hashes returns short hashes of all files, so that a new version of the program
// has new addresses for those that changed.
func hashes(static fs.FS) (map[string]string, error) {
	names, err := fs.Glob(static, "*")
	if err != nil {
		return nil, fmt.Errorf("list the static files: %w", err)
	}
	found := map[string]string{}
	for _, name := range names {
		data, err := fs.ReadFile(static, name)
		if err != nil {
			return nil, fmt.Errorf("read the static file %s: %w", name, err)
		}
		sum := sha256.Sum256(data)
		found[name] = hex.EncodeToString(sum[:6])
	}
	return found, nil
}

// cached lets browsers keep what is asked for with a hash.
func cached(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Has("v") {
			w.Header().Set("Cache-Control", "public, max-age=31536000, immutable")
		}
		next.ServeHTTP(w, r)
	})
}

// elementID makes of the key of a setting what can stand in a selector.
func elementID(key string) string {
	return "k-" + strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' {
			return r
		}
		return '-'
	}, key)
}

// number shows a number of any kind with its thousands apart.
func number(n any) string {
	switch n := n.(type) {
	case int:
		return grouped(int64(n))
	case int64:
		return grouped(n)
	}
	return fmt.Sprint(n)
}

// firstLine is the first line of a text.
func firstLine(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	return line
}
