package main

import (
	"fmt"
	"net/http"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/axsched/ax/pluginapi"
)

// story sends messages in fake time and returns what came to Slack in short.
func story(t *testing.T, settings map[string]any, tell func(send func(pluginapi.Message))) []string {
	t.Helper()
	var lines []string
	synctest.Test(t, func(t *testing.T) {
		s := &workspace{t: t}
		h := newKeepingHost(s, settings)
		tell(func(msg pluginapi.Message) { h.mustSend(t, msg) })
		if h.log != "" {
			t.Errorf("log %s", h.log)
		}
		numbers := map[string]string{"": "-"} // messages by ts
		for i, c := range s.all() {
			head, _, _ := strings.Cut(c.post.Text, "\n")
			lines = append(lines, fmt.Sprintf("%s %s under %s about %s: %s", c.method, c.post.channel, numbers[c.post.threadTS], numbers[c.post.ts], head))
			numbers[fmt.Sprintf("%d.000%d", c.at.Unix(), i+1)] = strconv.Itoa(i)
		}
	})
	return lines
}

func failed(task string) pluginapi.Message {
	msg := message()
	msg.Task, msg.Title = task, task+" failed"
	return msg
}

func fixed(task string) pluginapi.Message {
	msg := recovery()
	msg.Task, msg.Title = task, task+" recovered"
	return msg
}

func TestThreads(t *testing.T) {
	t.Parallel()
	got := story(t, nil, func(send func(pluginapi.Message)) {
		send(failed("a"))
		send(failed("b"))
		send(failed("a"))
		time.Sleep(11 * time.Hour)
		send(failed("a"))
		send(fixed("a"))
		send(fixed("a")) // by itself: no thread is open
		send(failed("a"))
		time.Sleep(2 * time.Hour)
		send(failed("b")) // its thread is too old
	})
	want := []string{
		"chat.postMessage #ops under - about -: 🔴 *a failed*",
		"chat.postMessage #ops under - about -: 🔴 *b failed*",
		"chat.postMessage #ops under 0 about -: 🔴 *a failed*",
		"chat.postMessage #ops under 0 about -: 🔴 *a failed*",
		"chat.postMessage #ops under 0 about -: 🟢 *a recovered*",
		"chat.update C0123456789 under - about 0: 🟢 *a recovered*",
		"chat.postMessage #ops under - about -: 🟢 *a recovered*",
		"chat.postMessage #ops under - about -: 🔴 *a failed*",
		"chat.postMessage #ops under - about -: 🔴 *b failed*",
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestNoThreads(t *testing.T) {
	t.Parallel()
	test := message()
	test.Event, test.Title = "test", "a test"
	storm := failed("")
	for name, tell := range map[string]func(send func(pluginapi.Message)){
		"switched off": func(send func(pluginapi.Message)) { send(failed("a")); send(failed("a")); send(fixed("a")) },
		"no task":      func(send func(pluginapi.Message)) { send(storm); send(storm) },
		"tests":        func(send func(pluginapi.Message)) { send(test); send(test) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			settings := map[string]any{}
			if name == "switched off" {
				settings["thread"] = "0s"
			}
			for _, line := range story(t, settings, tell) {
				if !strings.HasPrefix(line, "chat.postMessage #ops under - about -: ") {
					t.Error(line)
				}
			}
		})
	}
}

// The first message keeps its words and shows that they are of the past.
func TestSolvedMessage(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &workspace{t: t}
		h := newKeepingHost(s, map[string]any{"broadcast": true})
		h.mustSend(t, message())
		h.mustSend(t, recovery())
		calls := s.all()
		first, reply, update := calls[0].post, calls[1].post, calls[2].post
		if first.broadcast != "" || reply.broadcast != "true" {
			t.Errorf("broadcast %q and %q", first.broadcast, reply.broadcast)
		}
		if update.Text != "🟢 *sync recovered after 37m*\n~sync &lt;eu&gt; &amp; us failed 3 times~" || update.Attachments[0].Color != "#2E7D32" {
			t.Errorf("update %+v", update)
		}
		if !reflect.DeepEqual(update.Attachments[0].Blocks, first.Attachments[0].Blocks) {
			t.Errorf("details %+v, they were %+v", update.Attachments, first.Attachments)
		}
	})
}

// Somebody deletes the first message: the next one begins anew.
func TestDeletedThread(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &workspace{t: t}
		h := newKeepingHost(s, nil)
		for range 2 {
			h.mustSend(t, message())
			clear(s.known)
		}
		if calls := s.all(); len(calls) != 3 || calls[1].post.threadTS == "" || calls[2].post.threadTS != "" {
			t.Errorf("calls %+v", calls)
		}
		// The message that tells of the recovery arrives, what cannot be updated
		// is only logged.
		s.refuse = func(w http.ResponseWriter, method string) bool {
			if method == "chat.update" {
				fmt.Fprint(w, `{"ok":false,"error":"message_not_found"}`)
			}
			return method == "chat.update"
		}
		s.known[s.calls[1].post.threadTS] = true
		h.mustSend(t, failed("other"))
		h.mustSend(t, fixed("other"))
		if !strings.Contains(h.log, "cannot mark a message as solved") || !strings.Contains(h.log, "message_not_found") {
			t.Errorf("log %s", h.log)
		}
	})
}

// Threads outlive a change of settings.
func TestThreadsOutliveSettings(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &workspace{t: t}
		h := newKeepingHost(s, nil)
		for _, settings := range []map[string]any{{"lang": "en"}, {"lang": "zh"}, {"channel": "#dev"}} {
			h.settings = settings
			h.mustSend(t, message())
		}
		if calls := s.all(); calls[1].post.threadTS == "" || calls[2].post.threadTS != "" {
			t.Errorf("calls %+v", calls)
		}
	})
}
