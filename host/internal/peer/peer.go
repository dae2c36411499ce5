// Package peer lets the hosts of an app talk to each other: attempts that are to
// run elsewhere, cancels, ends of attempts, hints that something has changed, and
// signs of life that come sooner than those in the database.
//
// Messages are JSON over HTTP below /cluster/v1/. Unknown fields are ignored, so
// that hosts of two versions can work together while they are upgraded; what
// changes a meaning gets a path of its own.
//
// Nothing here is a source of truth. A message that is lost costs time, never a
// run: the rows in the database say what is so, and a claim decides who runs
// what.
//
// # Who is believed
//
// Both sides prove that they know the secret of the cluster, for every request
// and every answer, and no clock has a part in it. A client opens a session:
// its hello names the app, its incarnation and the one it wants to talk to, with
// a nonce and an HMAC-SHA256 of all that under the secret. The server answers
// with a nonce and an HMAC over both sides' words, which a stranger that has come
// to the address meanwhile cannot make. Both derive the key of the session from
// the two nonces. Every request bears a number that is accepted once, and an HMAC
// of number, method, path and the hash of the body under that key; every answer
// one of number, status and hash. Recorded messages are of no use: a new session
// has another key, and within one the number has been used.
//
// The secret keeps strangers out; it hides nothing from those who read the
// network. For that there is TLS, with certificates on both sides, which can be
// used with a secret or instead of one.
package peer

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"syscall"
	"time"

	"github.com/axsched/ax/host/internal/ax"
)

// Base is the path of all messages.
const Base = "/cluster/v1/"

// MinSecret is the length in bytes below which a secret could be guessed.
const MinSecret = 16

const (
	// maxBody bounds a request or an answer in bytes.
	maxBody = 8 << 20
	// maxItem bounds one message of a batch.
	maxItem = 4 << 20
)

// Identity is who a host is.
type Identity struct {
	App         string
	Incarnation string
}

// Trust is what hosts prove to each other. A secret or TLS is needed.
type Trust struct {
	// Secret is shared by all hosts of the app, at least MinSecret bytes.
	Secret []byte
	// TLS has the certificate of this host, and the authorities that those of
	// others must come from, as RootCAs and as ClientCAs; nil for plain TCP.
	// Whoever has such a certificate is taken for a host of the cluster.
	TLS *tls.Config
}

// check refuses what would let strangers in.
func (t Trust) check() error {
	switch {
	case len(t.Secret) == 0 && t.TLS == nil:
		return errors.New("hosts need a shared secret or TLS to know each other")
	case len(t.Secret) > 0 && len(t.Secret) < MinSecret:
		return fmt.Errorf("the shared secret has %d bytes, expected at least %d", len(t.Secret), MinSecret)
	case t.TLS != nil && (t.TLS.RootCAs == nil || t.TLS.ClientCAs == nil || len(t.TLS.Certificates) == 0 && t.TLS.GetCertificate == nil):
		return errors.New("TLS between hosts needs a certificate and the authority of those of others")
	}
	return nil
}

// Host is what a Server hands messages to. Calls come from many goroutines.
type Host interface {
	// Receive puts an attempt into the queue of this host and returns nil once
	// it is there. Without room it waits until ctx ends and returns its error;
	// then the attempt is not in the queue. A *RefusalError says why this host cannot
	// take it at all.
	Receive(ctx context.Context, d Dispatch) error
	// Cancel reports whether the attempt with this fence runs or waits here. The
	// cause is the text of one of pluginapi's.
	Cancel(id ax.InstanceID, fence int64, cause string) bool
	// Ended takes note of ends of attempts of tasks that this host schedules.
	Ended(ends []Ended)
	// Changed says that tasks are to be read anew; none means any.
	Changed(from string, tasks []ax.TaskID)
	// Leaving says that an incarnation drains.
	Leaving(incarnation string)
	// Drain asks this host to leave scheduling, or to take part in it again. by
	// is who asked for it, for the log. The error is for whoever asked.
	Drain(undo bool, by string) error
	// Run starts a task by hand that this host schedules. A *RefusalError says why
	// it does not.
	Run(ctx context.Context, r Run) (ax.InstanceID, error)
}

// Run is a run by hand that a person has asked another host for.
type Run struct {
	Task   string          `json:"task"`
	Params json.RawMessage `json:"params,omitempty"` // laid over those of the task
	Force  bool            `json:"force,omitempty"`
	By     string          `json:"by"`
	// Key and Digest are those of the request, which is done once; AskedAt is when
	// it was made.
	Key     string    `json:"key"`
	Digest  string    `json:"digest"`
	AskedAt time.Time `json:"asked_at"`
}

// Dispatch is an attempt for another host.
type Dispatch struct {
	// Instance is its row, DISPATCHED to that host. Its times have lost their
	// zones.
	Instance ax.Instance
	// Revision is that of the task's definition, 0 if unknown.
	Revision int64
	// SentAt is when it left, by the clock of the sender.
	SentAt time.Time
}

// Ended is the end of an attempt, after it was written to the database.
type Ended struct {
	Instance  ax.Instance
	WillRetry bool
}

// RefusalError says why a host does not take an attempt. It is certain that it has
// not taken it.
type RefusalError struct {
	Code RefusalCode
	Text string
}

// RefusalCode names a reason.
type RefusalCode string

// Reasons.
const (
	// Busy: the queue was full for as long as the sender would wait.
	Busy RefusalCode = "busy"
	// Draining: the host is leaving.
	Draining RefusalCode = "draining"
	// Unable: it does not know the task, or has no plugin for it.
	Unable RefusalCode = "unable"
	// Fenced: it cannot reach the database.
	Fenced RefusalCode = "fenced"
	// Running: the task runs already, up to its limit.
	Running RefusalCode = "running"
	// Repeated: the request was done before.
	Repeated RefusalCode = "repeated"
)

func (r *RefusalError) Error() string {
	if r.Text == "" {
		return "the host refuses the attempt: " + string(r.Code)
	}
	return "the host refuses the attempt: " + r.Text
}

var (
	// ErrUnconfirmed says that the other host may have got the message and may
	// not: the connection broke, or no answer came in time. Every other error of
	// a Client means that the message was not acted upon.
	ErrUnconfirmed = errors.New("the other host did not confirm")
	// ErrStranger says that whoever answers does not know the secret, or does
	// not take this host for one that does.
	ErrStranger = errors.New("the address belongs to a stranger, or the secrets differ")
	// ErrOtherHost says that another incarnation, or a host of another app, has
	// the address now. It is certain: the other host has proved who it is.
	ErrOtherHost = errors.New("the address belongs to another host")
	// ErrTooLarge says that a message is beyond all bounds.
	ErrTooLarge = errors.New("the message is too large")
	// ErrClosed says that the Client was closed.
	ErrClosed = errors.New("the connection to the host was closed")
)

// Broken reports whether an error proves that a process which was there is not:
// its connections are refused or reset, or its address is another host's. Mere
// slowness proves nothing.
func Broken(err error) bool {
	for _, proof := range []error{
		syscall.ECONNREFUSED, syscall.ECONNRESET, syscall.EPIPE, io.EOF, io.ErrUnexpectedEOF, ErrOtherHost,
	} {
		if errors.Is(err, proof) {
			return true
		}
	}
	return false
}

// notSent reports whether an error came before anything was sent.
func notSent(err error) bool {
	op, ok := errors.AsType[*net.OpError](err)
	return ok && op.Op == "dial"
}
