package console

import (
	"html/template"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// page is what every template gets.
type page struct {
	Lang, Theme string
	Viewer      Viewer
	// Here is the address of the page, for forms to come back to.
	Here string
	// Note is a key of the catalog: what was just done.
	Note string
	Now  time.Time
	Zone *time.Location
	Data any

	words catalog
}

// newPage begins the answer to a request.
func (s *console) newPage(r *http.Request) *page {
	lang := languageOf(r)
	p := &page{
		Lang: lang, Theme: themeOf(r), Viewer: viewerOf(r), Here: withoutNote(r.URL),
		Now: s.now().In(s.zone), Zone: s.zone, words: s.words[lang],
	}
	p.Note = notes()[r.URL.Query().Get("note")]
	if r.Method != http.MethodGet {
		p.Here = "/"
	}
	return p
}

// withoutNote is an address as it is to be come back to.
func withoutNote(u *url.URL) string {
	if !u.Query().Has("note") {
		return u.RequestURI()
	}
	bare := *u
	bare.RawQuery = with(u.RawQuery, "note", "")
	return bare.RequestURI()
}

// T is a text of the catalog.
func (p *page) T(key string, args ...any) string { return p.words.text(key, args...) }

// In reports whether the page lies below a path, for the menu.
func (p *page) In(path string) bool {
	here, _, _ := strings.Cut(p.Here, "?")
	return here == path || path != "/" && strings.HasPrefix(here, path+"/")
}

const (
	clockLayout = "15:04:05"
	timeLayout  = "2006-01-02 15:04:05"
	zoneLayout  = timeLayout + " MST"
)

// At shows a time in full, in the zone of the page.
func (p *page) At(t time.Time) template.HTML { return p.AtIn(t, p.Zone) }

// AtIn shows a time in a zone; its name is told where that is not the one of the
// page.
func (p *page) AtIn(t time.Time, zone *time.Location) template.HTML {
	if t.IsZero() {
		return "–"
	}
	local := t.In(zone)
	text := local.Format(timeLayout)
	if local.Format("Z07:00") != t.In(p.Zone).Format("Z07:00") {
		text = local.Format(zoneLayout)
	}
	return element(t, text, local.Format(zoneLayout))
}

// InZone shows a time in a zone by its name, with the weekday.
func (p *page) InZone(t time.Time, name string) template.HTML {
	zone, err := time.LoadLocation(name)
	if err != nil {
		zone = p.Zone
	}
	local := t.In(zone)
	return element(t, local.Format(timeLayout)+" "+p.Weekday(t, zone), local.Format(zoneLayout))
}

// Short shows a time without what it shares with now.
func (p *page) Short(t time.Time) template.HTML {
	if t.IsZero() {
		return "–"
	}
	local := t.In(p.Zone)
	layout := "2006-01-02 15:04"
	switch {
	case local.Format(time.DateOnly) == p.Now.Format(time.DateOnly):
		layout = clockLayout
	case local.Year() == p.Now.Year():
		layout = "01-02 15:04"
	}
	return element(t, local.Format(layout), local.Format(zoneLayout))
}

// Clock shows the time of day, with the date if that is not today's.
func (p *page) Clock(t time.Time, zone *time.Location) template.HTML {
	local := t.In(zone)
	layout := timeLayout
	if local.Format(time.DateOnly) == p.Now.In(zone).Format(time.DateOnly) {
		layout = clockLayout
	}
	return element(t, local.Format(layout), local.Format(zoneLayout))
}

// Tick is the time of day of a line of output.
func (p *page) Tick(t time.Time, zone *time.Location) string {
	return t.In(zone).Format("15:04:05.000")
}

// Offset is how many seconds the clocks of a zone are ahead of UTC now, with
// which lines that come later are shown.
func (p *page) Offset(zone *time.Location) int {
	_, offset := p.Now.In(zone).Zone()
	return offset
}

// Machine is a time for programs.
func (p *page) Machine(t time.Time) string { return t.UTC().Format(time.RFC3339Nano) }

// Ago says how far a time is from now.
func (p *page) Ago(t time.Time) template.HTML {
	if t.IsZero() {
		return "–"
	}
	d := t.Sub(p.Now)
	text := p.T("now")
	switch {
	case d >= time.Second:
		text = p.T("in %s", p.words.rough(d))
	case d <= -time.Second:
		text = p.T("%s ago", p.words.rough(-d))
	}
	return element(t, text, t.In(p.Zone).Format(zoneLayout))
}

// ZoneName tells the zone in which times are shown.
func (p *page) ZoneName() string {
	if name, offset := p.Now.Format("MST"), p.Now.Format("-07:00"); name != offset && name[0] != '+' && name[0] != '-' {
		return name + " (UTC" + offset + ")"
	}
	return "UTC" + p.Now.Format("-07:00")
}

// Weekdays are the names of the weekdays in short, from Monday on.
func (p *page) Weekdays() []string {
	days := p.words.weekdays()
	return append(days[1:], days[0])
}

// Weekday is the name of the weekday of a time in a zone, in short.
func (p *page) Weekday(t time.Time, zone *time.Location) string {
	return p.words.weekdays()[t.In(zone).Weekday()]
}

// element is the HTML of a time.
func element(t time.Time, text, title string) template.HTML {
	//nolint:gosec // all parts are escaped
	return template.HTML(`<time datetime="` + t.UTC().Format(time.RFC3339) + `" title="` +
		template.HTMLEscapeString(title) + `">` + template.HTMLEscapeString(text) + `</time>`)
}

// local returns an address of this host that a form names, or the first page.
func local(address string) string {
	if !strings.HasPrefix(address, "/") || strings.HasPrefix(address, "//") || strings.ContainsAny(address, "\\\r\n\t") {
		return "/"
	}
	return address
}
