package main

import (
	"errors"
	"strings"

	"github.com/axsched/ax/plugins/internal/webcall"
)

var (
	unknownRobot = webcall.Trouble{Cure: "url: is it the webhook of a robot that still exists?", Permanent: true}
	misformed    = webcall.Trouble{Cure: "DingTalk does not understand this plugin: is there a newer one?", Permanent: true}
	disliked     = webcall.Trouble{Cure: "DingTalk does not allow this content", Permanent: true}
	tooFast      = webcall.Trouble{Cure: "others use the robot as well: it takes 20 messages a minute, then none for ten", Blocked: blockTime}
)

// dialect has the codes that the documentation of DingTalk's robots lists.
var dialect = webcall.Dialect{Name: "a DingTalk robot", CodeKey: "errcode", TextKey: "errmsg", Troubles: map[int]webcall.Trouble{
	40035:  misformed,
	43004:  misformed,
	400002: misformed,
	400105: misformed,
	460101: {Cure: "the message is too long", Permanent: true},
	300001: unknownRobot,
	400101: unknownRobot,
	400106: unknownRobot,
	400013: {Cure: "the group no longer exists", Permanent: true},
	400102: {Cure: "the robot is switched off", Permanent: true},
	130101: tooFast,
	410100: tooFast,
	430101: disliked,
	430102: disliked,
	430103: disliked,
	430104: disliked,
}}

// securityCode says that a message does not pass the security setting of the
// robot; only the text tells which.
const securityCode = 310000

// securityTrouble says what is meant. signed: the settings have a secret.
func securityTrouble(text string, signed bool) webcall.Trouble {
	text = strings.ToLower(text)
	has := func(words ...string) bool {
		for _, word := range words {
			if strings.Contains(text, word) {
				return true
			}
		}
		return false
	}
	switch {
	case has("sign not match", "签名不匹配") && !signed:
		return webcall.Trouble{Cure: "the robot demands a signature: set secret to its key (SEC…)", Permanent: true}
	case has("sign not match", "签名不匹配"):
		return webcall.Trouble{Cure: "secret: is it the key (SEC…) of this very robot?", Permanent: true}
	case has("timestamp", "时间戳"):
		return webcall.Trouble{Cure: "is the clock of this host wrong?"}
	case has("keyword", "关键词"):
		return webcall.Trouble{Cure: "set keyword to one of the words in the robot's security setting", Permanent: true}
	case has("whitelist", "白名单"):
		return webcall.Trouble{Cure: "add the public address of this host to the robot's security setting", Permanent: true}
	}
	return webcall.Trouble{Cure: "compare secret and keyword with the robot's security setting", Permanent: true}
}

// judge returns nil if an answer says that the message was taken.
func (n *notifier) judge(answer *webcall.Answer) error {
	err := dialect.Judge(answer)
	if refusal, ok := errors.AsType[*webcall.RefusalError](err); ok {
		if refusal.Code == securityCode {
			refusal.Trouble = securityTrouble(refusal.Text, n.cfg.Secret != "")
		}
		n.pace.Close(refusal.Blocked)
		return refusal.Outcome()
	}
	if err != nil || answer.Good() {
		return err
	}
	n.pace.Close(webcall.RetryAfter(answer.Header, n.now()))
	return webcall.Status(answer.Response, n.now())
}
