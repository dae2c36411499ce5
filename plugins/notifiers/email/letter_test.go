package main

import (
	"net/mail"
	"reflect"
	"strings"
	"testing"

	"github.com/axsched/ax/pluginapi"
)

// send sends messages by a server that takes all.
func send(t *testing.T, settings map[string]any, messages ...pluginapi.Message) []received {
	t.Helper()
	box := new(mailbox).start(t, modeNone, authority{})
	settings["port"] = box.port
	n, _ := newTestNotifier(t, settings)
	for _, msg := range messages {
		if err := n.Notify(t.Context(), msg); err != nil {
			t.Fatal(err)
		}
	}
	return box.all()
}

func TestLetter(t *testing.T) {
	t.Parallel()
	got := send(t, map[string]any{
		"to": []string{"ops@example.com", "König <k@example.com>"}, "cc": []string{"boss@example.com"},
		"bcc": []string{"archive@example.com", "ops@example.com"},
	}, message())[0]
	if got.from != "ax@example.com" || !reflect.DeepEqual(got.to, []string{"ops@example.com", "k@example.com", "boss@example.com", "archive@example.com"}) {
		t.Errorf("envelope from %s to %v", got.from, got.to)
	}
	if got.utf8 {
		t.Error("SMTPUTF8 is asked for, although only a name needs it")
	}
	letter := read(t, got.raw)
	want := map[string]string{
		"From": `"Scheduler" <ax@example.com>`, "Cc": "<boss@example.com>", "Bcc": "", "Date": "Sun, 01 Mar 2026 10:00:00 +0000",
		"Auto-Submitted": "auto-generated", "Mime-Version": "1.0", "User-Agent": "", "X-Mailer": "",
	}
	for name, value := range want {
		if letter.header.Get(name) != value {
			t.Errorf("%s is %q, want %q", name, letter.header.Get(name), value)
		}
	}
	to, err := letter.header.AddressList("To")
	if wantTo := []*mail.Address{{Address: "ops@example.com"}, {Name: "König", Address: "k@example.com"}}; err != nil || !reflect.DeepEqual(to, wantTo) {
		t.Errorf("To is %v: %v", to, err)
	}
	if letter.subject != "[shop] sync failed 3 times" {
		t.Errorf("subject %q", letter.subject)
	}
	const plain = "sync failed 3 times\n\nTask sync of app shop failed 3 times.\nNewest error:\n\nboom <b>&\n.\n..two dots\n"
	if letter.plain != plain {
		t.Errorf("text %q, want %q", letter.plain, plain)
	}
	for _, part := range []string{`<h1 style="margin:0 0 12px;font-size:19px;color:#C62828">sync failed 3 times</h1>`, "boom &lt;b&gt;&amp;\n.\n..two dots</pre>"} {
		if !strings.Contains(letter.html, part) {
			t.Errorf("no %q in %s", part, letter.html)
		}
	}
	if strings.Contains(letter.html, "ZgotmplZ") {
		t.Errorf("a value is not safe where it stands: %s", letter.html)
	}
}

func TestChineseLetter(t *testing.T) {
	t.Parallel()
	msg := message()
	msg.App, msg.LastError = "商店", strings.Repeat("数据库连接失败", 100)
	letter := read(t, send(t, map[string]any{"lang": "zh"}, msg)[0].raw)
	if letter.subject != "[商店] sync 失败（共 3 次）" {
		t.Errorf("subject %q", letter.subject)
	}
	const head = "sync 失败（共 3 次）\n\n任务: sync\n应用: 商店\n主机: host-1\n次数: 3\n时间: 2026-03-01 17:00:00 CST – 2026-03-01 18:00:00 CST\n运行: 7\n\nTask sync"
	if !strings.HasPrefix(letter.plain, head) || !strings.Contains(letter.plain, msg.LastError) {
		t.Errorf("text %s", letter.plain)
	}
	for _, part := range []string{`<html lang="zh">`, "<td>sync</td>", ">时间</td>", msg.LastError} {
		if !strings.Contains(letter.html, part) {
			t.Errorf("no %q in %s", part, letter.html)
		}
	}
}

// Row B97: whatever a task is called, there is one subject and no other header.
func TestNamesCannotAddHeaders(t *testing.T) {
	t.Parallel()
	msg := message()
	msg.ID, msg.Task, msg.App = "1\r\nBcc: a@b", "x\r\nBcc: a@b", "shop\nX-Evil: 1"
	msg.Title = msg.Task + " failed"
	mails := send(t, map[string]any{"subject": "{{.App}} {{.Title}}\r\n\r\nbody"}, msg)
	letter := read(t, mails[0].raw)
	if letter.subject != "shop X-Evil: 1 x Bcc: a@b failed body" {
		t.Errorf("subject %q", letter.subject)
	}
	if len(letter.header["Subject"]) != 1 || letter.header.Get("Bcc") != "" || letter.header.Get("X-Evil") != "" {
		t.Errorf("header %v", letter.header)
	}
	if !reflect.DeepEqual(mails[0].to, []string{"ops@example.com"}) {
		t.Errorf("sent to %v", mails[0].to)
	}
}

func TestIDsAndThreads(t *testing.T) {
	t.Parallel()
	next, other, stranger := message(), message(), message()
	next.ID = "43"
	other.ID, other.Task = "44", "import"
	stranger.App = "bank"
	var ids, threads []string
	for _, m := range send(t, map[string]any{}, message(), message(), next, other, stranger) {
		header := read(t, m.raw).header
		ids = append(ids, header.Get("Message-Id"))
		threads = append(threads, header.Get("In-Reply-To"))
		if header.Get("References") != header.Get("In-Reply-To") {
			t.Errorf("header %v", header)
		}
		if _, err := mail.ParseAddress(header.Get("Message-Id")); err != nil {
			t.Errorf("id %s: %v", header.Get("Message-Id"), err)
		}
	}
	if distinct := map[string]bool{ids[0]: true, ids[2]: true, ids[3]: true, ids[4]: true}; ids[0] != ids[1] || len(distinct) != 4 {
		t.Errorf("ids %q", ids)
	}
	if distinct := map[string]bool{threads[0]: true, threads[3]: true, threads[4]: true}; threads[0] != threads[1] || threads[0] != threads[2] || len(distinct) != 3 {
		t.Errorf("threads %q", threads)
	}
}

func TestAddressBeyondASCII(t *testing.T) {
	t.Parallel()
	got := send(t, map[string]any{"from": "ax@例子.example", "to": []string{"调度@example.com"}}, message())[0]
	if !got.utf8 || got.from != "ax@例子.example" || !reflect.DeepEqual(got.to, []string{"调度@example.com"}) {
		t.Errorf("envelope %+v", got)
	}
	if id := read(t, got.raw).header.Get("Message-Id"); !strings.HasSuffix(id, "@ax.invalid>") {
		t.Errorf("id %s", id)
	}
}

func TestTemplates(t *testing.T) {
	t.Parallel()
	letter := read(t, send(t, map[string]any{
		"subject": `{{.Event}} of {{.Task}}`,
		"text":    `at {{(in .Zone .Last).Format "15:04"}}: {{.LastError}}`,
		"html":    `<p title="{{.Task}}">{{.LastError}} {{.Notice.Title}}</p>`,
	}, message())[0].raw)
	if letter.subject != "failed of sync" || letter.plain != "at 18:00: boom <b>&\n.\n..two dots" ||
		letter.html != "<p title=\"sync\">boom &lt;b&gt;&amp;\n.\n..two dots sync failed 3 times</p>" {
		t.Errorf("letter %+v", letter)
	}
}
