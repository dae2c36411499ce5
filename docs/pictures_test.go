package docs_test

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"html/template"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/axsched/ax/pluginapi"
	"github.com/axsched/ax/pluginapi/plugintest"
)

// TestPictures keeps the pictures in img/ in step with what the notifiers send:
// the built plugins send messages to servers of this test, and pages are made of
// what arrives there. The sums of the pages that were photographed are in
// img/SUMS. scripts/pictures.sh sets UPDATE=1 to photograph them anew, for which
// a browser is needed.
func TestPictures(t *testing.T) {
	pages := map[string]string{}
	for _, lang := range []string{"en", "zh"} {
		msgs := story(t, lang)
		maps.Copy(pages, map[string]string{
			"email." + lang:    mailPage(t, sendMail(t, lang, msgs[1])),
			"dingtalk." + lang: dingTalkPage(t, sendDingTalk(t, lang, msgs[1])),
			"slack." + lang:    slackPage(t, sendSlack(t, lang, msgs)),
		})
	}
	var sums strings.Builder
	for _, name := range slices.Sorted(maps.Keys(pages)) {
		if !strings.Contains(pages[name], "connection refused") {
			t.Errorf("the page %s does not show the error:\n%s", name, pages[name])
		}
		fmt.Fprintf(&sums, "%x  %s\n", sha256.Sum256([]byte(pages[name])), name)
	}
	if os.Getenv("UPDATE") != "" {
		for name, page := range pages {
			photograph(t, page, filepath.Join("img", name+".png"))
		}
		if err := os.WriteFile(filepath.Join("img", "SUMS"), []byte(sums.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	was, err := os.ReadFile(filepath.Join("img", "SUMS"))
	if err != nil {
		t.Fatal(err)
	}
	if string(was) != sums.String() {
		t.Errorf("the pictures in img/ show what is no longer sent: run scripts/pictures.sh\ngot\n%swant\n%s", sums.String(), was)
	}
	for name := range pages {
		if info, err := os.Stat(filepath.Join("img", name+".png")); err != nil || info.Size() == 0 {
			t.Errorf("a picture is missing: %v", err)
		}
	}
}

// story is what a host tells of a task that fails, goes on failing and
// recovers, in a language.
func story(t *testing.T, lang string) []pluginapi.Message {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("testdata", "story."+lang+".json"))
	if err != nil {
		t.Fatal(err)
	}
	var msgs []pluginapi.Message
	if err := json.Unmarshal(raw, &msgs); err != nil {
		t.Fatal(err)
	}
	return msgs
}

// notify sends messages about a task by a built plugin, and keeps its receipts as
// a host does.
func notify(t *testing.T, plugin string, settings map[string]any, msgs ...pluginapi.Message) {
	t.Helper()
	n := plugintest.Start(t, filepath.Join(bin(t), "plugins", "ax-plugin-"+plugin)).Notifier(plugin, settings)
	var receipt string
	for _, msg := range msgs {
		msg.Receipt = receipt
		var err error
		if receipt, err = n.NotifyReceipt(t.Context(), msg); err != nil {
			t.Fatal(err)
		}
	}
}

// page fills a template of testdata.
func page(t *testing.T, name string, data any) string {
	t.Helper()
	parsed, err := template.ParseFiles(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	if err := parsed.Execute(&out, data); err != nil {
		t.Fatal(err)
	}
	return out.String()
}
