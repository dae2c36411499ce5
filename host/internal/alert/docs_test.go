package alert

import (
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"
)

// TestDocs keeps docs/alerts.md in step with the templates and the events.
func TestDocs(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../../docs/alerts.md")
	if err != nil {
		t.Fatal(err)
	}
	page := string(text)
	for _, field := range reflect.VisibleFields(reflect.TypeFor[View]()) {
		if !strings.Contains(page, "`."+field.Name+"`") {
			t.Errorf("the page does not name the field .%s", field.Name)
		}
	}
	for event := range english.phrases {
		if !strings.Contains(page, "`"+event+"`") {
			t.Errorf("the page does not name the event %s", event)
		}
		if chinese.phrases[event][0] == "" {
			t.Errorf("there are no Chinese words for %s", event)
		}
	}
	if _, text := DefaultTemplates(English); !strings.Contains(page, "```text\n"+text+"\n```") {
		t.Error("the page does not show the default template")
	}
	for _, name := range []string{"join", "date", "cut"} {
		if templateFuncs[name] == nil || !strings.Contains(page, "`"+name+" ") {
			t.Errorf("the page and the code differ about the function %s", name)
		}
	}
}

// TestWordsOfNotifiers keeps the Chinese words that notifiers have for messages in
// English in step with those of the host.
func TestWordsOfNotifiers(t *testing.T) {
	t.Parallel()
	code, err := os.ReadFile("../../../plugins/internal/notice/chinese.go")
	if err != nil {
		t.Fatal(err)
	}
	for event, phrases := range chinese.phrases {
		if !strings.Contains(string(code), fmt.Sprintf("%q: %q", event, phrases[0])) {
			t.Errorf("notifiers do not call %s %s", event, phrases[0])
		}
	}
}
