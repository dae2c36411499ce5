package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// answerError is a refusal by DingTalk, which comes with status 200.
type answerError struct {
	code    int
	text    string // without secrets
	trouble trouble
}

// Error names the code, DingTalk's words and the cure.
func (e *answerError) Error() string {
	text := fmt.Sprintf("errcode %d", e.code)
	if e.text != "" {
		text += ": " + e.text
	}
	if e.trouble.cure != "" {
		text += " (" + e.trouble.cure + ")"
	}
	return text
}

// trouble is what an errcode means for us.
type trouble struct {
	cure string
	// permanent: the same message will not be taken later either.
	permanent bool
	// blocked: the robot takes nothing for a while.
	blocked bool
}

var (
	unknownRobot = trouble{cure: "url: is it the webhook of a robot that still exists?", permanent: true}
	misformed    = trouble{cure: "DingTalk does not understand this plugin: is there a newer one?", permanent: true}
	disliked     = trouble{cure: "DingTalk does not allow this content", permanent: true}
	tooFast      = trouble{cure: "others use the robot as well: it takes 20 messages a minute, then none for ten", blocked: true}
)

// troubles are the codes that the documentation of DingTalk's robots lists. A
// code that is not here may be gone the next time.
var troubles = map[int]trouble{
	40035:  misformed,
	43004:  misformed,
	400002: misformed,
	400105: misformed,
	460101: {cure: "the message is too long", permanent: true},
	300001: unknownRobot,
	400101: unknownRobot,
	400106: unknownRobot,
	400013: {cure: "the group no longer exists", permanent: true},
	400102: {cure: "the robot is switched off", permanent: true},
	130101: tooFast,
	410100: tooFast,
	430101: disliked,
	430102: disliked,
	430103: disliked,
	430104: disliked,
}

// securityCode says that a message does not pass the security setting of the
// robot; only the text tells which.
const securityCode = 310000

// troubleOf says what a code means. signed: the settings have a secret.
func troubleOf(code int, text string, signed bool) trouble {
	if code != securityCode {
		return troubles[code]
	}
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
		return trouble{cure: "the robot demands a signature: set secret to its key (SEC…)", permanent: true}
	case has("sign not match", "签名不匹配"):
		return trouble{cure: "secret: is it the key (SEC…) of this very robot?", permanent: true}
	case has("timestamp", "时间戳"):
		return trouble{cure: "is the clock of this host wrong?"}
	case has("keyword", "关键词"):
		return trouble{cure: "set keyword to one of the words in the robot's security setting", permanent: true}
	case has("whitelist", "白名单"):
		return trouble{cure: "add the public address of this host to the robot's security setting", permanent: true}
	}
	return trouble{cure: "compare secret and keyword with the robot's security setting", permanent: true}
}

// readAnswer returns nil if a body says that the message was taken.
func readAnswer(body string) (*answerError, error) {
	var answer struct {
		Code *int   `json:"errcode"`
		Text string `json:"errmsg"`
	}
	err := json.Unmarshal([]byte(body), &answer)
	switch {
	case err != nil, answer.Code == nil:
		return nil, errors.New("the answer is not that of a DingTalk robot")
	case *answer.Code == 0:
		return nil, nil
	}
	return &answerError{code: *answer.Code, text: answer.Text}, nil
}
