package ax

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"strconv"
	"sync"
	"time"
)

// NewTaskID returns the id of the task with this name in this app: the first
// 63 bits of a SHA-256. Among a million tasks the chance of any collision is
// below 10^-7, and the unique key on (app, name) would report it.
func NewTaskID(app, name string) TaskID {
	sum := sha256.Sum256([]byte(app + "\x00" + name))
	return TaskID(binary.BigEndian.Uint64(sum[:8]) >> 1)
}

// Buckets is how many groups of tasks there are for ownership.
const Buckets = 1024

// Bucket returns the ownership group of the task.
func (id TaskID) Bucket() int { return int(id % Buckets) }

func (id TaskID) String() string     { return strconv.FormatInt(int64(id), 10) }
func (id InstanceID) String() string { return strconv.FormatInt(int64(id), 10) }

// ParseInstanceID reads the decimal form.
func ParseInstanceID(s string) (InstanceID, error) {
	n, err := strconv.ParseInt(s, 10, 64)
	return InstanceID(n), err
}

// Layout of an id: 41 bits of milliseconds since idEpoch (to the year 2094),
// 11 bits of node, 11 bits of sequence.
const (
	idEpochMS = 1735689600000 // 2025-01-01T00:00:00Z
	nodeBits  = 11
	seqBits   = 11
)

// IDs makes ids that rise with time: 2,048 a millisecond, and it borrows from
// the milliseconds to come rather than wait. Safe for concurrent use.
type IDs struct {
	mu   sync.Mutex
	node int64
	last int64 // ms since idEpochMS, never falling
	seq  int64
}

// NewIDs returns a maker of ids. node must differ between the live hosts of a
// database; only its lowest 11 bits count.
func NewIDs(node int64) *IDs { return &IDs{node: node & (1<<nodeBits - 1)} }

// Next returns a new id for the time now. If the clock went back, the newest
// time seen is used.
func (g *IDs) Next(now time.Time) int64 {
	g.mu.Lock()
	defer g.mu.Unlock()
	ms := now.UnixMilli() - idEpochMS
	if ms > g.last {
		g.last, g.seq = ms, 0
	} else if g.seq++; g.seq == 1<<seqBits {
		g.last, g.seq = g.last+1, 0
	}
	return g.last<<(nodeBits+seqBits) | g.node<<seqBits | g.seq
}

// FirstID returns the smallest id that may be made at the given time or later.
func FirstID(at time.Time) int64 {
	return max(at.UnixMilli()-idEpochMS, 0) << (nodeBits + seqBits)
}

// NewTraceID returns 128 random bits in hex, as W3C trace context wants them.
func NewTraceID() string {
	var b [16]byte
	rand.Read(b[:]) // never fails since Go 1.24
	return hex.EncodeToString(b[:])
}
