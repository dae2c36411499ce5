package console_test

import (
	"context"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/axsched/ax/host/internal/api"
)

// TestFormWhileTyping: a task is made by keyboard alone, on a phone and in Chinese
// as well; while it is typed the page shows what is wrong and when it will be due.
func TestFormWhileTyping(t *testing.T) {
	t.Parallel()
	chromium := browser(t)
	for _, l := range []look{{"en", "light", 1280}, {"zh", "dark", 390}} {
		t.Run(l.String(), func(t *testing.T) {
			sample, changes := newSample(t)
			show := sample.OnTask
			sample.OnTask = func(ctx context.Context, _ string) (api.TaskView, error) { return show(ctx, "warm-up") }
			server := serve(t, config(sample))
			tab := open(t, chromium, server.URL, l)
			tab.visit("/define")
			fillIn(tab)
			made := changes.List()
			if len(made) != 1 || !strings.Contains(made[0], "name: tidy") || !strings.Contains(made[0], "https://x.example") {
				t.Errorf("changes: %q", made)
			}
			tab.complain("/define")
		})
	}
}

// fillIn makes a task in the form, with keys only.
func fillIn(tab *tab) {
	tab.Helper()
	words := map[string]string{"en": "at 03:30 every day", "zh": "每天 03:30"}
	var lang, fault, invisible string
	tab.run(
		chromedp.Evaluate("document.documentElement.lang.slice(0, 2)", &lang),
		chromedp.Focus("#k-name"), chromedp.KeyEvent("faulty"),
		chromedp.KeyEvent(kb.Tab+kb.Tab+kb.Tab+kb.Tab+kb.Tab), // group, description, labels, the box, the kind of schedule
		chromedp.KeyEvent(kb.Tab), chromedp.KeyEvent("never"),
		chromedp.WaitVisible("#k-cron-f"), // the fault comes by itself
		chromedp.Text("#k-cron-f", &fault),
		chromedp.Evaluate(`getComputedStyle(document.querySelector(".w-every")).display`, &invisible),
	)
	if !strings.Contains(fault, "expected 5, 6 or 7 fields") || invisible != "none" {
		tab.Errorf("beside the input stands %q, the other kinds are %q", fault, invisible)
	}
	var focus, seen string
	tab.run(
		chromedp.Evaluate("document.activeElement.id", &focus),
		rewrite("#k-name"), chromedp.KeyEvent("tidy"),
		chromedp.WaitNotVisible("#k-cron-f"), chromedp.WaitVisible("#preview .dues li"), chromedp.Text("#preview", &seen),
	)
	if focus != "k-cron" || !strings.Contains(seen, words[lang]) || !strings.Contains(seen, "2026-03-03 03:30:00") {
		tab.Errorf("the focus is on %q, the preview says %q", focus, seen)
	}
	tab.run(
		rewrite("#k-cron"), chromedp.KeyEvent("0 30 3 * * ?"),
		chromedp.Focus("#job-use"), chromedp.KeyEvent("http"), // chooses as lists do
		chromedp.WaitVisible("#k-job-with-url"),
		chromedp.Focus("#k-job-with-url"), chromedp.KeyEvent("https://x.example"), chromedp.KeyEvent(kb.Enter),
		chromedp.WaitVisible("p[role=status]"),
	)
}

// rewrite selects all that stands in an input, so that the next keys replace it.
func rewrite(input string) chromedp.Action {
	return chromedp.Evaluate(`document.querySelector("`+input+`").focus(); document.activeElement.select()`, nil)
}

// TestKindsOfSchedule: only the inputs of the kind that is chosen are seen.
func TestKindsOfSchedule(t *testing.T) {
	t.Parallel()
	sample, _ := newSample(t)
	server := serve(t, config(sample))
	tab := open(t, browser(t), server.URL, look{"en", "light", 390})
	tab.visit("/define")
	for _, kind := range []string{"every", "delay", "at", "trigger", "cron"} {
		tab.run(chromedp.Click(`input[name=when][value=`+kind+`]`), chromedp.WaitVisible(".w-"+kind))
		var seen int
		tab.run(chromedp.Evaluate(`[...document.querySelectorAll("[class^=w-]")].filter(e => getComputedStyle(e).display !== "none").length`, &seen))
		if seen != 1 {
			t.Errorf("%s: %d kinds are seen", kind, seen)
		}
	}
	tab.complain("/define")
}
