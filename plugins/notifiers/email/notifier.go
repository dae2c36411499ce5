package main

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/axsched/ax/pluginapi"
	"github.com/axsched/ax/plugins/internal/notice"
	"github.com/axsched/ax/plugins/internal/webcall"
)

// maxQuote is how much of a server's words goes into errors, in runes.
const maxQuote = 300

// errSlow is the cause that ends a dialogue after the timeout setting.
var errSlow = errors.New("the mail server did not finish within the timeout")

// notifier sends messages to one list of recipients.
type notifier struct {
	letters  letters
	server   server
	scrubber webcall.Scrubber
	log      *slog.Logger
}

func newNotifier(cfg settings, env pluginapi.Env, now func() time.Time) (*notifier, error) {
	addresses, addressErr := cfg.parse()
	templates, templateErr := newTemplates(&cfg)
	config, tlsErr := cfg.config()
	if err := errors.Join(cfg.check(), addressErr, templateErr, tlsErr); err != nil {
		return nil, err
	}
	n := &notifier{
		letters:  letters{addresses, templates, cfg.Lang, now},
		scrubber: webcall.NewScrubber(secretsOf(&cfg)...), log: env.Log,
	}
	if cfg.TLS.InsecureSkipVerify {
		n.log.Warn("the certificate of the mail server is not checked: anybody on the way can read the mail and the password", "server", cfg.address())
	}
	var once sync.Once
	n.server = server{settings: &cfg, tls: config, warn: func() {
		if !isLoopback(cfg.Host) {
			once.Do(func() { n.log.Warn("mail goes to the server without encryption", "server", cfg.address()) })
		}
	}}
	return n, nil
}

// secretsOf lists the password and the ways in which SMTP writes it.
func secretsOf(cfg *settings) []string {
	encode := base64.StdEncoding.EncodeToString
	return []string{
		cfg.Password,
		encode([]byte(cfg.Password)),
		encode([]byte("\x00" + cfg.Username + "\x00" + cfg.Password)),
	}
}

// Notify implements pluginapi.Notifier.
func (n *notifier) Notify(ctx context.Context, msg pluginapi.Message) error {
	_, err := n.NotifyReceipt(ctx, msg)
	return err
}

// NotifyReceipt implements pluginapi.ReceiptNotifier. If the server takes the
// letter for some recipients only, those whom it refuses for now make a
// temporary error, and only they get the letter when it is sent again. The
// receipt is who they are.
func (n *notifier) NotifyReceipt(ctx context.Context, msg pluginapi.Message) (string, error) {
	letter, err := n.letters.write(msg)
	if err != nil {
		return "", pluginapi.Permanent(err)
	}
	a := n.letters.addresses
	to, known := kept(msg.Receipt, msg.ID, a.everybody())
	switch {
	case !known:
		to = a.everybody()
	case len(to) == 0: // whoever waited is not to get it any more
		return "", nil
	}
	e := envelope{from: a.from.Address, to: to}
	dialogue, cancel := context.WithTimeoutCause(ctx, n.server.Timeout.Std(), errSlow)
	defer cancel()
	refused, err := n.server.send(dialogue, e, letter)
	if err != nil {
		return "", n.failure(ctx, dialogue, refused, err)
	}
	waiting, err := n.waiting(msg.ID, refused)
	if err != nil {
		err = n.named(fmt.Errorf("delivered to %d of %d recipients: %w", len(e.to)-len(refused), len(e.to), err))
	}
	return receiptOf(msg.ID, waiting), err
}

// waiting picks those who were refused for now, and the reasons. The others will
// not get the letter, which only the log can tell.
func (n *notifier) waiting(id string, refused []refusal) (waiting []string, reasons error) {
	var errs []error
	for _, r := range refused {
		if isPermanent(r.err) {
			n.log.Warn("a recipient will not get this mail", "recipient", r.recipient, "error", n.scrub(r.err), "message", id)
			continue
		}
		waiting = append(waiting, r.recipient)
		errs = append(errs, n.scrub(r.err))
	}
	return waiting, errors.Join(errs...)
}

// failure explains why nobody got the letter. ctx is the caller's, dialogue ends
// with it or with the timeout of the settings.
func (n *notifier) failure(ctx, dialogue context.Context, refused []refusal, err error) error {
	switch {
	case ctx.Err() != nil:
		return n.named(context.Cause(ctx))
	case dialogue.Err() != nil:
		return n.named(fmt.Errorf("%w of %v: %w", errSlow, n.server.Timeout, n.scrub(err)))
	}
	permanent := isPermanent(err)
	if len(refused) > 0 { // for good only if that holds for each
		permanent = !slices.ContainsFunc(refused, func(r refusal) bool { return !isPermanent(r.err) })
	}
	err = n.named(n.scrub(err))
	if permanent {
		return pluginapi.Permanent(err)
	}
	return err
}

// named puts the server before an error.
func (n *notifier) named(err error) error {
	return fmt.Errorf("mail server %s: %w", n.server.address(), err)
}

// scrub makes one line without secrets of an error with a server's words.
func (n *notifier) scrub(err error) error {
	return errors.New(notice.OneLine(n.scrubber.Scrub(err.Error()), maxQuote))
}
