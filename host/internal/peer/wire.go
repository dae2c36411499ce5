package peer

import (
	"encoding/json"
	"time"

	"github.com/axsched/ax/host/internal/ax"
)

// wireInstance is the JSON form of an instance. Its fields are those of
// ax.Instance, in the same order; the compiler sees to that.
type wireInstance struct {
	ID           ax.InstanceID   `json:"id"`
	TaskID       ax.TaskID       `json:"task_id"`
	TaskName     string          `json:"task"`
	App          string          `json:"app"`
	ScheduledAt  time.Time       `json:"scheduled_at"`
	Kind         ax.Kind         `json:"kind"`
	Shard        int             `json:"shard,omitempty"`
	Shards       int             `json:"shards,omitempty"`
	Status       ax.Status       `json:"status"`
	Attempt      int             `json:"attempt"`
	Fence        int64           `json:"fence"`
	Owner        string          `json:"owner,omitempty"`
	Node         string          `json:"node,omitempty"`
	Reason       string          `json:"reason,omitempty"`
	Missed       int             `json:"missed,omitempty"`
	MissedUntil  time.Time       `json:"missed_until,omitzero"`
	TraceID      string          `json:"trace_id,omitempty"`
	Params       json.RawMessage `json:"params,omitempty"`
	ParamsBound  bool            `json:"params_bound,omitempty"`
	CreatedAt    time.Time       `json:"created_at,omitzero"`
	StartedAt    time.Time       `json:"started_at,omitzero"`
	EndedAt      time.Time       `json:"ended_at,omitzero"`
	RetryAt      time.Time       `json:"retry_at,omitzero"`
	Deferred     bool            `json:"deferred,omitempty"`
	CallbackHash string          `json:"callback_hash,omitempty"`
	DeadlineAt   time.Time       `json:"deadline_at,omitzero"`
	Message      string          `json:"message,omitempty"`
	Error        string          `json:"error,omitempty"`
	Data         json.RawMessage `json:"data,omitempty"`
}

// dispatchItem is a Dispatch in a batch. The host may wait for room for WaitMS
// milliseconds; it is no point in time, since clocks differ.
type dispatchItem struct {
	Instance wireInstance `json:"instance"`
	Revision int64        `json:"revision,omitempty"`
	WaitMS   int64        `json:"wait_ms"`
	SentAt   time.Time    `json:"sent_at,omitzero"`
}

// dispatchAnswer is what became of an item: Code is empty for RECEIVED.
type dispatchAnswer struct {
	Code RefusalCode `json:"code,omitempty"`
	Text string      `json:"text,omitempty"`
}

type endedItem struct {
	Instance  wireInstance `json:"instance"`
	WillRetry bool         `json:"will_retry,omitempty"`
}

// batchRequest is several messages of one kind; batchAnswer has an answer for
// each, in the same order.
type batchRequest struct {
	Items []json.RawMessage `json:"items"`
}

type batchAnswer struct {
	Answers []json.RawMessage `json:"answers"`
}

type cancelRequest struct {
	Instance ax.InstanceID `json:"instance"`
	Fence    int64         `json:"fence"`
	Cause    string        `json:"cause"`
}

type cancelAnswer struct {
	Found bool `json:"found"`
}

type changedRequest struct {
	Tasks []ax.TaskID `json:"tasks,omitempty"`
}

type drainRequest struct {
	Undo bool   `json:"undo,omitempty"`
	By   string `json:"by,omitempty"`
}

type drainAnswer struct {
	Refusal string `json:"refusal,omitempty"`
}

// runAnswer has the instance that a Run made, or says why there is none.
type runAnswer struct {
	Instance ax.InstanceID `json:"instance,omitempty"`
	Code     RefusalCode   `json:"code,omitempty"`
	Text     string        `json:"text,omitempty"`
}

// empty is a message without content.
type empty struct{}
