package console

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"golang.org/x/text/language"
)

// languages are those in which there are pages; the first one is for those who
// want none of them.
func languages() []string { return []string{"en", "zh"} }

// catalog translates texts. The keys are the English ones.
type catalog struct {
	lang  string
	words map[string]string
}

// loadCatalogs reads the catalogs of all languages. English needs none.
func loadCatalogs() (map[string]catalog, error) {
	all := map[string]catalog{}
	for _, lang := range languages() {
		c := catalog{lang: lang}
		if lang != "en" {
			data, err := files.ReadFile("locale/" + lang + ".json")
			if err == nil {
				err = json.Unmarshal(data, &c.words)
			}
			if err != nil {
				return nil, fmt.Errorf("read the catalog %s: %w", lang, err)
			}
		}
		all[lang] = c
	}
	return all, nil
}

// text translates a text with the arguments of fmt.Sprintf in it.
func (c catalog) text(key string, args ...any) string {
	text, known := c.words[key]
	if !known {
		text = key
	}
	if len(args) == 0 {
		return text
	}
	return fmt.Sprintf(text, args...)
}

// word translates the name of a state or the like; see spoken.
func (c catalog) word(name any) string {
	return c.text(strings.ReplaceAll(strings.ToLower(fmt.Sprint(name)), "_", " "))
}

// count translates a text with a number in it, which has two forms in English.
func (c catalog) count(one, many string, n any) string {
	if fmt.Sprint(n) == "1" && c.lang == "en" {
		return c.text(one, n)
	}
	return c.text(many, n)
}

// plural translates a noun that stands after a number.
func (c catalog) plural(one, many string, n int) string {
	if n == 1 {
		return c.text(one)
	}
	return c.text(many)
}

const (
	languageCookie = "ax_lang"
	themeCookie    = "ax_theme"
)

// languageOf is the one that the viewer chose, or else that of the browser.
func languageOf(r *http.Request) string {
	if c, err := r.Cookie(languageCookie); err == nil && slices.Contains(languages(), c.Value) {
		return c.Value
	}
	tags := []language.Tag{language.English, language.SimplifiedChinese}
	_, i := language.MatchStrings(language.NewMatcher(tags), r.Header.Get("Accept-Language"))
	return languages()[i]
}

// themeOf is "light" or "dark" if the viewer chose one, else that of the system.
func themeOf(r *http.Request) string {
	if c, err := r.Cookie(themeCookie); err == nil && slices.Contains(themes(), c.Value) {
		return c.Value
	}
	return "auto"
}

func themes() []string { return []string{"auto", "light", "dark"} }

// setPreferences keeps language and theme in the browser.
func (s *console) setPreferences(w http.ResponseWriter, r *http.Request) {
	if err := r.ParseForm(); err != nil {
		s.fail(w, r, badRequest("The form cannot be read."))
		return
	}
	for _, p := range []struct {
		field, cookie string
		allowed       []string
	}{{"lang", languageCookie, languages()}, {"theme", themeCookie, themes()}} {
		value := r.PostForm.Get(p.field)
		if !slices.Contains(p.allowed, value) {
			continue
		}
		//nolint:gosec // neither is a secret, and the console may be without TLS
		http.SetCookie(w, &http.Cookie{
			Name: p.cookie, Value: value, Path: "/", HttpOnly: true, SameSite: http.SameSiteLaxMode,
			MaxAge: int((365 * 24 * time.Hour).Seconds()),
		})
	}
	http.Redirect(w, r, local(strings.TrimSpace(r.PostForm.Get("back"))), http.StatusSeeOther)
}
