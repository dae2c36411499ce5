package console_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// browser is a Chromium; there is no test without one.
func browser(t *testing.T) context.Context {
	t.Helper()
	options := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.Flag("no-sandbox", os.Getuid() == 0), chromedp.Flag("hide-scrollbars", true), chromedp.Flag("disable-gpu", true))
	ctx, cancel := chromedp.NewExecAllocator(t.Context(), options...)
	t.Cleanup(cancel)
	// Messages that are newer than the library are none of ours.
	ctx, cancel = chromedp.NewContext(ctx, chromedp.WithErrorf(func(string, ...any) {}))
	t.Cleanup(cancel)
	if err := chromedp.Run(ctx); err != nil {
		t.Fatalf("start Chromium (scripts/test-deps.sh installs it): %v", err)
	}
	return ctx
}

// tab is a page of the browser that notes what goes wrong in it.
type tab struct {
	*testing.T
	ctx  context.Context
	base string // of the console

	mu       sync.Mutex
	troubles []string
}

// look is how a viewer looks at the pages.
type look struct {
	lang, theme string
	width       int64
}

func (l look) String() string { return fmt.Sprintf("%s-%s-%d", l.lang, l.theme, l.width) }

// open opens a tab on a console.
func open(t *testing.T, browser context.Context, base string, l look) *tab {
	t.Helper()
	ctx, cancel := chromedp.NewContext(browser)
	t.Cleanup(cancel)
	b := &tab{T: t, ctx: ctx, base: base}
	chromedp.ListenTarget(ctx, b.listen)
	b.run(network.Enable(), log.Enable(), runtime.Enable(),
		emulation.SetDeviceMetricsOverride(l.width, 900, 1, l.width < 500),
		cookie(base, "ax_lang", l.lang), cookie(base, "ax_theme", l.theme))
	return b
}

func cookie(base, name, value string) chromedp.Action {
	return network.SetCookie(name, value).WithURL(base)
}

func (b *tab) listen(event any) {
	switch e := event.(type) {
	case *network.EventRequestWillBeSent:
		if url := e.Request.URL; !strings.HasPrefix(url, b.base+"/") && !strings.HasPrefix(url, "data:") && url != "about:blank" {
			b.trouble("it asks for %s", url)
		}
	case *runtime.EventExceptionThrown:
		b.trouble("a script failed: %s", e.ExceptionDetails.Error())
	case *runtime.EventConsoleAPICalled:
		if e.Type == runtime.APITypeError || e.Type == runtime.APITypeWarning {
			b.trouble("a script complains: %s", e.Args[0].Value)
		}
	case *log.EventEntryAdded:
		// The page about a missing page is one as well.
		missing := e.Entry.Source == log.SourceNetwork && strings.HasSuffix(e.Entry.URL, "/nowhere")
		if (e.Entry.Level == log.LevelError || e.Entry.Level == log.LevelWarning) && !missing {
			b.trouble("the browser complains: %s", e.Entry.Text)
		}
	case *page.EventJavascriptDialogOpening:
		b.trouble("a dialog opens: %s", e.Message)
	}
}

func (b *tab) trouble(format string, args ...any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.troubles = append(b.troubles, fmt.Sprintf(format, args...))
}

// run does things in the tab, all within the time for one page.
func (b *tab) run(actions ...chromedp.Action) {
	b.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, 20*time.Second)
	defer cancel()
	// The first run opens the tab, which would end with the shorter context.
	if chromedp.FromContext(b.ctx).Target == nil {
		if err := chromedp.Run(b.ctx); err != nil {
			b.Fatal(err)
		}
	}
	if err := chromedp.Run(ctx, actions...); err != nil {
		b.Fatal(err)
	}
}

// visit opens a page and reports what is wrong with it.
func (b *tab) visit(path string) {
	b.Helper()
	var shown, width int64
	b.run(chromedp.Navigate(b.base+path), chromedp.WaitReady("footer"),
		chromedp.Evaluate("document.documentElement.scrollWidth", &shown), chromedp.Evaluate("window.innerWidth", &width))
	if shown > width {
		var who string
		b.run(chromedp.Evaluate(`[...document.querySelectorAll("main *")].filter(e => e.getBoundingClientRect().right > window.innerWidth + 1 &&
			!e.closest(".wide")).slice(0, 3).map(e => e.outerHTML.slice(0, 160)).join("\n")`, &who))
		b.Errorf("%s is %d pixels wide on a screen of %d: %s", path, shown, width, who)
	}
	b.complain(path)
}

// complain reports what went wrong since it was called last.
func (b *tab) complain(path string) {
	b.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, text := range b.troubles {
		b.Errorf("%s: %s", path, text)
	}
	b.troubles = nil
}

// shoot keeps a picture of the page, if the environment says where.
func (b *tab) shoot(name string) {
	b.Helper()
	dir := os.Getenv("AX_SCREENSHOTS")
	if dir == "" {
		return
	}
	var picture []byte
	b.run(chromedp.FullScreenshot(&picture, 100))
	err := os.MkdirAll(dir, 0o755)
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, name+".png"), picture, 0o644)
	}
	if err != nil {
		b.Fatal(err)
	}
}
