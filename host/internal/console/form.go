package console

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/axsched/ax/host/internal/api"
)

// inputLayouts are how browsers send a datetime-local, and people write a time.
var inputLayouts = []string{"2006-01-02T15:04", "2006-01-02T15:04:05", "2006-01-02 15:04", "2006-01-02 15:04:05", time.RFC3339}

// timeOf reads a field with a time in a zone; an empty one is the zero time.
func timeOf(r *http.Request, field string, zone *time.Location) (time.Time, error) {
	text := strings.TrimSpace(r.Form.Get(field))
	if text == "" {
		return time.Time{}, nil
	}
	for _, layout := range inputLayouts {
		if at, err := time.ParseInLocation(layout, text, zone); err == nil {
			return at, nil
		}
	}
	return time.Time{}, badRequest("The time cannot be read.")
}

// paramsOf reads a field with a JSON object; an empty one is none.
func paramsOf(r *http.Request, field string) (api.Object, error) {
	text := strings.TrimSpace(r.Form.Get(field))
	if text == "" {
		return nil, nil
	}
	var object api.Object
	if err := object.UnmarshalJSON([]byte(text)); err != nil || object == nil {
		return nil, badRequest("The parameters are no JSON object.")
	}
	return object, nil
}

// numberOf reads a field with a whole number from 1 up to a limit; one that is
// none of these is 1.
func numberOf(r *http.Request, field string, limit int) int {
	n, err := strconv.Atoi(r.Form.Get(field))
	if err != nil || n < 1 {
		return 1
	}
	return min(n, limit)
}

// back is the page that a form came from, with a word about what was done.
func back(r *http.Request, note string) string {
	to := local(strings.TrimSpace(r.PostForm.Get("back")))
	path, query, _ := strings.Cut(to, "?")
	return path + "?" + with(query, "note", note)
}

// with returns a query with a field set, or without it if the value is empty.
func with(query, field, value string) string {
	values, err := url.ParseQuery(query)
	if err != nil {
		values = url.Values{}
	}
	values.Del(field)
	if value != "" {
		values.Set(field, value)
	}
	return values.Encode()
}

// pages are links to what comes before and after.
type pager struct{ Prev, Next string }

// numbered links to the pages before and after a numbered one.
func numbered(r *http.Request, page, size, total int) pager {
	var p pager
	link := func(n int) string { return r.URL.Path + "?" + with(r.URL.RawQuery, "page", strconv.Itoa(n)) }
	if page > 1 {
		p.Prev = link(page - 1)
	}
	if page*size < total {
		p.Next = link(page + 1)
	}
	return p
}

// older links to what is older than the last row of a full page.
func older(r *http.Request, rows, size int, last string) pager {
	var p pager
	if r.URL.Query().Has("before") {
		p.Prev = r.URL.Path + "?" + with(r.URL.RawQuery, "before", "")
	}
	if rows >= size {
		p.Next = r.URL.Path + "?" + with(r.URL.RawQuery, "before", last)
	}
	return p
}
