package main

import (
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/axsched/ax/pluginapi"
)

const maxRedirects = 10

// redirect decides on the next step of a chain of redirects; it has the form
// of http.Client.CheckRedirect.
func (j *job) redirect(next *http.Request, via []*http.Request) error {
	first := via[0]
	switch {
	case !j.follows(first.Method):
		return http.ErrUseLastResponse
	case len(via) > maxRedirects:
		return fmt.Errorf("more than %d redirects", maxRedirects)
	case first.URL.Scheme == "https" && next.URL.Scheme != "https":
		return pluginapi.Permanent(errors.New("the service redirects from https to an unsafe URL"))
	}
	next.Header.Del("Referer") // which net/http fills with the URL and its query
	if next.URL.Host != first.URL.Host {
		j.strip(next.Header)
	}
	return nil
}

func (j *job) follows(method string) bool {
	switch j.cfg.FollowRedirects {
	case redirectsAlways:
		return true
	case redirectsNever:
		return false
	}
	return method == http.MethodGet || method == http.MethodHead
}

// strip removes what only the service of the settings may see.
func (j *job) strip(header http.Header) {
	header.Del("Authorization")
	header.Del(callbackHeader)
	for name := range j.cfg.Headers {
		if !strings.EqualFold(name, "Content-Type") && !strings.EqualFold(name, "Accept") {
			header.Del(name)
		}
	}
}
