package console_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"golang.org/x/net/html"
)

func TestAlerts(t *testing.T) {
	t.Parallel()
	sample, _ := newSample(t)
	server := serve(t, config(sample))
	page := shown(t, server, "/alerts")
	says(t, "the notifiers", page.section("notifiers"), "mail email down 14 failures since 11:00:00", "connection refused", "值班 webhook unused")
	says(t, "the messages", page.section("messages"), "billing/close-day failed ×12 open", "550 no such user Send again Throw away")
	says(t, "the silences", page.section("silence"), "the database moves", "in 2 h", "ann (cli)")
	if got := shown(t, server, "/alerts?state=given_up").section("messages"); strings.Contains(got, "×12") {
		t.Errorf("dead letters: %s", got)
	}
	says(t, "one message", text(shown(t, server, "/alerts/703").root), "billing/close-day timed out", "Task billing/close-day of app orders", "Deliveries tried 14")
	for _, path := range []string{"/alerts/1", "/alerts/x"} {
		if got := ask(t, server, "GET", path, nil); got.status != http.StatusNotFound {
			t.Errorf("%s: %d", path, got.status)
		}
	}
}

func TestHostPages(t *testing.T) {
	t.Parallel()
	sample, _ := newSample(t)
	server := serve(t, config(sample))
	says(t, "the nodes", shown(t, server, "/nodes").id("live"), "node-1 this one live", "3/8", "25 %", "84 MiB", "62 % of the tasks", "zone=a", "node-3 dead", "Last sign of life 13 min ago", "off by 30.0 s")
	plugins := shown(t, server, "/plugins")
	says(t, "the plugins", text(plugins.root), "job echo Says it again", "exited 5 times in a minute", "Restarts 5")
	if forms := plugins.forms(); len(forms) != 1 || forms[0] != "/plugins/random/reset" {
		t.Errorf("what can be started anew: %q", forms)
	}
	says(t, "the changes", text(shown(t, server, "/audit").root), "ann task.pause 每日对账", `"until":"2026-03-02T06:00:00Z"`)
	if got := text(shown(t, server, "/audit?object=billing/close-day").root); strings.Contains(got, "ann") {
		t.Errorf("changes of one task: %s", got)
	}
}

func TestCalendars(t *testing.T) {
	t.Parallel()
	sample, _ := newSample(t)
	server := serve(t, config(sample))
	says(t, "the list", text(shown(t, server, "/calendars").root), "cn calendar cn has no days for 2027", "2026–2026")
	page := shown(t, server, "/calendars/cn")
	says(t, "the rules", page.section("special"), "2026-02-16 – 2026-02-22 closed 春节", "2026-02-28 open 春节 cn.csv")
	says(t, "the users", page.section("users"), "billing/close-day")
	says(t, "the sums", text(page.root), "257 open days", "108 closed days", "1 make-up day")
	days := page.all(func(n *html.Node) bool { return n.Data == "td" && strings.HasPrefix(attr(n, "class"), "d-") })
	if len(days) != 365 {
		t.Errorf("the year has %d days", len(days))
	}
	says(t, "a year without a list", text(shown(t, server, "/calendars/cn?year=2028").root), "no list for this year", "2028-02")
	if got := ask(t, server, "GET", "/calendars/mars", nil); got.status != http.StatusNotFound {
		t.Errorf("a calendar that is not there: %d", got.status)
	}
}

func TestHostChanges(t *testing.T) {
	t.Parallel()
	sample, changes := newSample(t)
	server := serve(t, config(sample))
	for _, test := range []struct {
		path   string
		form   url.Values
		status int
		want   string
	}{
		{"/alerts/700/resend", url.Values{}, 303, "resend 700 by console"},
		{"/alerts/700/drop", url.Values{}, 303, "drop 700 by console"},
		{"/alerts/704/drop", url.Values{}, 409, ""},
		{"/alerts/x/drop", url.Values{}, 404, ""},
		{"/notifiers/ops/test", url.Values{}, 303, "test ops by console"},
		{"/notifiers/mail/test", url.Values{}, 503, ""},
		{
			"/silences", url.Values{"task": {" warm-up "}, "until": {"2026-03-03T08:00"}, "reason": {"a move"}}, 303,
			"silence warm-up to  until 2026-03-03T00:00:00Z by console: a move",
		},
		{"/silences", url.Values{"until": {""}}, 400, ""},
		{"/silences", url.Values{"until": {"2020-01-01T00:00"}}, 422, ""},
		{"/silences", url.Values{"until": {"2026-03-03T08:00"}, "reason": {strings.Repeat("x", 501)}}, 400, ""},
		{"/silences/801/end", url.Values{}, 303, "end silence 801 by console"},
		{"/plugins/random/reset", url.Values{}, 303, "reset random by console"},
		{"/nodes/node-2/drain", url.Values{}, 303, "drain node-2 by console"},
		{"/nodes/node-2/drain", url.Values{"undo": {"yes"}}, 303, "undrain node-2 by console"},
		{"/nodes/node-3/drain", url.Values{}, 409, ""},
		{"/reload", url.Values{}, 303, "reload by console"},
	} {
		before := len(changes.List())
		got := ask(t, server, "POST", test.path, test.form)
		if made := strings.Join(changes.List()[before:], "; "); got.status != test.status || made != test.want {
			t.Errorf("%s %v: %d, changed %q: %s", test.path, test.form, got.status, made, text(got.root))
		}
	}
}
