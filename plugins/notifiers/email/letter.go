package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"time"

	"github.com/wneessen/go-mail"

	"github.com/axsched/ax/pluginapi"
	"github.com/axsched/ax/plugins/internal/notice"
)

// maxSubject bounds the subject, in runes.
const maxSubject = 200

// letters makes letters of messages.
type letters struct {
	addresses *addresses
	templates *templates
	lang      string
	now       func() time.Time
}

// write makes the letter about msg. The Message-ID is the same for the same
// message, so that a mail that is sent again can be told from a new one; all
// letters about a task refer to one that never existed, which makes mail
// programs show them as a thread.
func (l *letters) write(msg pluginapi.Message) ([]byte, error) {
	text, err := l.templates.execute(page{msg, notice.Of(msg, l.lang), notice.Colour(msg), l.lang})
	if err != nil {
		return nil, err
	}
	m := mail.NewMsg(mail.WithNoDefaultUserAgent())
	m.FromMailAddress(l.addresses.from)
	m.ToMailAddress(l.addresses.to...)
	if len(l.addresses.cc) > 0 {
		m.CcMailAddress(l.addresses.cc...)
	}
	m.Subject(notice.OneLine(text.subject, maxSubject))
	m.SetDateWithValue(l.now())
	m.SetMessageIDWithValue(l.id("message", msg.App, msg.ID))
	thread := "<" + l.id("task", msg.App, msg.Task) + ">"
	m.SetGenHeader(mail.HeaderInReplyTo, thread)
	m.SetGenHeader(mail.HeaderReferences, thread)
	m.SetGenHeader("Auto-Submitted", "auto-generated") // out-of-office programs do not answer
	m.SetBodyString(mail.TypeTextPlain, text.plain)
	m.AddAlternativeString(mail.TypeTextHTML, text.html)
	var raw bytes.Buffer
	if _, err := m.WriteTo(&raw); err != nil {
		return nil, fmt.Errorf("encode the letter: %w", err)
	}
	return raw.Bytes(), nil
}

// id makes a message id, without brackets, that is always the same for the same
// parts and differs for others.
func (l *letters) id(parts ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
	_, domain, _ := strings.Cut(l.addresses.from.Address, "@")
	if strings.ContainsFunc(domain, func(r rune) bool { return r > '~' }) {
		domain = "ax.invalid" // ids are ASCII
	}
	const length = 12 // bytes; enough for never the same by chance
	return "ax." + parts[0] + "." + hex.EncodeToString(sum[:length]) + "@" + domain
}
