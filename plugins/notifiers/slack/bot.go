package main

import (
	"context"

	"github.com/slack-go/slack"

	"github.com/axsched/ax/pluginapi"
	"github.com/axsched/ax/plugins/internal/notice"
	"github.com/axsched/ax/plugins/internal/webcall"
)

// eventTest is the event of messages that test a receiver.
const eventTest = "test"

// bot sends messages by the API, with a thread for each task.
type bot struct {
	*notifier
	api *slack.Client
}

// Notify implements pluginapi.Notifier.
func (b *bot) Notify(ctx context.Context, msg pluginapi.Message) error {
	_, err := b.NotifyReceipt(ctx, msg)
	return err
}

// NotifyReceipt implements pluginapi.ReceiptNotifier. The first message about a
// task opens a thread, those that follow are replies to it; recovery ends the
// thread. The receipt is the open thread.
func (b *bot) NotifyReceipt(ctx context.Context, msg pluginapi.Message) (string, error) {
	open, reply := b.find(msg.Receipt)
	sent, err := b.post(ctx, msg, open.ts)
	if reply && isGoneThread(err) {
		reply = false
		sent, err = b.post(ctx, msg, "")
	}
	if err != nil {
		return "", b.named(err)
	}
	switch {
	case notice.Recovered(msg):
		if reply {
			b.solve(ctx, open, msg)
		}
		return "", nil
	case reply:
		return b.receiptOf(open), nil
	case msg.Task == "" || msg.Event == eventTest:
		return msg.Receipt, nil
	}
	sent.opened, sent.first = b.now(), notice.Of(msg, b.cfg.Lang)
	return b.receiptOf(sent), nil
}

// find returns the open thread of a task by what the host kept.
func (b *bot) find(kept string) (thread, bool) {
	open, ok := b.threadOf(kept)
	if !ok || !open.opened.After(b.now().Add(-b.cfg.Thread.Std())) {
		return thread{}, false
	}
	return open, true
}

// post sends a message, as a reply unless ts is empty, and returns where it is.
func (b *bot) post(ctx context.Context, msg pluginapi.Message, ts string) (thread, error) {
	done, err := b.pace.Wait(ctx)
	if err != nil {
		return thread{}, err
	}
	defer done()
	exchange, cancel := context.WithTimeoutCause(ctx, b.calls.Timeout, webcall.ErrSlow)
	defer cancel()
	options := optionsOf(newPost(msg, b.cfg.Lang))
	if ts != "" {
		options = append(options, slack.MsgOptionTS(ts))
		if b.cfg.Broadcast {
			options = append(options, slack.MsgOptionBroadcast())
		}
	}
	channel, sent, err := b.api.PostMessageContext(exchange, b.cfg.Channel, options...)
	if isGoneThread(err) {
		return thread{}, err // known to the caller
	}
	if err != nil {
		return thread{}, b.explain(ctx, exchange, err)
	}
	return thread{channel: channel, ts: sent}, nil
}

// solve marks the first message of a thread as solved. It is no harm if that
// fails, since the thread tells of the recovery as well.
func (b *bot) solve(ctx context.Context, open thread, recovery pluginapi.Message) {
	exchange, cancel := context.WithTimeoutCause(ctx, b.calls.Timeout, webcall.ErrSlow)
	defer cancel()
	_, _, _, err := b.api.UpdateMessageContext(exchange, open.channel, open.ts, optionsOf(solved(open.first, recovery, b.cfg.Lang))...)
	if err != nil {
		b.log.Warn("cannot mark a message as solved", "task", recovery.Task, "error", b.named(b.explain(ctx, exchange, err)))
	}
}

func optionsOf(p post) []slack.MsgOption {
	return []slack.MsgOption{
		slack.MsgOptionText(p.head, false), // it is escaped already
		slack.MsgOptionAttachments(p.details...),
		slack.MsgOptionDisableLinkUnfurl(), slack.MsgOptionDisableMediaUnfurl(),
	}
}
