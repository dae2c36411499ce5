package main

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"strconv"
	"time"

	"github.com/axsched/ax/pluginapi"
	"github.com/axsched/ax/plugins/internal/notice"
	"github.com/axsched/ax/plugins/internal/webcall"
)

// maxFeishu is what a bot of Feishu takes, in bytes of JSON.
const maxFeishu = 20_000

// feishu is a custom bot of Feishu (飞书), which is called Lark elsewhere.
type feishu struct {
	lang, secret string
	now          func() time.Time
}

// feishuMessage is the body of a request.
type feishuMessage struct {
	Timestamp string     `json:"timestamp,omitempty"` // Unix seconds
	Sign      string     `json:"sign,omitempty"`
	Type      string     `json:"msg_type"`
	Card      feishuCard `json:"card"`
}

type feishuCard struct {
	Config struct {
		Wide bool `json:"wide_screen_mode"`
	} `json:"config"`
	Header struct {
		Title  feishuText `json:"title"`
		Colour string     `json:"template"`
	} `json:"header"`
	Elements []feishuElement `json:"elements"`
}

// feishuText is plain, so that nothing in it is markup.
type feishuText struct {
	Tag     string `json:"tag"`
	Content string `json:"content"`
}

type feishuElement struct {
	Tag    string        `json:"tag"`
	Text   *feishuText   `json:"text,omitempty"`
	Fields []feishuField `json:"fields,omitempty"`
}

type feishuField struct {
	Short bool       `json:"is_short"`
	Text  feishuText `json:"text"`
}

func (f feishu) body(msg pluginapi.Message) ([]byte, error) {
	return encodeWithin(maxFeishu, marked(msg, f.lang), func(n notice.Notice) any {
		m := feishuMessage{Type: "interactive", Card: newFeishuCard(msg, n)}
		if f.secret != "" {
			m.Timestamp = strconv.FormatInt(f.now().Unix(), 10)
			m.Sign = signFeishu(f.secret, m.Timestamp)
		}
		return m
	})
}

func newFeishuCard(msg pluginapi.Message, n notice.Notice) feishuCard {
	plain := func(text string) feishuText { return feishuText{"plain_text", text} }
	var card feishuCard
	card.Config.Wide = true
	card.Header.Title, card.Header.Colour = plain(n.Title), feishuColour(msg)
	card.Elements = []feishuElement{}
	if len(n.Facts) > 0 {
		var fields []feishuField
		for _, fact := range n.Facts {
			fields = append(fields, feishuField{true, plain(fact.Name + ": " + fact.Value)})
		}
		card.Elements = append(card.Elements, feishuElement{Tag: "div", Fields: fields})
	}
	if n.Prose != "" {
		card.Elements = append(card.Elements, feishuElement{Tag: "div", Text: new(plain(n.Prose))})
	}
	if n.Error != "" {
		card.Elements = append(card.Elements, feishuElement{Tag: "hr"}, feishuElement{Tag: "div", Text: new(plain(n.Error))})
	}
	return card
}

func feishuColour(msg pluginapi.Message) string {
	switch {
	case notice.Recovered(msg):
		return "green"
	case notice.IsError(msg):
		return "red"
	case msg.Severity == "warning":
		return "orange"
	}
	return "blue"
}

// signFeishu is the signature of a time in seconds as Feishu defines it: time
// and secret together are the key, and what is signed is empty.
func signFeishu(secret, stamp string) string {
	return base64.StdEncoding.EncodeToString(hmac.New(sha256.New, []byte(stamp+"\n"+secret)).Sum(nil))
}

// feishuDialect has the codes that matter to bots. A code that is not here may
// be gone the next time.
var feishuDialect = webcall.Dialect{Name: "a bot of Feishu", CodeKey: "code", TextKey: "msg", Troubles: map[int]webcall.Trouble{
	9499:            {Cure: misformedBody, Permanent: true},
	11232:           {Cure: "others use the bot as well: it takes 100 messages a minute", Blocked: time.Minute},
	19001:           {Cure: unknownHook, Permanent: true},
	feishuSignature: {Cure: "secret: is it the key of this very bot, and is the clock of this host right?"},
	19022:           {Cure: "add the public address of this host to the bot's security setting", Permanent: true},
	19024:           {Cure: "the bot demands a keyword: choose one that all messages hold, or the signature instead", Permanent: true},
}}

// feishuSignature is the code for a wrong signature, or none, or an old one.
const feishuSignature = 19021

func (f feishu) judge(answer *webcall.Answer) error {
	err := feishuDialect.Judge(answer)
	if refusal, ok := errors.AsType[*webcall.RefusalError](err); ok && refusal.Code == feishuSignature && f.secret == "" {
		refusal.Trouble = webcall.Trouble{Cure: "the bot demands a signature: set secret to its key", Permanent: true}
	}
	return err
}
