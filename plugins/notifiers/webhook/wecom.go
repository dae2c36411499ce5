package main

import (
	"strings"
	"time"

	"github.com/axsched/ax/pluginapi"
	"github.com/axsched/ax/plugins/internal/notice"
	"github.com/axsched/ax/plugins/internal/webcall"
)

// maxWeCom is what a robot of WeCom takes of a text, in bytes.
const maxWeCom = 2048

// weCom is a group robot of WeCom (企业微信). Its messages are plain text, since
// its Markdown cannot be escaped.
type weCom struct{ lang string }

func (w weCom) body(msg pluginapi.Message) ([]byte, error) {
	n := marked(msg, w.lang)
	n, fits := n.Shrink(func(n notice.Notice) bool { return len(weComText(n)) <= maxWeCom })
	text := weComText(n)
	if !fits { // a title and facts of the greatest length
		text = notice.CutBytes(weComText(notice.Notice{Title: n.Title, Facts: n.Facts}), maxWeCom)
	}
	return encode(map[string]any{"msgtype": "text", "text": map[string]string{"content": text}})
}

// weComText makes sure that an error calls nobody, as <@all> would.
func weComText(n notice.Notice) string { return strings.ReplaceAll(n.Plain(""), "<@", "<\u200b@") }

// weComDialect has the codes that matter to robots. A code that is not here may
// be gone the next time.
var weComDialect = webcall.Dialect{Name: "a robot of WeCom", CodeKey: "errcode", TextKey: "errmsg", Troubles: map[int]webcall.Trouble{
	40008: {Cure: misformedBody, Permanent: true},
	40058: {Cure: misformedBody, Permanent: true},
	44004: {Cure: misformedBody, Permanent: true},
	45002: {Cure: "the message is too long", Permanent: true},
	45009: {Cure: "others use the robot as well: it takes 20 messages a minute", Blocked: time.Minute},
	45033: {Cure: "too many use the robot at once", Blocked: 10 * time.Second},
	93000: {Cure: unknownHook, Permanent: true},
	93004: {Cure: "the robot is switched off", Permanent: true},
	93008: {Cure: "the robot is no longer in the group", Permanent: true},
}}

// Cures that several receivers have in common.
const (
	misformedBody = "the receiver does not understand this plugin: is there a newer one?"
	unknownHook   = "url: is it a webhook that still exists?"
)

func (weCom) judge(answer *webcall.Answer) error { return weComDialect.Judge(answer) }
