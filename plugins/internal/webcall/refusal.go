package webcall

import (
	"fmt"
	"time"

	"github.com/axsched/ax/pluginapi"
)

// RefusalError is a receiver's no, told by a code in the body of an answer whatever
// the status says.
type RefusalError struct {
	Key  string // of the code in the body, such as errcode
	Code int
	Text string // the receiver's words: one line, without secrets
	Trouble
}

// Trouble is what a code means for us.
type Trouble struct {
	// Cure is what people can do about it, or empty.
	Cure string
	// Permanent: the same message will not be taken later either.
	Permanent bool
	// Blocked is for how long the receiver takes nothing, 0 if it may at once.
	Blocked time.Duration
}

// Error names the code, the receiver's words and the cure.
func (r *RefusalError) Error() string {
	text := fmt.Sprintf("%s %d", r.Key, r.Code)
	if r.Text != "" {
		text += ": " + r.Text
	}
	if r.Cure != "" {
		text += " (" + r.Cure + ")"
	}
	return text
}

// Outcome is the refusal as a notifier returns it: permanent, or with the wait.
func (r *RefusalError) Outcome() error {
	switch {
	case r.Blocked > 0:
		return pluginapi.RetryAfter(fmt.Errorf("%w, retry after %v", r, r.Blocked), r.Blocked)
	case r.Permanent:
		return pluginapi.Permanent(r)
	}
	return r
}
