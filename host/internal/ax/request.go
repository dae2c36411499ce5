package ax

import "time"

// Request is a row of ax_request: a request that is done once, however often it
// arrives.
type Request struct {
	App string
	// Key is what the client calls it.
	Key string
	// Digest tells what was asked for from anything else under the same key.
	Digest string
	// Instance is what came of it.
	Instance InstanceID
	At       time.Time
}

// RequestsKept is for how long the key of a request counts.
const RequestsKept = 24 * time.Hour
