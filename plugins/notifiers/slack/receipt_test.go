package main

import (
	"encoding/json"
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
}

func (h *keepingHost) send(t *testing.T, msg pluginapi.Message) error {
	t.Helper()
	n, _ := newBot(t, component(h.workspace, time.Now), h.settings)
	msg.Receipt = h.receipts[msg.Task]
	receipt, err := n.(pluginapi.ReceiptNotifier).NotifyReceipt(t.Context(), msg)
	if len(receipt) > pluginapi.MaxReceipt || strings.Contains(receipt, "s3cret") {
		t.Errorf("receipt %s", receipt)
	}
	if receipt != "" || err == nil {
		h.receipts[msg.Task] = receipt
	}
	return err
}

// By receipts threads outlive the process, and so does what the first message
// said.
func TestThreadsOutliveTheProcess(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &workspace{t: t}
		h := &keepingHost{s, nil, map[string]string{}}
		send := func(msg pluginapi.Message) {
			t.Helper()
			if err := h.send(t, msg); err != nil {
				t.Fatal(err)
			}
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

// What the host kept wins over what this process remembers: in between, other
// hosts may have told of a recovery and of a new failure.
func TestReceiptsAreNewerThanMemory(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &workspace{t: t}
		here, _ := newBot(t, component(s, time.Now), nil)
		if err := here.Notify(t.Context(), message()); err != nil {
			t.Fatal(err)
		}
		h := &keepingHost{s, nil, map[string]string{}}
		if err := h.send(t, message()); err != nil { // by another host, which knew nothing of the first
			t.Fatal(err)
		}
		msg := message()
		msg.Receipt = h.receipts["sync"]
		if err := here.Notify(t.Context(), msg); err != nil {
			t.Fatal(err)
		}
		var kept receipt
		if err := json.Unmarshal([]byte(msg.Receipt), &kept); err != nil {
			t.Fatal(err)
		}
		if got := s.all()[2].post.threadTS; got != kept.TS {
			t.Errorf("the reply is under %q, want %q", got, kept.TS)
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
				h := &keepingHost{s, nil, map[string]string{"sync": kept}}
				if err := h.send(t, message()); err != nil {
					t.Fatal(err)
				}
				calls := s.all()
				if last := calls[len(calls)-1]; last.post.threadTS != "" || !strings.Contains(h.receipts["sync"], `"C0123456789"`) {
					t.Errorf("calls %+v, receipt %s", calls, h.receipts["sync"])
				}
			})
		})
	}
	h := &keepingHost{answer(t, 503, "", ""), nil, map[string]string{"sync": "kept"}}
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
			h := &keepingHost{&workspace{t: t}, nil, map[string]string{}}
			if err := h.send(t, msg); err != nil {
				t.Fatal(err)
			}
			if size := len(h.receipts["sync"]); size < 500 {
				t.Errorf("receipt of %d bytes", size)
			}
		})
	}
}
