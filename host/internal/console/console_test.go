package console_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"golang.org/x/net/html"
)

func TestOverview(t *testing.T) {
	t.Parallel()
	sample, _ := newSample(t)
	page := shown(t, serve(t, config(sample)), "/")
	says(t, "the day", page.section("day"), "12:00–13:00: 26 62", "342,960", "lost 0", "4 s ago", "13:00 19:00")
	says(t, "what fails", page.section("failing"), "billing/close-day 12", "All 14")
	says(t, "what is next", page.section("next"), "reports/region-0 in 3 s")
	says(t, "nodes", page.section("nodes"), "node-1 live 3/8", "node-3 dead")
	says(t, "plugins", page.section("plugins"), "random quarantined")
	says(t, "the database", page.section("database"), "MySQL answers", "640 µs", "at most 81 ms")
}

// TestOverviewBeforeCounts: a host that has just started has no numbers yet.
func TestOverviewBeforeCounts(t *testing.T) {
	t.Parallel()
	says(t, "the day", shown(t, serve(t, config(&bare{})), "/").section("day"), "They are being counted.")
}

func TestLanguages(t *testing.T) {
	t.Parallel()
	sample, _ := newSample(t)
	server := serve(t, config(sample))
	for _, test := range []struct{ accept, cookie, want, lang string }{
		{"", "", "Overview", "en"},
		{"fr-FR, de;q=0.5", "", "Overview", "en"},
		{"zh-CN,zh;q=0.9,en;q=0.8", "", "总览", "zh-CN"},
		{"zh-TW", "", "总览", "zh-CN"},
		{"en-US,zh;q=0.1", "", "Overview", "en"},
		{"zh-CN", "ax_lang=en", "Overview", "en"},
		{"en", "ax_lang=zh; ax_theme=dark", "总览", "zh-CN"},
		{"en", "ax_lang=<script>", "Overview", "en"},
	} {
		page := shown(t, server, "/", "Accept-Language", test.accept, "Cookie", test.cookie)
		root := page.all(func(n *html.Node) bool { return n.Data == "html" })[0]
		if attr(root, "lang") != test.lang {
			t.Errorf("%+v: the page is in %q", test, attr(root, "lang"))
		}
		if dark := attr(root, "data-theme") == "dark"; dark != strings.Contains(test.cookie, "dark") {
			t.Errorf("%+v: theme %q", test, attr(root, "data-theme"))
		}
		says(t, "the menu", text(page.root), test.want)
	}
}

func TestPreferences(t *testing.T) {
	t.Parallel()
	sample, _ := newSample(t)
	server := serve(t, config(sample))
	for back, want := range map[string]string{
		"/tasks?q=a": "/tasks?q=a", "": "/", "https://evil.example": "/", "//evil.example": "/", `/\evil.example`: "/", "/a\r\nSet-Cookie: x=y": "/",
	} {
		got := ask(t, server, "POST", "/preferences", url.Values{"lang": {"zh"}, "theme": {"puce"}, "back": {back}})
		if got.status != http.StatusSeeOther || got.header.Get("Location") != want {
			t.Errorf("back to %q: %d %q", back, got.status, got.header.Get("Location"))
		}
		if cookies := got.header.Values("Set-Cookie"); len(cookies) != 1 || !strings.HasPrefix(cookies[0], "ax_lang=zh;") {
			t.Errorf("cookies: %q", cookies)
		}
	}
}

// TestHeaders: no page lets a script run that is not a file of this host, and
// browsers keep files only under addresses that change with them.
func TestHeaders(t *testing.T) {
	t.Parallel()
	sample, _ := newSample(t)
	server := serve(t, config(sample))
	for _, p := range walk() {
		page := ask(t, server, "GET", p.path, nil)
		policy := page.header.Get("Content-Security-Policy")
		if !strings.Contains(policy, "script-src 'self'") || strings.Contains(policy, "unsafe") {
			t.Errorf("%s: policy %q", p.path, policy)
		}
		if got := page.header.Get("Cache-Control"); got != "no-store" {
			t.Errorf("%s: Cache-Control %q", p.path, got)
		}
		for _, n := range page.all(func(*html.Node) bool { return true }) {
			for _, a := range n.Attr {
				if a.Key == "style" || strings.HasPrefix(a.Key, "on") || strings.HasPrefix(strings.ToLower(a.Val), "javascript:") {
					t.Errorf("%s: <%s %s=%q> needs what the policy forbids", p.path, n.Data, a.Key, a.Val)
				}
			}
			if (n.Data == "script" || n.Data == "style") && attr(n, "src") == "" {
				t.Errorf("%s: <%s> in the page itself", p.path, n.Data)
			}
			for _, name := range []string{"src", "href"} {
				if link := attr(n, name); strings.HasPrefix(link, "/static/") {
					if file := ask(t, server, "GET", link, nil); file.status != 200 || !strings.Contains(file.header.Get("Cache-Control"), "immutable") {
						t.Errorf("%s: %d, %q", link, file.status, file.header.Get("Cache-Control"))
					}
				}
			}
		}
	}
	if got := ask(t, server, "GET", "/static/../console.go", nil); got.status == http.StatusOK {
		t.Error("a file of the program is served")
	}
}

// TestFirstPageIsSmall: what a browser loads to show the first page.
func TestFirstPageIsSmall(t *testing.T) {
	t.Parallel()
	sample, _ := newSample(t)
	server := serve(t, config(sample))
	page := shown(t, server, "/")
	sum := len(page.raw)
	for _, n := range page.all(func(n *html.Node) bool { return n.Data == "script" || n.Data == "link" }) {
		sum += len(ask(t, server, "GET", attr(n, "src")+attr(n, "href"), nil).raw)
	}
	if sum > 100_000 {
		t.Errorf("the first page takes %d bytes", sum)
	}
}
