package main

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/axsched/ax/pluginapi"
)

// keepingHost keeps receipts as hosts do, and starts the plugin anew for each
// message.
type keepingHost struct {
	workspace *workspace
	settings  map[string]any
	receipts  map[string]string // by task
	log       string
}

func newKeepingHost(s *workspace, settings map[string]any) *keepingHost {
	return &keepingHost{workspace: s, settings: settings, receipts: map[string]string{}}
}

func (h *keepingHost) send(t *testing.T, msg pluginapi.Message) error {
	t.Helper()
	n, log := newBot(t, component(h.workspace, time.Now), h.settings)
	msg.Receipt = h.receipts[msg.Task]
	receipt, err := n.(pluginapi.ReceiptNotifier).NotifyReceipt(t.Context(), msg)
	h.log += log.String()
	if len(receipt) > pluginapi.MaxReceipt || strings.Contains(receipt, "s3cret") {
		t.Errorf("receipt %s", receipt)
	}
	if receipt != "" || err == nil {
		h.receipts[msg.Task] = receipt
	}
	return err
}

func (h *keepingHost) mustSend(t *testing.T, msg pluginapi.Message) {
	t.Helper()
	if err := h.send(t, msg); err != nil {
		t.Fatal(err)
	}
}

// By receipts threads outlive the process, and so does what the first message
// said.
func TestThreadsOutliveTheProcess(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &workspace{t: t}
		h := newKeepingHost(s, nil)
		send := func(msg pluginapi.Message) {
			t.Helper()
			h.mustSend(t, msg)
		}
		send(message())
		send(failed("other"))
		send(message())
		send(recovery())
		if h.receipts["sync"] != "" || h.receipts["other"] == "" {
			t.Errorf("receipts %v", h.receipts)
		}
		send(message())
		time.Sleep(13 * time.Hour)
		send(message())
		calls := s.all()
		first := calls[0].post
		ts := calls[2].post.threadTS
		for i, want := range []string{"", "", ts, ts, "", "", ""} {
			if got := calls[i].post.threadTS; got != want || ts == "" {
				t.Errorf("call %d is under %q, want %q", i, got, want)
			}
		}
		update := calls[4].post
		if calls[4].method != "chat.update" || update.ts != ts || !strings.HasSuffix(update.Text, "~sync &lt;eu&gt; &amp; us failed 3 times~") || len(update.Attachments) != len(first.Attachments) {
			t.Errorf("update %+v", calls[4])
		}
	})
}

// A receipt that is of no use makes a new thread, and a failure leaves it.
func TestUselessReceipts(t *testing.T) {
	t.Parallel()
	for name, kept := range map[string]string{
		"garbage": "{", "other channel": `{"target":"#dev","channel":"C1","ts":"1.1","opened":"2000-01-01T00:00:00Z"}`,
		"deleted": `{"target":"#ops","channel":"C1","ts":"1.1","opened":"2000-01-01T00:00:00Z"}`, "empty": `{"target":"#ops"}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := &workspace{t: t}
				h := newKeepingHost(s, nil)
				h.receipts["sync"] = kept
				h.mustSend(t, message())
				calls := s.all()
				if last := calls[len(calls)-1]; last.post.threadTS != "" || !strings.Contains(h.receipts["sync"], `"C0123456789"`) {
					t.Errorf("calls %+v, receipt %s", calls, h.receipts["sync"])
				}
			})
		})
	}
	h := newKeepingHost(answer(t, 503, "", ""), nil)
	h.receipts["sync"] = "kept"
	if err := h.send(t, message()); err == nil || h.receipts["sync"] != "kept" {
		t.Errorf("error %v, receipts %v", err, h.receipts)
	}
}

// Whatever was told, a receipt has room for it.
func TestLongReceipts(t *testing.T) {
	t.Parallel()
	for _, text := range []string{strings.Repeat("错", 5000), strings.Repeat("\x01", 5000), strings.Repeat("\"\n", 5000)} {
		synctest.Test(t, func(t *testing.T) {
			msg := message()
			msg.Title, msg.Text, msg.LastError = text, text, text+"!"
			h := newKeepingHost(&workspace{t: t}, nil)
			h.mustSend(t, msg)
			if size := len(h.receipts["sync"]); size < 500 {
				t.Errorf("receipt of %d bytes", size)
			}
		})
	}
}
