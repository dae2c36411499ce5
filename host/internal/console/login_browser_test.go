package console_test

import (
	"context"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/hashicorp/go-hclog"
	"golang.org/x/crypto/bcrypt"

	"github.com/axsched/ax/host/internal/access"
	"github.com/axsched/ax/host/internal/api"
	"github.com/axsched/ax/host/internal/ax"
	"github.com/axsched/ax/host/internal/console"
)

// TestLoginInABrowser: a real browser is led to the login, gets to the page that it
// wanted, changes something there, and is out after the logout.
func TestLoginInABrowser(t *testing.T) {
	t.Parallel()
	hash, err := bcrypt.GenerateFromPassword([]byte("correct horse"), bcrypt.MinCost)
	if err != nil {
		t.Fatal(err)
	}
	guard := access.New(access.Config{
		Settings: access.Settings{
			Users:   []access.User{{Name: "ann", Hash: string(hash), Role: ax.RoleOperator}},
			Session: access.Session{Key: []byte("a key of this test"), Idle: time.Hour, Lifetime: time.Hour},
		},
		Log: hclog.NewNullLogger(), Now: time.Now, Trail: func(context.Context, ax.AuditRow) error { return nil },
	})
	sample, changes := newSample(t)
	c := config(sample)
	c.Logins = guard
	pages, err := console.New(c)
	if err != nil {
		t.Fatal(err)
	}
	stop := make(chan struct{})
	server := httptest.NewServer(guard.Around(api.New(api.Config{Backend: sample, Pages: pages, Log: c.Log, Version: "test", Stop: stop})))
	t.Cleanup(func() {
		close(stop)
		server.Close()
	})
	tab := open(t, browser(t), server.URL, look{"zh", "dark", 390})
	at := func(want string) {
		t.Helper()
		var here string
		if tab.run(chromedp.Location(&here)); here != server.URL+want {
			t.Errorf("the browser is at %s, expected %s", here, want)
		}
	}
	tab.visit("/tasks?q=warm")
	at("/login?back=%2Ftasks%3Fq%3Dwarm")
	tab.run(
		chromedp.SendKeys(`input[name="name"]`, "ann"), chromedp.SendKeys(`input[name="password"]`, "correct horse"),
		chromedp.Click(`.login button`), chromedp.WaitVisible(`nav`),
	)
	at("/tasks?q=warm")
	tab.visit("/tasks/warm-up")
	tab.run(
		chromedp.Evaluate(`document.querySelectorAll("details").forEach(d => d.open = true)`, nil),
		chromedp.Click(`form[action="/tasks/warm-up"] button[value="pause"]`), chromedp.WaitVisible(`.note`),
	)
	if made := strings.Join(changes.List(), "; "); !strings.Contains(made, "pause warm-up") || !strings.Contains(made, "by ann") {
		t.Errorf("changes: %s", made)
	}
	tab.run(chromedp.Click(`form[action="/logout"] button`), chromedp.WaitVisible(`.login`))
	at("/login")
	tab.visit("/tasks")
	at("/login?back=%2Ftasks")
}
