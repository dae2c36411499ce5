package console_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"golang.org/x/net/html"
)

func TestRuns(t *testing.T) {
	t.Parallel()
	sample, _ := newSample(t)
	server := serve(t, config(sample))
	page := shown(t, server, "/runs?task=billing/close-day")
	next := page.all(func(n *html.Node) bool { return attr(n, "rel") == "next" })
	if len(next) != 1 {
		t.Fatal("there is no further page")
	}
	second := shown(t, server, attr(next[0], "href"))
	if n := len(second.all(func(n *html.Node) bool { return n.Data == "tr" })); n < 5 || n > 20 {
		t.Errorf("the second page has %d rows", n)
	}
	failed := shown(t, server, "/runs?status=failed")
	if got := text(failed.root); !strings.Contains(got, "no space left") || strings.Contains(got, "books closed") {
		t.Errorf("failed ones: %s", got)
	}
	if got := ask(t, server, "GET", "/runs?before=x", nil); got.status != http.StatusNotFound {
		t.Errorf("a page that is none: %d", got.status)
	}
}

func TestRun(t *testing.T) {
	t.Parallel()
	sample, _ := newSample(t)
	server := serve(t, config(sample))
	page := shown(t, server, "/runs/104")
	says(t, "the facts", page.section("facts"), "Due 2026-03-02 11:59:00", "1.00 s after it was due", "a callback", "9007199254740993", "4bf92f3577b34da6a3ce929d0e0e4736")
	says(t, "its life", page.section("life"), "11:00:00 due", "#1 SUCCESS: 1204 rows copied")
	says(t, "its output", page.id("lines"), "11:00:00.020 对账 started")
	stream := page.all(func(n *html.Node) bool { return attr(n, "data-stream") != "" })
	if len(stream) != 1 || attr(stream[0], "data-after") != "1003" {
		t.Errorf("the live log does not go on where the page ends")
	}
	halfway := shown(t, server, "/runs/9900")
	says(t, "one that is halfway through", text(halfway.root), "8 of 12 (66 %): comparing", "#1 FAILED: connection reset by peer", "batch 9 is slow")
	if bars := halfway.all(func(n *html.Node) bool { return n.Data == "progress" }); len(bars) != 1 || attr(bars[0], "value") != "8" || attr(bars[0], "max") != "12" {
		t.Error("its progress is not drawn")
	}
	says(t, "a failure", shown(t, server, "/runs/9997").id("state"), "failed", "exit status 1: no space left on device")
	says(t, "a missed one", shown(t, server, "/runs/101").id("state"), "3 due times", "the host was down")
	for _, path := range []string{"/runs/7", "/runs/x", "/runs/99999999999999999999", "/runs/-1", "/runs/7/log"} {
		if got := ask(t, server, "GET", path, nil); got.status != http.StatusNotFound {
			t.Errorf("%s: %d", path, got.status)
		}
	}
}

func TestDownload(t *testing.T) {
	t.Parallel()
	sample, _ := newSample(t)
	got := ask(t, serve(t, config(sample)), "GET", "/runs/104/log", nil)
	if got.header.Get("Content-Type") != "text/plain; charset=utf-8" || !strings.Contains(got.header.Get("Content-Disposition"), "run-104.log") {
		t.Errorf("headers: %v", got.header)
	}
	says(t, "the log", got.raw, "2026-03-02T11:00:00.020+08:00 output output 对账 started\n")
}

func TestRunChanges(t *testing.T) {
	t.Parallel()
	sample, changes := newSample(t)
	server := serve(t, config(sample))
	if got := ask(t, server, "POST", "/runs/104/cancel", url.Values{}); got.header.Get("Location") != "/runs/104?note=canceled" {
		t.Errorf("cancel: %d %q", got.status, got.header.Get("Location"))
	}
	if got := ask(t, server, "POST", "/runs/104/again", url.Values{}); got.header.Get("Location") != "/runs/9007199254740993?note=started" {
		t.Errorf("again: %d %q", got.status, got.header.Get("Location"))
	}
	want := `cancel 104 by console; run billing/close-day {"date":"2026-03-01","rows":9007199254740993} force=false by console`
	if got := strings.Join(changes.List(), "; "); got != want {
		t.Errorf("changes: %s", got)
	}
}
