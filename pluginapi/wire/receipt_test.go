package wire_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/axsched/ax/pluginapi"
	"github.com/axsched/ax/pluginapi/plugintest"
)

// keeper is a notifier whose receipts tell of the one before.
type keeper struct{ err error }

// Notify implements pluginapi.Notifier.
func (keeper) Notify(context.Context, pluginapi.Message) error {
	return errors.New("a host asks for receipts")
}

// NotifyReceipt implements pluginapi.ReceiptNotifier.
func (k keeper) NotifyReceipt(_ context.Context, msg pluginapi.Message) (string, error) {
	return msg.Receipt + msg.Title, k.err
}

func TestReceipts(t *testing.T) {
	t.Parallel()
	refused := pluginapi.Permanent(errors.New("no"))
	for _, err := range []error{nil, refused} {
		host := plugintest.New(t, pluginapi.NotifierOf("keeper", "For a test.",
			func(struct{}, pluginapi.Env) (pluginapi.Notifier, error) { return keeper{err}, nil }))
		n := host.Notifier("keeper", nil)
		long := strings.Repeat("x", pluginapi.MaxReceipt)
		for _, tt := range []struct{ receipt, title, want string }{
			{"", "", ""},
			{"", "a", "a"},
			{"a", "日", "a日"},
			{"a\xff", "b", "a\uFFFDb"},
			{"", long, long},
			{"x", long, ""},
		} {
			got, gotErr := n.NotifyReceipt(t.Context(), pluginapi.Message{Title: tt.title, Receipt: tt.receipt})
			if got != tt.want || pluginapi.IsPermanent(gotErr) != (err != nil) || (gotErr == nil) != (err == nil) {
				t.Errorf("receipt %q, title %.5q: got %.20q, error %v", tt.receipt, tt.title, got, gotErr)
			}
		}
	}
	plain := (&recorder{}).host(t).Notifier("rec", nil)
	if receipt, err := plain.NotifyReceipt(t.Context(), pluginapi.Message{Receipt: "old"}); receipt != "" || err != nil {
		t.Errorf("receipt %q, error %v", receipt, err)
	}
}
